"""scripts/measure.py: medians, intervals, ties, samples kept, bad input. The binary is a fake whose times are given, so that no
timing decides. First argument: the folder of the built programs, of which none is used."""

import json
import math
import os
import re
import sys
import tempfile

import script_support
from script_support import ScriptTest, run

sys.path.insert(0, os.path.join(script_support.ROOT, "scripts"))
import measure_data
import report_data
import ties

# Google Benchmark's flags, as far as the script uses them; the later of two wins. Runs with a filter are those of the noise
# floor: the first one looks which benchmarks are fast and slow, then come the pairs.
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
    samples = [processes[0][0] * factors[number % len(factors)]] if kind == "floor" else processes[number]
    common = dict(name=name, run_name=name, repetitions=len(samples) + plan.get("lost", 0), threads=1, time_unit="us")
    for index, sample in enumerate(samples):
        entry = dict(common, run_type="iteration", repetition_index=index, iterations=7, real_time=2 * sample, cpu_time=sample,
                     items_per_second=1e12 / sample, share_of_limit=0.25,
                     label="d_model=4 base=10000 layout=interleaved spacing=paper first=0 count=8 dtype=float32")
        if name in plan.get("wrong", []):
            entry = dict(common, run_type="iteration", repetition_index=index, error_occurred=True,
                         error_message="an error of 1, its bound is 1e-6")
        entries.append(entry)
    entries.append(dict(common, run_type="aggregate", aggregate_name="median", cpu_time=1, real_time=1))
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
        with open(os.path.join(self.folder, "plan.json"), "w", encoding="utf-8") as file:
            json.dump({"samples": SAMPLES, "floor": [1, 1, 1.02], **plan}, file)
        usual = ("--binary", self.binary, "--output", self.output, "--floor-pairs", 1)
        return run("measure.py", *usual, *arguments)

    def read(self):
        self.assertEqual(os.listdir(os.path.join(self.folder, "results")), ["out.json"])
        with open(self.output, encoding="utf-8") as file:
            return json.load(file)

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
        self.assertEqual([line for line in lines if line.startswith("encode ")], [f"encode {SHAPE}", "encode rows:9/d:4"])
        first = done.stdout[done.stdout.index(f"encode {SHAPE}") : done.stdout.index("encode rows:9/d:4")]
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
            middle, low, high = map(float, re.search(r"([\d.]+) us +([\d.]+) \.\. ([\d.]+)", line).groups())
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
        warning = [line for line in self.measure(floor=[1, 1, 1.07]).stderr.splitlines() if "warning" in line]
        self.assertEqual(warning, ["measure.py: warning: a noise floor of 7.0 % is too much to rank smaller differences by"])
        self.assertNotIn("warning", self.measure(floor=[1, 1, 1.04]).stderr)

    def test_arguments_reach_the_binary(self):
        done = self.measure("--", "--benchmark_filter=rows:9")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({entry["run_name"] for entry in self.read()["benchmarks"]}, {"encode/fast:avx2/rows:9/d:4"})

    def test_what_reads_one_process_reads_several(self):
        self.measure()
        accuracy = os.path.join(self.folder, "accuracy.json")
        with open(accuracy, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "results": []}, file)
        summary = run("summary.py", "--benchmark", self.output, "--accuracy", accuracy)
        self.assert_good(summary)
        self.assertRegex(self.line_of(summary.stdout, "slow"), r" 10\.989 +25\.0 %")  # 1e12 / 91 elements a second
        self.assertIn("Medians over 3 processes; two equal cases differ by up to 2.0 %", summary.stdout)
        (machine,) = report_data.read_machines([self.output])
        self.assertEqual(machine.cpu, "a fake CPU")
        found = machine.runs[f"encode/slow:scalar/{SHAPE}"]
        self.assertAlmostEqual(found.seconds, 91e-6)
        self.assertNotIn("process", found.counters)

    def test_a_refused_encoder_is_named_and_fails_the_check(self):
        done = self.measure(wrong=[f"encode/near:avx2/{SHAPE}"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("near:avx2/preset:chunk/rows:8/d:4 was not timed: an error of 1, its bound is 1e-6\n", done.stderr)
        self.assertRegex(done.stdout, r"- +near:avx2 +not timed")
        self.assertEqual(len(self.read()["benchmarks"]), 9 * len(SAMPLES))

    def test_bad_input_is_one_line_and_leaves_no_file(self):
        self.assert_refused(self.measure("--processes", 2), "--processes", "'2'", "from 3 to 31")
        self.assert_refused(self.measure("--floor-pairs", "x"), "--floor-pairs", "'x'", "from 1 to 100")
        self.assert_refused(self.measure("--quick"), "'--quick'", "after --")
        self.assert_refused(self.measure("--", "--benchmark_out=x"), "'--benchmark_out=x'", "allowed")
        self.assert_refused(self.measure("--binary", "/nonexistent"), "--binary", "/nonexistent", "No such file")
        self.assert_refused(self.measure("--output", "/nonexistent/x"), "--output", "/nonexistent/x")
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
            self.assertTrue(done.stderr.endswith("exit code 1: fake: it cannot go on\n"), done.stderr)
        with open(self.output, encoding="utf-8") as file:
            self.assertEqual(file.read(), "an earlier result")

    def test_help_has_an_example(self):
        done = run("measure.py", "--help")
        self.assert_good(done)
        self.assertIn("example: measure.py", done.stdout)


class StatisticsTest(ScriptTest):
    def test_interval_is_students_over_the_processes(self):
        low, high = measure_data.confidence_interval([[1, 2, 3], [2, 3, 4], [3, 4, 5]])
        # ln 2, ln 3, ln 4: mean 1.0594, standard deviation 0.3483; 4.303 standard errors each way.
        self.assertAlmostEqual(low, 1.214, 2)
        self.assertAlmostEqual(high, 6.854, 1)

    def test_more_repetitions_do_not_narrow_what_processes_spread(self):
        few = measure_data.confidence_interval([[10], [11], [12]])
        self.assertEqual(few, measure_data.confidence_interval([[10] * 50, [11] * 50, [12] * 50]))

    def test_interval_holds_the_median_of_all_samples(self):
        low, high = measure_data.confidence_interval([[10, 10, 90], [10], [10]])
        self.assertTrue(low <= 10 <= high)
        # Unequal numbers of samples may put it outside of the processes' medians.
        groups = [[10] * 9, [1], [1.001], [1.002]]
        low, high = measure_data.confidence_interval(groups)
        self.assertTrue(low <= 10 <= high)

    def test_one_process_has_no_interval(self):
        self.assertIsNone(measure_data.confidence_interval([[1, 2, 3]]))

    def test_shape_and_subject(self):
        for name, expected in {
            "encode/rotation:avx2/first:7/rows:8/d:4": ("encode first:7/rows:8/d:4", "rotation:avx2"),
            "copy/rows:8/d:4": ("encode rows:8/d:4", "copy"),
            "limit/store/bytes:16384": ("limit bytes:16384", "store"),
            "in_place/batch:1/rows:8/d:4/threads:1/real_time": ("batch:1/rows:8/d:4/threads:1", "in_place"),
            "encode/numpy/preset:wide/rows:8/d:4": ("encode preset:wide/rows:8/d:4", "numpy"),
        }.items():
            self.assertEqual(measure_data.place_of(name), expected)

    def test_wall_time_where_the_name_says_so(self):
        entry = {"run_name": "a/rows:1/real_time", "real_time": 5, "cpu_time": 9, "time_unit": "ms"}
        self.assertEqual(measure_data.seconds_of(entry), 0.005)


class TiesTest(ScriptTest):
    """The same verdicts as tests/ties_test.cpp."""

    def setUp(self):
        with open(os.path.join(script_support.ROOT, "tests", "data", "ties.json"), encoding="utf-8") as file:
            self.cases = json.load(file)

    def test_pairs(self):
        self.assertTrue(self.cases["pairs"])
        for case in self.cases["pairs"]:
            with self.subTest(case["name"]):
                ratio = ties.paired_ratio(case["one"], case["other"])
                expected = (case["ratio"], case["low"], math.inf if case["high"] is None else case["high"])
                for got, wanted in zip(ratio, expected):
                    self.assertAlmostEqual(got, wanted, 7)
                self.assertEqual(ties.is_tie(ratio, case["noise_floor"]), case["tie"])

    def test_floors(self):
        self.assertTrue(self.cases["floors"])
        for case in self.cases["floors"]:
            with self.subTest(case["name"]):
                self.assertAlmostEqual(ties.noise_floor_of(case["self_ratios"]), case["floor"], 7)

    def test_ranks_are_those_of_a_competition(self):
        def ranks(tied, count=4):
            return ties.competition_ranks(count, lambda i, j: (i, j) in tied)

        self.assertEqual(ranks(set()), [1, 2, 3, 4])
        self.assertEqual(ranks({(1, 2)}), [1, 2, 2, 4])
        self.assertEqual(ranks({(0, 1), (0, 2), (1, 2)}), [1, 1, 1, 4])
        # 1 ties with 2, which ties with 3, which does not tie with 1: it does not share the first rank.
        self.assertEqual(ranks({(0, 1), (1, 2)}), [1, 1, 3, 4])
        self.assertEqual(ranks(set(), 0), [])


if __name__ == "__main__":
    script_support.main()
