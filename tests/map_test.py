"""docs/map.md follows a call through the sources: each function of its table is defined in the file
that it names, and is named in a file that the call has already reached. The table stays short."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "posenc"
ROW = re.compile(r"^\| (\d+) \| `([\w:~]+)[^`]*`[^|]* \| (?:`([^`]+)`)? *\|", re.MULTILINE)


class Walk(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        page = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
        text = page.split("## From a call to the store instruction")[1].split("\n## ")[0]
        cls.rows, file = [], ""
        for number, name, new_file in ROW.findall(text):
            file = new_file or file
            cls.rows.append((int(number), name.split("::")[-1], file))

    def test_every_function_is_where_the_table_says_and_is_reached(self) -> None:
        reached = ""
        for number, name, file in self.rows:
            with self.subTest(number=number, function=name, file=file):
                text = (SOURCE / file).read_text(encoding="utf-8")
                self.assertTrue(re.search(rf"\b{name}\b *[({{<]", text))
                if number > 1:
                    self.assertTrue(re.search(rf"\b{name}\b", reached), "not called before")
                reached += text

    def test_the_way_is_short(self) -> None:
        self.assertEqual([number for number, _, _ in self.rows], list(range(1, len(self.rows) + 1)))
        self.assertGreater(len(self.rows), 12)
        self.assertLessEqual(len(self.rows), 22)
        self.assertLessEqual(len({file for _, _, file in self.rows}), 11)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
