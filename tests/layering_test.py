"""What may include what: no cycles between files, no arrow to a layer above, and the headers of the
operating system only in the files that are made for them."""

import graphlib
import pathlib
import re
import sys
import unittest
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "src" / "posenc"

# From the bottom. A file of src/posenc belongs to the first layer that names it or its folder. The
# interfaces and the benchmarks are above all of them, and do not include each other.
LAYERS = [
    ("base", {"support", "cpu", "cxx20", "data_type", "encode_options", "error", "frequency_rule",
              "frequency_rule_text", "isa", "limits", "matrix", "method", "presets",
              "real_positions", "row_writer", "spec", "threads", "version", "version_config"}),
    ("simd", {"simd"}),
    ("exact", {"exact"}),
    ("encoder", {"accuracy", "encoder", "cursor", "backend", "planning"}),
    ("backends", {"backends"}),
    ("registry", {"registry"}),
    ("selection", {"selection", "posenc"}),
    ("model", {"model"}),
    ("suite", {"suite"}),
    ("check", {"check"}),
]  # fmt: skip
INTERFACES = {"cli": ROOT / "src" / "cli", "python": ROOT / "src" / "python",
              "c": ROOT / "src" / "c", "bench": ROOT / "bench"}  # fmt: skip
# bench/peers runs the command with more backends.
USED_BY_OTHERS = {("bench", "cli")}
# Tables do without these, also in support/: files, and libraries other than the standard one.
FOREIGN = re.compile(r"^\s*#\s*include\s+<((?:fmt|nlohmann|CLI|filesystem)[^>]*)>", re.MULTILINE)
SYSTEM_FOLDERS = {LIBRARY / "support" / "posix", LIBRARY / "support" / "windows"}
SYSTEM_HEADER = re.compile(
    r"^\s*#\s*include\s+<((?:sys/.*|unistd|fcntl|pthread|sched|signal|spawn|time|io|windows)\.h)>",
    re.MULTILINE,
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def text_of(file: pathlib.Path) -> str:
    return file.read_text(encoding="utf-8")


def sources() -> Iterator[pathlib.Path]:
    """Every C++ file of the libraries, the interfaces and the benchmarks."""
    for folder in (LIBRARY, *INTERFACES.values()):
        yield from sorted(each for each in folder.rglob("*") if each.suffix in {".h", ".cpp"})


def included_by(file: pathlib.Path) -> list[pathlib.Path]:
    """The files of the project that a file includes, as far as they are not generated."""
    found = []
    for name in INCLUDE.findall(text_of(file)):
        for folder in (ROOT / "src", ROOT / "src" / "c", file.parent):
            if (folder / name).exists():
                found.append(folder / name)
                break
    return found


def unit_of(file: pathlib.Path) -> str:
    """A header and the source that defines it are one unit. The files of an operating system define
    headers of the folder above theirs."""
    folder = file.parent.parent if file.parent in SYSTEM_FOLDERS else file.parent
    return (folder / file.stem).relative_to(ROOT).as_posix()


def layer_of(file: pathlib.Path) -> int:
    """The place of a file's layer: of simd/kernels.h or encoder.cpp."""
    first = file.relative_to(LIBRARY).parts[0].split(".")[0]
    return next(place for place, (_, members) in enumerate(LAYERS) if first in members)


def interface_of(file: pathlib.Path) -> str:
    return next((name for name, at in INTERFACES.items() if at in file.parents), "")


class Layering(unittest.TestCase):
    def test_no_files_include_each_other_in_a_cycle(self) -> None:
        arrows: dict[str, set[str]] = {}
        for file in sources():
            unit = unit_of(file)
            arrows.setdefault(unit, set()).update(map(unit_of, included_by(file)))
            arrows[unit].discard(unit)
        self.assertGreater(len(arrows), 150)
        graphlib.TopologicalSorter(arrows).prepare()  # raises an error that names a cycle

    def test_no_file_includes_one_of_a_layer_above(self) -> None:
        for file in sources():
            for included in included_by(file):
                with self.subTest(file=str(file.relative_to(ROOT)), includes=str(included)):
                    if LIBRARY in file.parents:
                        self.assertIn(LIBRARY, included.parents)
                        self.assertLessEqual(layer_of(included), layer_of(file))
                    pair = (interface_of(file), interface_of(included))
                    self.assertTrue(pair[1] in {"", pair[0]} or pair in USED_BY_OTHERS, pair)

    def test_headers_do_not_dissolve_a_library(self) -> None:
        for file in sources():
            if file.suffix == ".h":
                names = re.findall(r"using namespace (model|suite|check);", text_of(file))
                self.assertEqual(names, [], file)

    def test_only_the_files_of_a_system_include_its_headers(self) -> None:
        found: set[pathlib.Path] = set()
        for file in sources():
            headers = SYSTEM_HEADER.findall(text_of(file))
            if file.parent in SYSTEM_FOLDERS:
                found |= {file.parent} if headers else set()
            elif LIBRARY.parent in file.parents:
                self.assertEqual(headers, [], file)
        self.assertEqual(found, SYSTEM_FOLDERS)  # the pattern finds what it looks for

    def test_tables_need_the_standard_library_alone(self) -> None:
        seen: set[pathlib.Path] = set()
        folders = (LIBRARY, LIBRARY / "exact", LIBRARY / "backends")
        waiting = [file for folder in folders for file in folder.glob("*.cpp")]
        while waiting:
            file = waiting.pop()
            if file in seen or not file.exists():
                continue
            seen.add(file)
            self.assertEqual(FOREIGN.findall(text_of(file)), [], file)
            included = included_by(file)
            waiting += included + [each.with_suffix(".cpp") for each in included]
        self.assertGreater(len(seen), 60)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
