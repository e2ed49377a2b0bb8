"""scripts/measuring/results/: what is read from the files of the benchmarks and of posenc. First
argument: the folder of the built programs, of which none is used."""

import math
import os
import tempfile

import script_support
from script_support import ScriptTest, write_json

from measuring.errors import BadInput
from measuring.results.accuracy import Rows, Spec, read_accuracy
from measuring.results.benchmarks import (
    Name, name_of, read_benchmarks, seconds_of, without_limits,
)
from measuring.results.machines import Machine, read_machines
from measuring.results.picks import budget_text, read_picks

LABEL = "d_model=4 base=10000 layout=halves spacing=paper first=7 count=8 dtype=float32"


def entry(name, microseconds, process=0, **further):
    common = {"name": name, "run_name": name, "run_type": "iteration", "time_unit": "us"}
    times = {"cpu_time": microseconds, "real_time": 2 * microseconds}
    return {**common, **times, "process": process, "iterations": 7, "threads": 1, **further}


def benchmarks_of(*entries):
    return {each.name.text: each for each in read_benchmarks({"benchmarks": entries})}


class NameTest(ScriptTest):
    def test_heading_and_candidate(self):
        for text, expected in {
            "encode/rotation:avx2/first:7/rows:8/d:4": (
                "encode first:7/rows:8/d:4",
                "rotation:avx2",
            ),
            "copy/rows:8/d:4": ("encode rows:8/d:4", "copy"),
            "limit/store/bytes:16384": ("limit bytes:16384", "store"),
            "in_place/batch:1/rows:8/d:4/threads:1/real_time": (
                "batch:1/rows:8/d:4/threads:1",
                "in_place",
            ),
            "encode/numpy/preset:wide/rows:8/d:4": ("encode preset:wide/rows:8/d:4", "numpy"),
        }.items():
            name = name_of(text)
            self.assertEqual((name.heading, name.candidate), expected)

    def test_parts(self):
        text = "forward/posenc:fused/batch:2/rows:8/d:4/threads:2/real_time"
        name = name_of(text)
        shape = "batch:2/rows:8/d:4/threads:2"
        self.assertEqual(name, Name(text, "forward", "posenc:fused", shape))
        self.assertEqual((name.backend, name.isa), ("posenc", "fused"))
        self.assertEqual(name.parts, {"batch": "2", "rows": "8", "d": "4", "threads": "2"})
        self.assertEqual((name.entries, name.table_size), (32, "8 x 4"))

    def test_bytes(self):
        for text, expected in {
            "limit/store/bytes:16384": 16384,
            "encode/x:avx2/rows:8/d:4": 128,
            "encode/x:avx2/rows:8/d:4/dtype:float64": 256,
            "encode/x:avx2/rows:8/d:4/dtype:bfloat16": 64,
            "encode/x:avx2/rows:8/d:4/dtype:other": None,
            "plan/x:avx2/d:4/spacing:paper": None,
        }.items():
            self.assertEqual(name_of(text).bytes, expected, text)


class BenchmarkTest(ScriptTest):
    def test_samples_of_processes(self):
        name = "encode/x:avx2/rows:8/d:4"
        samples = ((10, 0), (30, 0), (20, 1), (20, 1))
        counted = [
            entry(name, time, process, items_per_second=32e6 / time, label=LABEL)
            for time, process in samples
        ]
        (found,) = benchmarks_of(*counted).values()
        for got, expected in zip(found.processes, [[10e-6, 30e-6], [20e-6, 20e-6]]):
            for seconds, wanted in zip(got, expected):
                self.assertAlmostEqual(seconds, wanted, 12)
        self.assertAlmostEqual(found.seconds, 20e-6)
        self.assertAlmostEqual(found.gfloats, 1.6e-3)
        self.assertEqual(found.counters.keys(), {"items_per_second"})
        self.assertEqual(found.spec, Spec(4, 10000.0, "halves", "paper"))
        self.assertEqual(found.rows, Rows(7, 8))

    def test_wall_time_if_the_name_says_so(self):
        self.assertAlmostEqual(seconds_of(entry("a/rows:1/real_time", 5)), 10e-6)
        self.assertAlmostEqual(seconds_of(entry("a/rows:1", 5)), 5e-6)

    def test_medians_of_google_benchmark_stand_for_missing_samples(self):
        median = {"run_type": "aggregate", "aggregate_name": "median"}
        other = {"run_type": "aggregate", "aggregate_name": "stddev"}
        found = benchmarks_of(
            entry("a/rows:1", 5, **median),
            entry("a/rows:1", 1, **other),
            entry("b/rows:1", 7),
            entry("b/rows:1", 9, **median),
        )
        self.assertAlmostEqual(found["a/rows:1"].seconds, 5e-6)
        self.assertAlmostEqual(found["b/rows:1"].seconds, 7e-6)

    def test_order_is_that_of_registration(self):
        names = benchmarks_of(entry("b/x", 1, family_index=2), entry("a/x", 1, family_index=0))
        self.assertEqual(list(names), ["a/x", "b/x"])

    def test_errors_stand_in_place_of_samples(self):
        failed = {"run_type": "iteration", "run_name": "a/x", "error_occurred": True}
        (found,) = benchmarks_of({**failed, "error_message": "it is wrong"}).values()
        self.assertEqual((found.error, found.processes), ("it is wrong", []))


class LimitTest(ScriptTest):
    ENCODE = "encode/x:avx2/rows:8/d:4"

    def test_the_limit_in_entries_a_second(self):
        counted = entry(self.ENCODE, 4, items_per_second=8e9, share_of_limit=0.5)
        self.assertAlmostEqual(benchmarks_of(counted)[self.ENCODE].limit_gfloats, 16)
        plain = entry(self.ENCODE, 4, items_per_second=8e9)
        self.assertIsNone(benchmarks_of(plain)[self.ENCODE].share_of_limit)
        self.assertEqual(benchmarks_of(plain)[self.ENCODE].limit_gfloats, 0)

    def test_limits_are_not_compared_with_encoders(self):
        found = benchmarks_of(entry(self.ENCODE, 4), entry("limit/store/bytes:128", 2)).values()
        compared = without_limits(found, lambda each: each.name)
        self.assertEqual([each.name.text for each in compared], [self.ENCODE])
        alone = benchmarks_of(entry("limit/store/bytes:128", 2)).values()
        self.assertEqual(without_limits(alone, lambda each: each.name), list(alone))


class AccuracyTest(ScriptTest):
    RESULT = {
        "backend": "rotation",
        "isa": "avx2",
        "spec": {"d_model": 4, "base": 10000.0, "layout": "halves", "spacing": "paper"},
        "rows": {"first": 7, "count": 8},
        "max_abs": 3e-8,
        "correctly_rounded": 1.0,
        "by_position": [{"first": 7, "count": 1, "max_abs": None}],
        "by_channel": [{"channel": 0, "max_abs": 2e-8}],
        "quantiles": [{"share": 0.5, "abs_error": 1e-8}],
    }

    def test_report(self):
        (report,) = read_accuracy({"version": 1, "results": [self.RESULT]})
        self.assertEqual((report.rows.last, report.by_channel), (14, [2e-8]))
        self.assertTrue(report.can_be_picked)
        ((last, error),) = report.by_position
        self.assertEqual(last, 7)
        self.assertTrue(math.isnan(error))

    def test_other_versions_are_refused(self):
        with self.assertRaisesRegex(ValueError, "version is 2"):
            read_accuracy({"version": 2, "results": [self.RESULT]})

    def test_rows_cover_rows(self):
        self.assertTrue(Rows(0, 10).covers(Rows(3, 7)))
        self.assertFalse(Rows(0, 10).covers(Rows(3, 8)))
        self.assertFalse(Rows(4, 10).covers(Rows(3, 7)))


class MachinesTest(ScriptTest):
    PICK = {
        "shape_class": "l1",
        "dtype": "float32",
        "threads": 1,
        "backend": "rotation",
        "isa": "avx2",
        "gfloats_per_second": 2.0,
        "relative_iqr": 0.01,
        "max_abs": 3e-8,
    }

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def read(self, **documents):
        for name, document in documents.items():
            write_json(os.path.join(self.folder, f"{name}.json"), document)
        return read_machines([self.folder])

    def test_files_are_sorted_by_cpu(self):
        context = {"cpu": "A", "cache_sizes": "L1d 48 KiB, L3 105 MiB"}
        one, other = self.read(
            a={"context": context, "benchmarks": [entry("encode/x:avx2/rows:8/d:4", 1)]},
            b={"cpu": {"model": "B"}, "version": 1, "results": [AccuracyTest.RESULT]},
            c={"cpu": {"model": "A"}, "version": 1, "results": [AccuracyTest.RESULT]},
        )
        self.assertEqual((one.cpu, other.cpu), ("A", "B"))
        self.assertEqual((len(one.benchmarks), len(one.accuracy), len(one.files)), (1, 1, 2))
        self.assertEqual(one.caches(), [("L1d", 48 << 10), ("L3", 105 << 20)])

    def test_the_first_pick_of_a_class_counts(self):
        pick = {"cpu": {"model": "A"}, "max_error": 1e-6, "max_ulp": None, "picks": [self.PICK]}
        profile = {"cpu": {"model": "A"}, "version": 3, "classes": []}
        (machine,) = self.read(a=pick, b={**pick, "max_error": 1e-3}, profile=profile)
        self.assertEqual(len(machine.files), 3)
        (pick,) = machine.picks
        self.assertEqual((pick.backend, pick.budget), ("rotation:avx2", "1e-06"))

    def test_budgets(self):
        self.assertEqual(budget_text({"max_error": None, "max_ulp": 0.5}), "0.5 ulp")
        self.assertEqual(budget_text({"max_error": 1e-6}), "1e-06")
        (pick,) = read_picks({"picks": [self.PICK]})
        self.assertEqual(pick.budget, "")

    def test_the_best_isa_stands_for_a_backend(self):
        machine = Machine("A")
        for text in ("sse2/rows:8/d:4", "avx512/rows:8/d:4", "avx2/rows:8/d:4", "avx2/rows:9/d:4"):
            found = benchmarks_of(entry(f"encode/x:{text}", 1))
            machine.benchmarks.update((each.name, each) for each in found.values())
        names = [each.name.text for each in machine.of_kind("encode")]
        self.assertEqual(names, ["encode/x:avx512/rows:8/d:4", "encode/x:avx2/rows:9/d:4"])

    def test_other_programs_stand_beside_the_backends(self):
        work = "table/torch/batch:1/rows:8/d:4/threads:1"
        (machine,) = self.read(
            torch={
                "context": {"cpu": "A", "torch_version": "1"},
                "benchmarks": [entry("encode/pytorch/rows:8/d:4", 1), entry(work, 1)],
            }
        )
        self.assertEqual([name.backend for name in machine.benchmarks], ["pytorch"])
        self.assertEqual([name.text for name in machine.torch], [work])

    def test_other_documents_are_refused_with_their_path(self):
        for document in ({}, [], 3, {"cpu": {"model": "A"}}, {"context": {}}, {"results": []}):
            with self.assertRaisesRegex(BadInput, "bad.json: not as posenc .*allowed"):
                self.read(bad=document)


if __name__ == "__main__":
    script_support.main()
