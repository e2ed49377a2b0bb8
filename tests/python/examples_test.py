"""Tests that every block of Python in the pages is a complete program."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

if importlib.util.find_spec("numpy") is None:
    print("Skipped: this Python has no NumPy")
    sys.exit(77)
HAS_TORCH = importlib.util.find_spec("torch") is not None
# The folder of the C interface as a shared library is in this variable, if the library is built.
HAS_C = any(pathlib.Path(folder, "libposenc_c.so").exists()
            for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"))

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The output of a block may stand below it; its lines may be broken at other places.
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n<!-- prints -->\n\n```\n(.*?)^```$)?",
                   re.MULTILINE | re.DOTALL)
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
         if BLOCK.search(page.read_text())]
# The file that examples read.
CONFIG = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
          "max_position_embeddings": 4096}  # fmt: skip


class ExamplesTest(unittest.TestCase):
    def test_every_block_runs(self):
        self.addCleanup(os.chdir, os.getcwd())
        ran = 0
        for page in PAGES:
            for number, (block, shown) in enumerate(BLOCK.findall(page.read_text()), 1):
                if not HAS_TORCH and re.search(r"^import (posenc\.)?torch", block, re.MULTILINE):
                    print(f"Left out: {page.name} {number}, since there is no PyTorch")
                    continue
                if not HAS_C and "libposenc_c" in block:
                    print(f"Left out: {page.name} {number}, since there is no libposenc_c.so")
                    continue
                with self.subTest(page.name, number=number), tempfile.TemporaryDirectory() as here:
                    pathlib.Path(here, "config.json").write_text(json.dumps(CONFIG))
                    printed = io.StringIO()
                    # One process, because importing PyTorch takes longer than most examples.
                    os.chdir(here)
                    with contextlib.redirect_stdout(printed):
                        exec(compile(block, page.name, "exec"), {"__name__": "__main__"})
                    if shown:
                        self.assertEqual(printed.getvalue().split(), shown.split())
                ran += 1
        self.assertGreater(ran, 3)

    @unittest.skipUnless(HAS_TORCH, "no PyTorch")
    def test_the_input_of_a_transformer_is_the_same_in_both_languages(self):
        examples = ROOT / "docs" / "examples"
        run = subprocess.run([sys.executable, examples / "transformer_input.py"], text=True,
                             capture_output=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        # The C++ program compares its own numbers with these numbers.
        stated = re.findall(r"(-?\d\.\d{4})F", (examples / "transformer_input.cpp").read_text())
        self.assertEqual(re.findall(r"-?\d\.\d{4}", run.stdout), stated)
        self.assertEqual(len(stated), 3 * (4 + 4 + 4 + 5 + 5))
        for line in ("[[ 0.0000,  1.0000,  0.0000,  1.0000],", " [ 0.8415,  0.5403,  0.0100, "):
            self.assertIn(line, run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
