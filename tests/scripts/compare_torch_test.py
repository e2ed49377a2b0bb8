"""scripts/compare_torch.py: values within the tolerance, samples kept, bad input. First argument:
the folder of the built programs."""

import json
import os
import shutil
import subprocess
import tempfile

import script_support
from script_support import ScriptTest, binary, run, skip_without

skip_without("torch", "numpy")
from measuring.comparison.document import PRESETS

QUICK = ("--repetitions", 2, "--seconds-per-sample", 1e-4)

# Behind the package's own code: spoils the first value of every table.
SPOILED = """
class Encoder:
    Right = Encoder

    def __init__(self, *arguments, **named):
        self.encoder = self.Right(*arguments, **named)

    def encode(self, *arguments, **named):
        table = self.encoder.encode(*arguments, **named)
        table[0, 0] = 64
        return table
"""


def package():
    """The folder of the package that was built beside the programs."""
    return os.path.join(os.path.dirname(os.path.dirname(binary("posenc"))), "python")


class CompareTorchTest(ScriptTest):
    def compare(self, *arguments):
        return run("compare_torch.py", "--package", package(), *QUICK, *arguments)

    def test_values_agree_and_samples_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "torch.json")
            done = self.compare(
                "--shapes", "33x20", "3x16x8", "--threads", 1, 2, "--output", output
            )
            self.assert_good(done)
            for work in (
                "table, from nothing",
                "table, kept memory",
                "x + pe",
                "forward, batch first",
                "forward, seq first",
            ):
                self.assertIn(work, done.stdout)
            self.assertEqual(os.listdir(folder), ["torch.json"])
            with open(output, encoding="utf-8") as file:
                document = json.load(file)
        self.assertIn("torch_version", document["context"])
        names = {entry["name"] for entry in document["benchmarks"]}
        self.assertIn("x_plus_pe/torch/batch:3/rows:16/d:8/threads:2", names)
        self.assertIn("table_kept_memory/posenc/batch:1/rows:33/d:20/threads:1", names)
        self.assertIn("encode/pytorch/rows:33/d:20", names)
        self.assertIn("encode/numpy/rows:16/d:8", names)
        self.assertEqual(len(document["benchmarks"]), 2 * len(names))
        for entry in document["benchmarks"]:
            self.assertGreater(entry["real_time"], 0)
            self.assertLessEqual(entry.get("max_difference", 0), entry.get("tolerance", 0))

    def test_the_same_formula_differs_by_roundings_alone(self):
        self.assert_good(self.compare("--shapes", "50x64", "--threads", 1, "--backend", "div_term"))

    def test_kept_tables_stand_beside_the_backends(self):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "torch.json")
            done = self.compare(
                "--shapes",
                "8x512",
                "700x512",
                "--threads",
                1,
                "--kept-table-only",
                "--output",
                output,
            )
            self.assert_good(done)
            self.assertNotIn("from nothing", done.stdout)
            with open(output, encoding="utf-8") as file:
                entries = {entry["name"]: entry for entry in json.load(file)["benchmarks"]}
            accuracy = os.path.join(folder, "accuracy.json")
            with open(accuracy, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "results": []}, file)
            summary = run("summary.py", "--benchmark", output, "--accuracy", accuracy)
        self.assert_good(summary)
        self.assertRegex(summary.stdout, r"chunk +8 x 512 +(numpy|pytorch)\* +- ")
        self.assertIn("* not part of the library", summary.stdout)
        label = (
            "d_model=512 base=10000 layout=interleaved spacing=paper first=0 count=8 dtype=float32"
        )
        self.assertEqual(entries["encode/pytorch/preset:chunk/rows:8/d:512"]["label"], label)
        torch, numpy = (
            entries[f"encode/{program}/rows:700/d:512"] for program in ("pytorch", "numpy")
        )
        # Phases in float32 are off by up to half an ulp of 512, and a few roundings; those in
        # double by too little to matter.
        self.assertTrue(5e-6 < torch["max_abs"] < 2e-4, torch)
        self.assertTrue(2.9e-8 < numpy["max_abs"] < 2.9803e-8, numpy)
        self.assertLess(torch["correctly_rounded"], 0.9)
        self.assertGreater(numpy["correctly_rounded"], 0.9999)

    def test_presets_are_those_of_the_library(self):
        page = subprocess.run(
            [binary("posenc"), "list", "--presets", "--format", "json"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        presets = {each["name"]: each for each in json.loads(page)["presets"]}
        for (rows, d_model), name in PRESETS.items():
            listed = subprocess.run(
                [
                    binary("bench_encode"),
                    "--preset",
                    name,
                    "--backend",
                    "rotation",
                    "--benchmark_list_tests",
                ],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            self.assertIn(f"/preset:{name}/rows:{rows}/d:{d_model}\n", listed)
            if (
                name in presets
            ):  # The others are shapes of benchmarks, which are all of the paper's convention.
                spec, first = presets[name]["spec"], presets[name]["rows"]["first"]
                self.assertEqual(
                    (spec["layout"], spec["spacing"], spec["base"], first),
                    ("interleaved", "paper", 10000, 0),
                )

    def test_wrong_values_fail_the_check(self):
        with tempfile.TemporaryDirectory() as folder:
            wrong = os.path.join(folder, "posenc")
            shutil.copytree(os.path.join(package(), "posenc"), wrong)
            with open(os.path.join(wrong, "__init__.py"), "a", encoding="utf-8") as file:
                file.write(SPOILED)
            done = run(
                "compare_torch.py", "--package", folder, *QUICK, "--shapes", "8x8", "--threads", 1
            )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("values differ by", done.stderr)

    def test_bad_input_is_one_line(self):
        self.assert_refused(self.compare("--shapes", "5000"), "--shapes", "5000", "ROWSxD")
        self.assert_refused(self.compare("--shapes", "8x7"), "8x7", "even")
        self.assert_refused(self.compare("--threads", 0), "--threads", "'0'")
        self.assert_refused(self.compare("--repetitions", "x"), "--repetitions", "'x'")
        self.assert_refused(self.compare("--seconds-per-sample", -1), "-1")
        self.assert_refused(
            self.compare("--shapes", "8x8", "--backend", "none"), "none", "rotation"
        )
        self.assert_refused(
            self.compare("--shapes", "8x8", "--threads", 1, "--output", "/dev/null/x"),
            "/dev/null/x",
        )
        self.assert_refused(
            run("compare_torch.py", "--package", "/nonexistent"), "--package", "/nonexistent"
        )

    def test_skipped_without_torch(self):
        done = run("compare_torch.py", flags=["-S"])  # without site-packages
        self.assertEqual(done.returncode, script_support.SKIPPED)
        self.assertRegex(
            done.stderr, r"^compare_torch.py: skipped: .* has no torch \(Debian: python3-torch\)\n$"
        )


if __name__ == "__main__":
    script_support.main()
