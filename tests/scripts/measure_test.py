"""scripts/measure.py: medians, ranks, samples kept, bad input. The binary is a fake whose times are
given, so that no timing decides. First argument: the folder of the built programs, of which none is
used."""

import os
import re
import sys
import tempfile

import script_support
from script_support import ScriptTest, read_json, run, write_json

from measuring.results.benchmarks import name_of
from measuring.results.machines import read_machines

# Google Benchmark's flags, as far as the script uses them; the later of two wins. Runs with a
# filter are those of the noise floor: the first one looks which benchmarks are fast and slow, then
# come the pairs.
FAKE = """#!{python}
import json, os, re, sys
flags = dict(argument.partition("=")[::2] for argument in sys.argv[1:])
here = os.path.dirname(os.path.abspath(__file__))
plan = json.load(open(os.path.join(here, "plan.json")))
kind = "floor" if "--benchmark_filter" in flags else "main"
if kind == plan.get("fails"):
    sys.exit("fake: it cannot go on")
if "--benchmark_list_tests" in flags:
    print("\\n".join(plan["samples"]))
    sys.exit()
counter = os.path.join(here, kind)
number = os.path.getsize(counter) if os.path.exists(counter) else 0
with open(counter, "a") as file:
    file.write("x")
entries = []
for name, processes in plan["samples"].items():
    if not re.search(flags.get("--benchmark_filter", ""), name):
        continue
    factors = plan["floor"]
    if kind == "floor":
        samples = [processes[0][0] * factors[number % len(factors)]]
    else:
        samples = processes[number]
    common = dict(name=name, run_name=name, repetitions=len(samples) + plan.get("lost", 0),
                  threads=1, time_unit="us")
    for index, sample in enumerate(samples):
        entry = dict(common, run_type="iteration", repetition_index=index, iterations=7,
                     real_time=2 * sample, cpu_time=sample,
                     items_per_second=1e12 / sample, share_of_limit=0.25,
                     label="d_model=4 base=10000 layout=interleaved spacing=paper "
                           "first=0 count=8 dtype=float32")
        if name in plan.get("wrong", []):
            entry = dict(common, run_type="iteration", repetition_index=index,
                         error_occurred=True, error_message="an error of 1, its bound is 1e-6")
        entries.append(entry)
    entries.append(dict(common, run_type="aggregate", aggregate_name="median", cpu_time=1,
                        real_time=1))
with open(flags["--benchmark_out"], "w") as file:
    json.dump(dict(context=dict(cpu="a fake CPU", number=number), benchmarks=entries), file)
print("left out: something slow", file=sys.stderr)
sys.exit(1 if any("error_message" in entry for entry in entries) else 0)
"""
SHAPE = "preset:chunk/rows:8/d:4"
SAMPLES = {  # us: three processes of three repetitions
    f"encode/slow:scalar/{SHAPE}": [[90, 91, 92], [90, 92, 93], [91, 91, 92]],
    f"encode/fast:avx2/{SHAPE}": [[10, 10.1, 10.2], [10, 10.1, 10.3], [10, 10.2, 10.2]],
    f"encode/even:avx2/{SHAPE}": [[10.1, 10.1, 10.2], [9.9, 10.2, 10.3], [10.2, 10.2, 10.4]],
    f"encode/middle:avx2/{SHAPE}": [[20, 20, 21], [20, 20, 20], [20, 20, 20]],
    f"encode/near:avx2/{SHAPE}": [[20.3, 20.3, 20.3], [20.3, 20.3, 20.3], [20.3, 20.4, 20.4]],
    "encode/fast:avx2/rows:9/d:4": [[12, 12, 12], [12, 12, 12], [12, 12, 12]],
}


class MeasureTest(ScriptTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "results"))
        self.output = os.path.join(self.folder, "results", "out.json")
        self.binary = os.path.join(self.folder, "fake")
        with open(self.binary, "w", encoding="utf-8") as file:
            file.write(FAKE.format(python=sys.executable))
        os.chmod(self.binary, 0o755)

    def measure(self, *arguments, **plan):
        """Runs the script with a fake of this plan, as if for the first time."""
        for name in ("main", "floor"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                os.remove(path)
        plan = {"samples": SAMPLES, "floor": [1, 1, 1.02], **plan}
        write_json(os.path.join(self.folder, "plan.json"), plan)
        usual = ("--binary", self.binary, "--output", self.output, "--floor-pairs", 1)
        return run("measure.py", *usual, *arguments)

    def read(self):
        self.assertEqual(os.listdir(os.path.join(self.folder, "results")), ["out.json"])
        return read_json(self.output)

    def line_of(self, text, subject):
        return next(line for line in text.splitlines() if f" {subject} " in line)

    def test_every_sample_is_kept_in_one_file(self):
        done = self.measure()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "left out: something slow\n")
        document = self.read()
        self.assertEqual(document["context"]["number"], 0)  # the first run's
        self.assertEqual(document["context"]["processes"], 3)
        self.assertAlmostEqual(document["context"]["noise_floor"], 0.02)
        found = {}
        for entry in document["benchmarks"]:
            self.assertEqual(entry["run_type"], "iteration")
            samples = found.setdefault(entry["run_name"], [[], [], []])[entry["process"]]
            self.assertEqual(entry["repetition_index"], len(samples))
            samples.append(entry["cpu_time"])
        self.assertEqual(found, SAMPLES)

    def test_table(self):
        done = self.measure()
        lines = done.stdout.splitlines()
        self.assertLessEqual(max(map(len, lines[lines.index("") :])), 100)
        self.assertIn("Up to 2.0 %", done.stdout)
        headings = [line for line in lines if line.startswith("encode ")]
        self.assertEqual(headings, [f"encode {SHAPE}", "encode rows:9/d:4"])
        start, end = map(done.stdout.index, headings)
        first = done.stdout[start:end]
        self.assertEqual(
            [line.split()[:4] for line in first.splitlines()[1:] if line],
            [
                ["1=", "fast:avx2", "10.10", "us"],
                ["1=", "even:avx2", "10.20", "us"],
                ["3=", "middle:avx2", "20.00", "us"],
                ["3=", "near:avx2", "20.30", "us"],
                ["5", "slow:scalar", "91.00", "us"],
            ],
        )
        # A ratio that may be 1; and one that is not, and within the noise floor.
        self.assertTrue(self.line_of(first, "fast:avx2").endswith("  even"))
        self.assertTrue(self.line_of(first, "middle:avx2").endswith("  near"))
        self.assertTrue(self.line_of(first, "slow:scalar").endswith("25.0 %"))
        for line in first.splitlines()[1:-1]:
            figures = re.search(r"([\d.]+) us +([\d.]+) \.\. ([\d.]+)", line).groups()
            middle, low, high = map(float, figures)
            self.assertTrue(low <= middle <= high, line)

    def test_certain_differences_beyond_the_floor_are_told_apart(self):
        near = f"encode/near:avx2/{SHAPE}"

        def rank_of_near(microseconds, floor):
            done = self.measure(samples={**SAMPLES, near: [[microseconds] * 3] * 3}, floor=floor)
            self.assertEqual(done.returncode, 0, done.stderr)
            return self.line_of(done.stdout, "near:avx2").split()[0]

        self.assertEqual(rank_of_near(20.6, floor=[1]), "4")
        self.assertEqual(rank_of_near(20.6, floor=[1, 1, 1.04]), "3=")
        self.assertEqual(rank_of_near(20.3, floor=[1]), "3=")  # 2 % is always a tie

    def test_floor_compares_the_fastest_and_the_slowest_first(self):
        done = self.measure("--floor-pairs", 2)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], "^Noise floor: 2 pairs")
        self.assertRegex(lines[1], f"^  encode/fast:avx2/{SHAPE} +0[.]990, 0[.]980 [.][.] 1[.]000$")
        self.assertRegex(lines[2], f"^  encode/slow:scalar/{SHAPE} ")
        with open(os.path.join(self.folder, "floor"), encoding="utf-8") as file:
            self.assertEqual(len(file.read()), 1 + 2 * 2)

    def test_one_disturbed_pair_in_five_does_not_make_the_floor(self):
        def floor_with(disturbed):
            # The first process only looks which benchmarks are fast and slow.
            pairs = [1, 1] * (5 - disturbed) + [1, 1.5] * disturbed
            self.measure("--floor-pairs", 5, floor=[1, *pairs])
            return self.read()["context"]["noise_floor"]

        self.assertAlmostEqual(floor_with(disturbed=1), 0)
        self.assertAlmostEqual(floor_with(disturbed=2), 0.5)

    def test_a_high_floor_is_a_warning_of_one_line(self):
        lines = self.measure(floor=[1, 1, 1.07]).stderr.splitlines()
        text = "a noise floor of 7.0 % is too much to rank smaller differences by"
        warnings = [line for line in lines if "warning" in line]
        self.assertEqual(warnings, [f"measure.py: warning: {text}"])
        self.assertNotIn("warning", self.measure(floor=[1, 1, 1.04]).stderr)

    def test_arguments_reach_the_binary(self):
        done = self.measure("--", "--benchmark_filter=rows:9")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {entry["run_name"] for entry in self.read()["benchmarks"]}
        self.assertEqual(names, {"encode/fast:avx2/rows:9/d:4"})

    def test_what_reads_one_process_reads_several(self):
        self.measure()
        accuracy = os.path.join(self.folder, "accuracy.json")
        write_json(accuracy, {"version": 1, "results": []})
        summary = run("summary.py", "--benchmark", self.output, "--accuracy", accuracy)
        self.assert_good(summary)
        # 1e12 / 91 elements a second.
        self.assertRegex(self.line_of(summary.stdout, "slow"), r" 10\.989 +25\.0 %")
        note = "Medians over 3 processes; two equal cases differ by up to 2.0 %"
        self.assertIn(note, summary.stdout)
        (machine,) = read_machines([self.output])
        self.assertEqual(machine.cpu, "a fake CPU")
        found = machine.benchmarks[name_of(f"encode/slow:scalar/{SHAPE}")]
        self.assertAlmostEqual(found.seconds, 91e-6)
        self.assertNotIn("process", found.counters)

    def test_a_refused_encoder_is_named_and_fails_the_check(self):
        done = self.measure(wrong=[f"encode/near:avx2/{SHAPE}"])
        self.assertEqual(done.returncode, 1, done.stderr)
        message = f"encode/near:avx2/{SHAPE} was not timed: an error of 1, its bound is 1e-6\n"
        self.assertIn(message, done.stderr)
        self.assertRegex(done.stdout, r"- +near:avx2 +not timed")
        self.assertEqual(len(self.read()["benchmarks"]), 9 * len(SAMPLES))

    def test_bad_input_is_one_line_and_leaves_no_file(self):
        self.assert_refused(self.measure("--processes", 2), "--processes", "'2'", "from 3 to 31")
        self.assert_refused(
            self.measure("--floor-pairs", "x"), "--floor-pairs", "'x'", "from 1 to 100"
        )
        self.assert_refused(self.measure("--quick"), "'--quick'", "after --")
        refused = self.measure("--", "--benchmark_out=x")
        self.assert_refused(refused, "'--benchmark_out=x'", "allowed")
        missing = self.measure("--binary", "/nonexistent")
        self.assert_refused(missing, "--binary", "/nonexistent", "No such file")
        self.assert_refused(
            self.measure("--output", "/nonexistent/x"), "--output", "/nonexistent/x"
        )
        self.assert_refused(self.measure(samples={}), "no benchmark")
        self.assert_refused(self.measure(lost=1), "has 1 samples", "allowed: 2")
        self.assert_refused(run("measure.py"), "--output")
        self.assertEqual(os.listdir(os.path.dirname(self.output)), [])

    def test_a_failing_binary_is_reported_with_its_message(self):
        with open(self.output, "w", encoding="utf-8") as file:
            file.write("an earlier result")
        for kind in ("main", "floor"):
            done = self.measure(fails=kind)
            self.assertEqual(done.returncode, 2)
            self.assertTrue(
                done.stderr.endswith("exit code 1: fake: it cannot go on\n"), done.stderr
            )
        with open(self.output, encoding="utf-8") as file:
            self.assertEqual(file.read(), "an earlier result")

    def test_help_has_an_example(self):
        done = run("measure.py", "--help")
        self.assert_good(done)
        self.assertIn("example: measure.py", done.stdout)


if __name__ == "__main__":
    script_support.main()
