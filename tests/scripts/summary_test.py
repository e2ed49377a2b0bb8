"""scripts/summary.py: the table of speed and accuracy, its notes, bad input. First argument: the
folder of the built programs, of which none is used."""

import os
import tempfile

import script_support
from script_support import ScriptTest, run, write_json

SPEC = {"d_model": 4, "base": 10000.0, "layout": "interleaved", "spacing": "paper"}


def label_of(first=0, count=8, spacing="paper"):
    return f"d_model=4 base=10000 layout=interleaved spacing={spacing} first={first} count={count}"


def entry(backend, gfloats, preset="chunk", rows=8, label="", **further):
    name = f"encode/{backend}/preset:{preset}/rows:{rows}/d:4"
    return {
        "run_name": name,
        "run_type": "iteration",
        "cpu_time": 1.0,
        "time_unit": "us",
        "items_per_second": gfloats * 1e9,
        "label": label or label_of(count=rows),
        **further,
    }


def report(backend, max_abs, first=0, count=8, **further):
    name, isa = backend.split(":")
    return {
        "backend": name,
        "isa": isa,
        "spec": SPEC,
        "rows": {"first": first, "count": count},
        "max_abs": max_abs,
        "correctly_rounded": 0.5,
        "by_position": [],
        "by_channel": [],
        "quantiles": [],
        **further,
    }


class SummaryTest(ScriptTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, document):
        path = os.path.join(self.folder, name)
        write_json(path, document)
        return path

    def summarise(self, entries, reports=(), *arguments):
        benchmark = self.write("b.json", {"context": {}, "benchmarks": list(entries)})
        accuracy = self.write("a.json", {"version": 1, "results": list(reports)})
        return run("summary.py", "--benchmark", benchmark, "--accuracy", accuracy, *arguments)

    def test_the_smallest_preset_and_the_fastest_backend_come_first(self):
        done = self.summarise(
            [
                entry("slow:avx2", 1, "wide", 9),
                entry("slow:avx2", 1, share_of_limit=0.125),
                entry("fast:avx2", 2),
            ],
            [report("slow:avx2", 1e-7)],
        )
        self.assert_good(done)
        lines = [line.split() for line in done.stdout.splitlines()[1:4]]
        self.assertEqual(lines[0], "chunk 8 x 4 fast avx2 2.000 - - -".split())
        self.assertEqual(lines[1], "slow avx2 1.000 12.5 % 1.00e-07 50.00 %".split())
        self.assertEqual(lines[2], "wide 9 x 4 slow avx2 1.000 - - -".split())

    def test_the_smallest_report_that_covers_the_rows_is_taken(self):
        reports = [
            report("x:avx2", 4e-7, count=7),
            report("x:avx2", 3e-7, count=100),
            report("x:avx2", 2e-7, count=10),
            report("x:avx2", 1e-7, first=1, count=8),
            report("x:sse2", 9e-7),
        ]
        done = self.summarise([entry("x:avx2", 1)], reports)
        self.assertIn(" 2.00e-07+ ", done.stdout)
        self.assertIn("\n+ over more rows than were timed\n", done.stdout)
        done = self.summarise([entry("x:avx2", 1)], [*reports, report("x:avx2", 5e-7)])
        self.assertIn(" 5.00e-07 ", done.stdout)
        self.assertNotIn("\n+ ", done.stdout)
        other_spec = entry("x:avx2", 1, label=label_of(spacing="inclusive"))
        self.assertNotIn("e-07", self.summarise([other_spec], reports).stdout)

    def test_what_cannot_be_picked_is_marked(self):
        own = {"max_abs": 4e-5, "correctly_rounded": 0.25}
        done = self.summarise(
            [entry("peer:avx2", 1), entry("pytorch", 2, **own)],
            [report("peer:avx2", 1e-7, can_be_picked=False)],
        )
        self.assertRegex(done.stdout, r"peer\* +avx2 ")
        self.assertRegex(done.stdout, r"pytorch\* +- +2.000 +- +4.00e-05 +25.00 %\n")
        self.assertIn("\n* not part of the library, cannot be picked\n", done.stdout)

    def test_a_refused_encoder_is_named_and_fails_the_check(self):
        failed = entry("x:avx2", 1, error_occurred=True, error_message="an error of 1")
        done = self.summarise([failed, entry("y:avx2", 1)])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"x +avx2 +wrong +- +- +-\n")
        self.assertIn("\nx:avx2 on chunk was not timed: an error of 1\n", done.stdout)

    def test_markdown_has_every_cell(self):
        path = os.path.join(self.folder, "summary.md")
        done = self.summarise(
            [entry("x:avx2", 1), entry("y:avx2", 2)], [], "--markdown", path, "further.json"
        )
        self.assert_good(done)
        self.assertTrue(done.stdout.endswith(f"  {path}\n  further.json\n"), done.stdout)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[1], "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |")
        self.assertEqual(lines[3], "| chunk | 8 x 4 | x | avx2 | 1.000 | - | - | - |")

    def test_bad_input_is_one_line(self):
        self.assert_refused(self.summarise([]), "b.json", "no benchmark of a preset")
        self.assert_refused(self.summarise([{}]), "b.json", "not as posenc")
        self.assert_refused(self.summarise([{**entry("x:avx2", 1), "cpu_time": "x"}]), "b.json")
        self.assert_refused(self.summarise([entry("x:avx2", 1)], [{}]), "a.json", "not as posenc")
        self.assert_refused(run("summary.py", "--benchmark", "/nonexistent.json"), "/nonexistent")


if __name__ == "__main__":
    script_support.main()
