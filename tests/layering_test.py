"""Checks the layers of src/posenc: no file includes a file of a layer above its own, and only the
files of an operating system include the headers of this system."""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src" / "posenc"

# Layers from the bottom up. A file belongs to the first layer that names it or its folder.
LAYERS = [
    ("base", {"support", "cpu", "cxx20", "data_type", "encode_options", "error", "frequency_rule",
              "frequency_rule_text", "isa", "matrix", "names", "presets", "real_positions", "spec",
              "version", "version_config", "kernels_digest"}),
    ("numerics", {"exact", "simd"}),
    ("encoder", {"accuracy", "encoder", "cursor", "backend"}),
    ("backends", {"backends"}),
    ("registry", {"registry"}),
    ("selection", {"selection", "posenc"}),
    ("model", {"model", "layers"}),
    ("suite", {"suite"}),
]  # fmt: skip
# Headers that tables must not use, also in support/: files, and libraries except the standard
# library.
FOREIGN = re.compile(r"^\s*#\s*include\s+<((?:fmt|nlohmann|CLI|filesystem)[^>]*)>", re.MULTILINE)
SYSTEM_FOLDERS = {SOURCE / "support" / "posix", SOURCE / "support" / "windows"}
SYSTEM_HEADER = re.compile(
    r"^\s*#\s*include\s+<((?:sys/.*|unistd|fcntl|pthread|sched|signal|spawn|time|io|windows)\.h)>",
    re.MULTILINE,
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"posenc/([^"]+)"', re.MULTILINE)


def layer_of(path: str) -> int:
    """The place of the layer of a file, such as "simd/kernels.h" or "encoder.cpp"."""
    first = path.split("/")[0].split(".")[0]
    return next(place for place, (_, members) in enumerate(LAYERS) if first in members)


class Layering(unittest.TestCase):
    def test_no_file_includes_one_of_a_layer_above(self) -> None:
        files = [*SOURCE.rglob("*.h"), *SOURCE.rglob("*.cpp")]
        self.assertGreater(len(files), 50)
        for file in files:
            path = file.relative_to(SOURCE).as_posix()
            for included in INCLUDE.findall(file.read_text(encoding="utf-8")):
                with self.subTest(file=path, includes=included):
                    self.assertLessEqual(layer_of(included), layer_of(path))

    def test_only_the_files_of_a_system_include_its_headers(self) -> None:
        found: set[pathlib.Path] = set()
        for file in SOURCE.parent.rglob("*.[ch]*"):
            headers = SYSTEM_HEADER.findall(file.read_text(encoding="utf-8"))
            if file.parent in SYSTEM_FOLDERS:
                found |= {file.parent} if headers else set()
            else:
                self.assertEqual(headers, [], file)
        self.assertEqual(found, SYSTEM_FOLDERS)  # the pattern finds what it looks for

    def test_tables_need_the_standard_library_alone(self) -> None:
        seen: set[pathlib.Path] = set()
        folders = (SOURCE, SOURCE / "exact", SOURCE / "backends")
        waiting = [file for folder in folders for file in folder.glob("*.cpp")]
        while waiting:
            file = waiting.pop()
            if file in seen or not file.exists():
                continue
            seen.add(file)
            text = file.read_text(encoding="utf-8")
            self.assertEqual(FOREIGN.findall(text), [], file)
            included = [SOURCE / each for each in INCLUDE.findall(text)]
            waiting += included + [each.with_suffix(".cpp") for each in included]
        self.assertGreater(len(seen), 60)

    def test_kernels_use_no_exact_numerics(self) -> None:
        for file in (SOURCE / "simd").rglob("*.h"):
            self.assertNotIn("posenc/exact/", file.read_text(encoding="utf-8"), file.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
