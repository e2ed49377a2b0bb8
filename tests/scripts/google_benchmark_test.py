"""Tests documents of posenc measure in the format of Google Benchmark. The tool compare.py of
Google Benchmark reads them. First argument: the folder of the built programs."""

import json
import pathlib
import sys

import script_support
from script_support import LARGE, ScriptTest, binary, document, row, run, sample, table

# The paths in Debian's libbenchmark-tools, and of the Python that has the modules of compare.py.
COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")
PYTHON = "/usr/bin/python3"


class GoogleBenchmarkTest(ScriptTest):
    def exported(self, name, content):
        """The path and the content of the exported document."""
        path = self.folder / f"{name}_google.json"
        self.assert_good(run(binary("posenc"), "measure", self.write(f"{name}.json", content),
                             "--format", "google-benchmark", "--output", path))  # fmt: skip
        return path, json.loads(path.read_text(encoding="utf-8"))

    def test_names_tell_tables_apart_and_each_process_is_a_repetition(self):
        other = {**table(9, 64, threads=2, layout="halves", base=500.0), "dtype": "float16"}
        preset = {**LARGE, "name": "tutorial"}
        _, found = self.exported("a", document(row("x:avx2", other, 1, 1e-3),
                                               row("x:avx2", preset, 1, 1e-8)))  # fmt: skip
        self.assertEqual(
            list(dict.fromkeys(each["name"] for each in found["benchmarks"])),
            ["encode/x:avx2/rows:9/d:64/layout:halves/base:500/dtype:float16/threads:2",
             "encode/x:avx2/preset:tutorial/rows:5000/d:512"],
        )  # fmt: skip
        self.assertEqual(found["context"]["cpu"], "A CPU")
        self.assertEqual(len(found["benchmarks"]), 2 * 3)
        second = found["benchmarks"][4]  # of the tutorial's table
        self.assertEqual((second["repetitions"], second["repetition_index"]), (3, 1))
        seconds, entries = 4e-9 * 5000 * 512, 5000 * 512
        self.assertAlmostEqual(second["real_time"], 1e9 * seconds)
        self.assertAlmostEqual(second["items_per_second"] * seconds, entries)
        self.assertAlmostEqual(second["bytes_per_second"] * seconds, 4 * entries)

    def test_compare_py_reads_them(self):
        before, _ = self.exported("a", sample())
        slower = sample()
        for each in slower["measurements"]:
            each["seconds"] = [2 * seconds for seconds in each["seconds"]]
        after, _ = self.exported("b", slower)
        done = run(PYTHON, COMPARE, "--no-color", "benchmarks", before, after)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"encode/rotation:avx2/rows:5000/d:512 +\+1\.0000 ")
        self.assertRegex(done.stdout, r"rows:5000/d:512_pvalue .* U Test, Repetitions: 3 vs 3")


if __name__ == "__main__":
    if not COMPARE.exists():
        print(f"skipped: there is no {COMPARE} (Debian: libbenchmark-tools)")
        sys.exit(77)
    script_support.main()
