"""Tests scripts/compare_torch.py: the document that other scripts read, and its errors. First
argument: the folder of the built programs."""

import json

import script_support
from script_support import ScriptTest, run


class CompareTorchTest(ScriptTest):
    def test_writes_a_document_of_measurements(self):
        output = self.folder / "torch.json"
        done = run("compare_torch.py", "--processes", 2, "--shapes", "33x20", "8x512",
                   "--output", output)  # fmt: skip
        self.assert_good(done)
        names = ("pytorch", "numpy", "posenc_python")
        self.assertEqual([line.split()[1] for line in sorted(done.stdout.splitlines()[2:])],
                         sorted(f"{name}*" for name in names))  # fmt: skip
        rows = json.loads(output.read_text(encoding="utf-8"))["measurements"]
        errors = {(each["backend"], each["table"]["name"]): each["error"] for each in rows}
        expected = {(name, size) for size in ("33x20", "8x512") for name in names}
        self.assertEqual(errors.keys(), expected)
        for each in rows:
            self.assertEqual((len(each["seconds"]), each["role"]), (2, "peer"))
        rounded, float32 = errors["numpy", "8x512"], errors["pytorch", "8x512"]
        self.assertAlmostEqual(rounded["max_abs"], 2.98e-8, delta=1e-10)
        self.assertAlmostEqual(rounded["max_ulp"], 0.5, delta=0.01)
        self.assertGreater(rounded["correctly_rounded"], 0.999)
        self.assertEqual(errors["posenc_python", "8x512"]["correctly_rounded"], 1)
        self.assertGreater(float32["max_abs"], 1e-7)
        self.assertLess(float32["max_abs"], 1e-6)
        self.assertLess(float32["correctly_rounded"], 0.9)


if __name__ == "__main__":
    script_support.main()
