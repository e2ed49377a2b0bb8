"""Checks docs/map.md, which follows two calls through the sources: each function of a table is in
the file that the table names, and the order is the order of the calls. Other files that the docs
name must exist, too."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "posenc"
FOLDERS = ["src", "bench", "tests", "scripts", "docs", "proofs"]
ROW = re.compile(r"^\| (\d+) \| `([\w:~]+)[^`]*`[^|]* \| (?:`([^`]+)`)? *\|", re.MULTILINE)


class Walk(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        page = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
        cls.walks = []
        for heading in ("## From a call to the store instruction", "## From `posenc pick`"):
            text = page.split(heading)[1].split("\n## ")[0]
            rows, file = [], ""
            for number, name, new_file in ROW.findall(text):
                file = new_file or file
                at = (ROOT if file.startswith("src/") else SOURCE) / file
                rows.append((int(number), name.split("::")[-1], at.read_text(encoding="utf-8")))
            cls.walks.append(rows)

    def test_every_function_is_where_the_table_says(self) -> None:
        for number, name, text in sum(self.walks, []):
            with self.subTest(number=number, function=name):
                self.assertTrue(re.search(rf"\b{name} *[({{<]", text))

    def test_files_name_what_they_call(self) -> None:
        # Stored functions, virtual functions and pointers to kernels hide the name of the callee.
        indirect = {"add_method", "RotationWriter", "encode", "write", "rotation_kernel",
                    "time_by_program"}
        for walk in self.walks:
            self.assertGreater(len(walk), 12)
            for number, name, _ in walk[1:]:
                if name not in indirect:
                    with self.subTest(number=number, function=name):
                        reached = "".join(text for at, _, text in walk if at < number)
                        self.assertTrue(re.search(rf"\b{name}\b", reached))

    def test_files_exist(self) -> None:
        pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        path = re.compile(r"`(?:\./)?((?:\w[\w.-]*/)*\w[\w-]*\.(?:h|cpp|inc|sh|v|cc|cmake|py))`")
        names = {file.name for part in FOLDERS for file in (ROOT / part).rglob("*.*")}
        folders = [ROOT, ROOT / "src", ROOT / "src" / "c", SOURCE]
        # Files of vLLM, llama.cpp and Google Benchmark.
        foreign = {"rotary_embedding/base.py", "ggml-cpu/ops.cpp", "compare.py"}
        for page in pages:
            for name in set(path.findall(page.read_text(encoding="utf-8"))) - foreign:
                with self.subTest(page=page.name, file=name):
                    self.assertTrue(
                        any((folder / name).exists() for folder in folders) or name in names
                    )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
