"""Reading documents of measurements: what is merged, what counts, what is refused; and the numbers,
tables and files that every script writes. First argument: the folder of the built programs."""

import os

import script_support
from script_support import (
    BROKEN, LARGE, SMALL, ScriptTest, document, row, run, sample, table,
)  # fmt: skip

from reporting import command, tables
from reporting.command import BadInput
from reporting.documents import read_machines

TEXT = """A CPU, avx2; g++ 12.2.0, 2026-11-24; medians of 3 processes

                   rotation  rotation32  copy  limit
8 x 512                 4.0         7.0    13     20
5000 x 512              2.0         3.5   6.5     10
largest error       2.98e-8     1.50e-7
at most             2.98e-8     1.50e-7
correctly rounded       all      25.0 %

Errors are the largest over all rows of 5000 x 512. "At most" is the proven bound.
"""


class DocumentsTest(ScriptTest):
    def machines(self, *documents):
        return read_machines(self.write_all(*documents))

    def test_a_later_document_of_one_table_counts(self):
        timed = document(row("x:avx2", SMALL, 3, 1e-7))
        errors = document(row("x:avx2", SMALL, 0, 2e-7, by_position=[0, 1e-7]))
        for order in ((timed, errors), (errors, timed)):
            (found,) = self.machines(*order)[0].measurements
            self.assertAlmostEqual(found.speed, 3)
            self.assertEqual(found.error.by_position, [(0, 0.0), (1, 1e-7)])
        (machine,) = self.machines(timed, document(row("x:avx2", SMALL, 5, None)))
        self.assertAlmostEqual(machine.measurements[0].speed, 5)

    def test_the_error_of_more_rows_counts_and_says_of_how_many(self):
        few, unknown = row("x:avx2", LARGE, 3, 1e-7, checked=0.02), row("x:avx2", LARGE, 3, 1e-7)
        for measured in (few, unknown):
            measured["error"]["correctly_rounded"] = 1.0
        del unknown["error"]["checked"]
        whole = document(row("x:avx2", LARGE, 0, 2e-7))
        for order in ((document(few), whole), (whole, document(few)), (document(unknown), whole)):
            (found,) = self.machines(*order)[0].measurements
            self.assertEqual((found.error.max_abs, tables.of_which_rows(found)),
                             (2e-7, "of all rows"))  # fmt: skip
        for measured, expected in ((few, "of 2 % of the rows"), (unknown, "of sampled rows")):
            (found,) = self.machines(document(measured))[0].measurements
            self.assertEqual(tables.of_which_rows(found), expected)
            self.assertEqual(tables.error_cells(found)[2], "100 %")
            done = run("report.py", self.write("few.json", document(measured)))
            rows = expected.removeprefix("of ")
            self.assertIn(f"\nErrors are the largest over {rows} of 5000 x 512.", done.stdout)
        proven = row("x:avx2", LARGE, 3, 1e-7, rounded=True, checked=0.02)
        (found,) = self.machines(document(proven))[0].measurements
        self.assertEqual(tables.error_cells(found)[2], "all")

    def test_other_tables_stand_apart(self):
        others = (SMALL, {**SMALL, "threads": 2}, {**SMALL, "stride": 640}, table(8, 512, base=5.0))
        (machine,) = self.machines(document(*(row("x:avx2", each, 3, 1e-7) for each in others)))
        names = [each.table.name for each in machine.measurements]
        further = ["", " (threads 2)", " (stride 640)", " (base 5.0)"]
        self.assertEqual(names, [f"8 x 512{each}" for each in further])

    def test_documents_are_sorted_by_cpu_and_each_is_reliable_or_not(self):
        halves = document(row("x:avx2", {**SMALL, "dtype": "float16"}, 1, 1e-7))
        machines = self.machines(sample(), sample("other"), {**halves, "disturbed": "work ran"})
        self.assertEqual([machine.cpu for machine in machines], ["A CPU", "other"])
        self.assertEqual([machine.disturbed for machine in machines], [{"2.json": "work ran"}, {}])
        self.assertEqual(machines[0].not_reliable, "Not reliable: 2.json: work ran.")

    def test_broken_documents_are_refused_in_one_line(self):
        for content in BROKEN:
            path = self.write("broken.json", content)
            with self.subTest(content[:60]):
                with self.assertRaisesRegex(BadInput, "no document of measurements"):
                    read_machines([path])
        self.assert_refused(run("report.py", path, "--page", self.folder / "none"), str(path))
        self.assertEqual(os.listdir(self.folder), ["broken.json"])
        self.assert_refused(run("report.py", "/nonexistent.json"), "/nonexistent.json")
        self.assert_refused(run("report.py", self.folder), str(self.folder))


class ReportTextTest(ScriptTest):
    """What scripts/report.py prints."""

    def report(self, *documents, options=()):
        return run("report.py", *self.write_all(*documents), *options)

    def test_speeds_stand_beside_errors_and_limits(self):
        done = self.report(sample())
        self.assert_good(done)
        self.assertEqual(done.stdout, TEXT)
        peers = self.report(sample(), options=["--peers"]).stdout
        self.assertIn("\n| sleef* | 1.0 | 0.50 | 4.00e-4 | 4.00e-4 | 25.0 % |\n", peers)

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
