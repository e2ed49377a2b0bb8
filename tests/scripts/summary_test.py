"""scripts/summary.py: tables like the README's. First argument: the folder of the built programs,
of which none is used."""

import script_support
from script_support import SMALL, ScriptTest, document, row, run, sample, table

TABLE = """A CPU, avx2; g++ 12.2.0, 2026-11-24; medians of 3 processes:

| rows x d_model | `rotation` | `rotation32` | copy | limit |
|---|---:|---:|---:|---:|
| 8 x 512 | 4.0 | 7.0 | 13 | 20 |
| 5000 x 512 | 2.0 | 3.5 | 6.5 | 10 |
| largest error, 5000 x 512 | 2.98e-8 | 1.50e-7 | | |
| correctly rounded | all | 25.0 % | | |
"""
PEERS = """
| | phases | 8 x 512 | 5000 x 512 | largest error |
|---|---|---:|---:|---:|
| `rotation32` | | 7.0 | 3.5 | 1.50e-7 |
| `rotation` | | 4.0 | 2.0 | 2.98e-8 |
| `sleef` | float32 | 1.0 | 0.50 | 4.00e-4 |
"""


class SummaryTest(ScriptTest):
    def summary(self, content, *arguments):
        return run("summary.py", self.write("measured.json", content), *arguments)

    def test_the_table_is_that_of_the_readme(self):
        done = self.summary(sample())
        self.assert_good(done)
        self.assertEqual(done.stdout, TABLE)
        self.assertEqual(self.summary(sample(), "--peers").stdout, TABLE + PEERS)

    def test_text_is_aligned(self):
        lines = self.summary(sample(), "--format", "text").stdout.splitlines()
        self.assertEqual(lines[2].split(), "rows x d_model rotation rotation32 copy limit".split())
        self.assertEqual(lines[3].split(), "8 x 512 4.0 7.0 13 20".split())
        self.assertEqual(len(lines[3]), len(lines[2]))

    def test_only_the_tables_that_are_asked_for(self):
        lines = self.summary(sample(), "--tables", "8x512").stdout.splitlines()
        self.assertEqual(lines[4:6], TABLE.splitlines()[4:5] + [
            "| largest error, 8 x 512 | 2.98e-8 | 1.50e-7 | | |"])  # fmt: skip
        self.assert_refused(self.summary(sample(), "--tables", "3x4"), "3 x 4", "posenc measure")
        self.assert_refused(self.summary(sample(), "--tables", "3"), "--tables: is '3'", "ROWSxD")

    def test_what_was_not_measured_is_left_empty(self):
        rows = [row("x:avx2", SMALL, 1, 1e-7), row("y:avx2", table(9, 4), 2, 1e-7)]
        done = self.summary(document(*rows))
        self.assert_good(done)
        self.assertIn("\n| 9 x 4 | 2.0 | | | |\n| 8 x 512 | | 1.0 | | |\n", done.stdout)
        untimed = document(row("x:avx2", SMALL, 0, 1e-7))
        self.assert_refused(self.summary(untimed), "DOCUMENT has no times")

    def test_disturbed_times_are_marked(self):
        done = self.summary({**sample(), "disturbed": "other work ran"})
        self.assertIn("processes:\n\nNot reliable: other work ran.\n\n| rows", done.stdout)

    def test_tables_of_one_size_are_told_apart(self):
        tables = (SMALL, table(8, 512, layout="halves"))
        done = self.summary(document(*(row("x:avx2", each, 1, 1e-7) for each in tables)))
        self.assertIn("\n| 8 x 512 | 1.0 ", done.stdout)
        self.assertIn("\n| 8 x 512 (halves) | 1.0 ", done.stdout)

    def test_several_threads_and_other_types_have_no_place_in_it(self):
        others = ({**SMALL, "threads": 2}, {**SMALL, "dtype": "float16"})
        rows = [row("x:avx2", each, 9, 1e-7) for each in others]
        done = self.summary(document(*rows, row("x:avx2", SMALL, 1, 1e-7)))
        self.assertEqual(done.stdout.count("\n| 8 x 512"), 1)

    def test_output_goes_to_a_file(self):
        path = self.folder / "summary.md"
        done = self.summary(sample(), "--output", path)
        self.assert_good(done)
        self.assertEqual((done.stdout, path.read_text(encoding="utf-8")), ("", TABLE))


if __name__ == "__main__":
    script_support.main()
