"""Tests the reading of documents of measurements, which values are refused, and the numbers and
tables that every script writes. First argument: the folder of the built programs, which is not
used."""

import json
import re

import script_support
from script_support import LARGE, SMALL, ScriptTest, document, row, run, sample, table

from reporting import tables

# Texts that no script may take for a document of measurements.
BROKEN = (
    "",
    "[]",
    json.dumps({**sample(), "version": 5}),
    json.dumps({**sample(), "machine": 3}),
    json.dumps(document({**row("x:avx2", SMALL, 1, 1e-8), "seconds": ["x"]})),
    json.dumps(document({**row("x:avx2", SMALL, 1, 1e-8), "table": {}})),
)


class DocumentsTest(ScriptTest):
    def report(self, *documents):
        return run("report.py", *self.write_all(*documents))

    def test_the_error_says_of_how_many_rows_it_is(self):
        for checked, expected in ((0.02, "2 % of the rows"), (0.0004, "0.04 % of the rows")):
            measured = row("x:avx2", LARGE, 3, 1e-7, checked=checked)
            measured["error"]["correctly_rounded"] = 1.0
            text = self.report(document(measured)).stdout
            self.assertIn(f"\nErrors are the largest over {expected} of 5000 x 512.", text)
            self.assertRegex(text, "correctly rounded +100 %\n")
        proven = row("x:avx2", LARGE, 3, 1e-7, rounded=True, checked=0.02)
        self.assertRegex(self.report(document(proven)).stdout, "correctly rounded +all\n")

    def test_other_tables_stand_apart(self):
        others = (SMALL, {**SMALL, "stride": 640}, table(8, 512, base=5.0))
        rows = [row("x:avx2", each, 3, 1e-7) for each in (*others, {**SMALL, "threads": 2})]
        text = self.report(document(*rows)).stdout
        names = re.findall(r"^(8 x 512.*?) +3\.0$", text, re.MULTILINE)
        self.assertEqual(names, ["8 x 512", "8 x 512 (base 5.0)", "8 x 512 (stride 640)"])

    def test_two_documents_of_one_cpu_are_never_mixed(self):
        """With another compiler or day, the times of each document stand below its own heading."""
        new = document(row("rotation:avx2", LARGE, 9, 2e-8), row("naive:avx2", SMALL, 0.1, 5e-8))
        new |= {"compiler": "g++ 13.3.0", "measured_at": "2026-11-20T05:00:00Z"}
        done = self.report({**sample(), "disturbed": "work ran"}, new)
        self.assert_good(done)
        _, old_part, new_part = re.split(r"\S+\.json\n", done.stdout)
        self.assertIn("; g++ 12.2.0, 2026-11-24; medians of 3 processes\n\n"
                      "Not reliable: work ran.\n\n", old_part)  # fmt: skip
        self.assertRegex(old_part, r"\n5000 x 512 +2\.0 +3\.5 +6\.5 +10\n")
        self.assertIn("; g++ 13.3.0, 2026-11-20;", new_part)
        self.assertNotIn("Not reliable", new_part)
        self.assertRegex(new_part, r"\n5000 x 512 +9\.0\n")
        self.assertNotIn("copy", new_part)

    def test_what_was_not_measured_is_left_empty(self):
        rows = [row("x:avx2", SMALL, 1, 1e-7), row("y:avx2", table(9, 4), 2, 1e-7)]
        done = self.report(document(*rows))
        self.assert_good(done)
        self.assertRegex(done.stdout, r"\n9 x 4 +2\.0\n8 x 512 +1\.0\n")
        self.assertRegex(done.stdout, r"\nlargest error +1\.00e-7\n")
        self.assertIn("over all rows of 9 x 4.", done.stdout)
        untimed = document(row("x:avx2", SMALL, 0, 1e-7))
        self.assert_refused(self.report(untimed), "DOCUMENT has no times")

    def test_broken_documents_are_refused_in_one_line(self):
        for content in BROKEN:
            with self.subTest(content[:60]):
                path = self.write("broken.json", content)
                self.assert_refused(run("report.py", path), f"{path}: no document of measurements")
        for path in ("/nonexistent.json", self.folder):
            self.assert_refused(run("report.py", path), str(path))


class TextTest(ScriptTest):
    def test_bounds_are_rounded_up(self):
        for bound in (2.98023223877e-8, 2.98e-8, 9.999e-8, 0.0313, 1.0, 2.2250000001e-7):
            printed = float(tables.bound_text(bound))
            self.assertGreaterEqual(printed, bound)
            self.assertLess(printed, 1.01 * bound)

    def test_numbers(self):
        for speed, expected in (
            (66.0, "66"), (9.97, "10"), (4.94, "4.9"), (0.997, "1.0"), (0.06, "0.06"), (0, ""),
        ):  # fmt: skip
            self.assertEqual(tables.speed_text(speed), expected)
        for share, expected in ((1, "100 %"), (0.999999999, "99.999999 %"), (0.027929, "2.8 %")):
            self.assertEqual(tables.share_text(share, False), expected)
        self.assertEqual(tables.share_text(1, True), "all")
        for size, expected in ((105 << 20, "105 MiB"), (10_240_000, "9.8 MiB"), (12, "12 B")):
            self.assertEqual(tables.size_text(size), expected)

    def test_tables(self):
        rows = [["name", "n"], ["a|b", "10"], ["", "1"]]
        expected = "| name | n |\n|---|---:|\n| a\\|b | 10 |\n| | 1 |"
        self.assertEqual(tables.markdown(rows), expected)


if __name__ == "__main__":
    script_support.main()
