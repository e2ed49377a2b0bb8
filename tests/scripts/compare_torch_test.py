"""Tests scripts/compare_torch.py: the document that other scripts read, errors, and bad input.
First argument: the folder of the built programs."""

import json
import os

import script_support
from script_support import ScriptTest, binary, run, skip_without

skip_without("torch", "numpy")


class CompareTorchTest(ScriptTest):
    def compare(self, *arguments):
        """Runs the script with the package that was built beside the programs."""
        package = os.path.join(os.path.dirname(os.path.dirname(binary("posenc"))), "python")
        common = ("--processes", 2, "--posenc", binary("posenc"))
        return run("compare_torch.py", *common, *arguments, PYTHONPATH=package)

    def test_writes_a_document_of_measurements(self):
        output = self.folder / "torch.json"
        done = self.compare("--shapes", "33x20", "8x512", "--output", output)
        self.assert_good(done)
        works = [line.split("  ")[0] for line in done.stdout.splitlines()[1:5]]
        self.assertEqual(sorted({*works}), ["kept table", "new table"])
        rows = json.loads(output.read_text(encoding="utf-8"))["measurements"]
        names = [(each["backend"], each["table"]["name"], each["role"]) for each in rows]
        expected = [(name, size, "peer") for size in ("33x20", "8x512")
                    for name in ("pytorch", "numpy")]  # fmt: skip
        self.assertEqual(sorted(names), sorted(expected))
        errors = {(each["backend"], each["table"]["name"]): each["error"] for each in rows}
        for each in rows:
            self.assertEqual(len(each["seconds"]), 2)
        rounded = errors["numpy", "8x512"]
        self.assertAlmostEqual(rounded["max_abs"], 2.98e-8, delta=1e-10)
        self.assertAlmostEqual(rounded["max_ulp"], 0.5, delta=0.01)
        self.assertGreater(rounded["correctly_rounded"], 0.999)
        self.assertGreater(errors["pytorch", "8x512"]["max_abs"], 1e-7)
        self.assertLess(errors["pytorch", "8x512"]["max_abs"], 1e-6)
        self.assertLess(errors["pytorch", "8x512"]["correctly_rounded"], 0.9)
        done = run("report.py", output, "--peers")
        self.assert_good(done)
        row = r"\n\| pytorch\* \| [0-9.]+ \| [0-9.]+ \| \d\.\d\de-7.* \|\n"
        self.assertRegex(done.stdout, row)

    def test_bad_input_is_one_line(self):
        for shape in ("8x511", "0x512", "8", "8x512x512", "99999999x99999998", "axb"):
            self.assert_refused(self.compare("--shapes", shape), "--shapes", shape, "ROWSxD")
        self.assert_refused(self.compare("--output", "/dev/null/x"), "--output", "/dev/null/x")


if __name__ == "__main__":
    script_support.main()
