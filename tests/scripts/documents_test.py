"""Tests the reading of documents of measurements, which values are refused, and the numbers, tables
and files that every script writes. First argument: the folder of the built programs."""

import os
import re

import script_support
from script_support import (
    BROKEN, LARGE, SMALL, ScriptTest, document, row, run, sample, table,
)  # fmt: skip

from reporting import command, tables
from reporting.command import BadInput
from reporting.documents import read_document

TEXT = """A CPU, avx2; g++ 12.2.0, 2026-11-24; medians of 3 processes

                   rotation  rotation32  copy  limit
8 x 512                 4.0         7.0    13     20
5000 x 512              2.0         3.5   6.5     10
largest error       2.98e-8     1.50e-7
at most             2.98e-8     1.50e-7
correctly rounded       all      25.0 %

Errors are the largest over all rows of 5000 x 512. "At most" is the proven bound, rounded up.
"""


class DocumentsTest(ScriptTest):
    def read(self, content):
        return read_document(self.write("one.json", content))

    def test_the_error_says_of_how_many_rows_it_is(self):
        few, unknown = row("x:avx2", LARGE, 3, 1e-7, checked=0.02), row("x:avx2", LARGE, 3, 1e-7)
        for measured in (few, unknown):
            measured["error"]["correctly_rounded"] = 1.0
        del unknown["error"]["checked"]
        for measured, expected in ((few, "of 2 % of the rows"), (unknown, "of sampled rows")):
            (found,) = self.read(document(measured)).measurements
            self.assertEqual(tables.of_which_rows(found), expected)
            self.assertEqual(tables.error_cells(found)[2], "100 %")
            done = run("report.py", self.write("few.json", document(measured)))
            rows = expected.removeprefix("of ")
            self.assertIn(f"\nErrors are the largest over {rows} of 5000 x 512.", done.stdout)
        proven = row("x:avx2", LARGE, 3, 1e-7, rounded=True, checked=0.02)
        (found,) = self.read(document(proven)).measurements
        self.assertEqual(tables.error_cells(found)[2], "all")

    def test_other_tables_stand_apart(self):
        others = (SMALL, {**SMALL, "threads": 2}, {**SMALL, "stride": 640}, table(8, 512, base=5.0))
        found = self.read(document(*(row("x:avx2", each, 3, 1e-7) for each in others)))
        names = [each.table.name for each in found.measurements]
        further = ["", " (threads 2)", " (stride 640)", " (base 5.0)"]
        self.assertEqual(names, [f"8 x 512{each}" for each in further])

    def test_a_document_is_reliable_or_not(self):
        self.assertEqual(self.read(sample()).not_reliable, "")
        disturbed = self.read({**sample(), "disturbed": "work ran"})
        self.assertEqual(disturbed.not_reliable, "Not reliable: work ran.")

    def test_broken_documents_are_refused_in_one_line(self):
        for content in BROKEN:
            path = self.write("broken.json", content)
            with self.subTest(content[:60]):
                with self.assertRaisesRegex(BadInput, "no document of measurements"):
                    read_document(path)
        self.assert_refused(run("report.py", path, "--page", self.folder / "none"), str(path))
        self.assertEqual(os.listdir(self.folder), ["broken.json"])
        self.assert_refused(run("report.py", "/nonexistent.json"), "/nonexistent.json")
        self.assert_refused(run("report.py", self.folder), str(self.folder))


class ReportTextTest(ScriptTest):
    """Tests the output of scripts/report.py."""

    def report(self, *documents, options=()):
        return run("report.py", *self.write_all(*documents), *options)

    def test_speeds_stand_beside_errors_and_limits(self):
        done = self.report(sample())
        self.assert_good(done)
        self.assertEqual(done.stdout, TEXT)
        peers = self.report(sample(), options=["--peers"]).stdout
        self.assertIn("\n| sleef* | 1.0 | 0.50 | 4.00e-4 | 4.00e-4 | 25.0 % |\n", peers)

    def test_two_documents_of_one_cpu_are_never_mixed(self):
        """With another compiler or day, the times of each document stand below its own heading."""
        new = document(row("rotation:avx2", LARGE, 9, 2e-8), row("naive:avx2", SMALL, 0.1, 5e-8))
        new |= {"compiler": "g++ 13.3.0", "measured_at": "2026-11-20T05:00:00Z"}
        texts = []
        for order in ((sample(), new), (new, sample())):
            done = self.report(*order)
            self.assert_good(done)
            texts.append({part.split(";")[1]: part for part in re.split(r"\S+\.json\n", done.stdout)
                          if part})  # fmt: skip
            old_part = texts[-1][" g++ 12.2.0, 2026-11-24"]
            new_part = texts[-1][" g++ 13.3.0, 2026-11-20"]
            self.assertEqual(old_part.strip(), TEXT.strip())
            self.assertRegex(new_part, r"\n5000 x 512 +9\.0\n")
            self.assertNotIn("copy", new_part)
            self.assertNotIn("13.3.0", old_part)

    def test_bounds_are_rounded_up(self):
        for bound in (2.98023223877e-8, 2.98e-8, 9.999e-8, 0.0313, 1.0, 2.2250000001e-7):
            printed = float(tables.bound_text(bound))
            self.assertGreaterEqual(printed, bound)
            self.assertLess(printed, 1.01 * bound)

    def test_what_was_not_measured_is_left_empty(self):
        rows = [row("x:avx2", SMALL, 1, 1e-7), row("y:avx2", table(9, 4), 2, 1e-7)]
        done = self.report(document(*rows))
        self.assert_good(done)
        self.assertRegex(done.stdout, r"\n9 x 4 +2\.0\n8 x 512 +1\.0\n")
        self.assertRegex(done.stdout, r" 1\.00e-7 \(of all rows of 9 x 4\)")
        untimed = document(row("x:avx2", SMALL, 0, 1e-7))
        self.assert_refused(self.report(untimed), "DOCUMENT has no times")


class TextTest(ScriptTest):
    def test_numbers(self):
        for speed, expected in (
            (66.0, "66"), (9.97, "10"), (4.94, "4.9"), (0.997, "1.0"), (0.06, "0.06"), (0, ""),
        ):  # fmt: skip
            self.assertEqual(tables.speed_text(speed), expected)
        for share, expected in ((1, "100 %"), (0.999999999, "99.999999 %"), (0.027929, "2.8 %")):
            self.assertEqual(tables.share_text(share, False), expected)
        self.assertEqual(tables.share_text(1, True), "all")
        self.assertEqual(tables.error_text(2.98e-8), "2.98e-8")
        for size, expected in ((105 << 20, "105 MiB"), (10_240_000, "9.8 MiB"), (12, "12 B")):
            self.assertEqual(tables.size_text(size), expected)

    def test_tables(self):
        rows = [["name", "n"], ["a|b", "10"], ["", "1"]]
        expected = "| name | n |\n|---|---:|\n| a\\|b | 10 |\n| | 1 |"
        self.assertEqual(tables.markdown(rows), expected)


class FilesTest(ScriptTest):
    def test_a_file_that_cannot_be_written_is_named(self):
        for path in (self.folder, "/nonexistent/x", "/dev/null/x"):
            with self.assertRaisesRegex(BadInput, f"^--output is '{path}'; allowed: "):
                command.write_file(str(path), "text")
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    script_support.main()
