"""Changed sources are refused: a constant below what was proven, a wrong coefficient, another
formula. Each change is made in a copy of the sources, for which the claims are checked."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = FOLDER.parent / "src" / "posenc"
ANCHORS = "simd/anchors-inl.h"
SKIPPED = 77


def check(root: pathlib.Path, claim: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, FOLDER / "check.py", claim],
        env=os.environ | {"POSENC_PROOFS_ROOT": str(root)},
        capture_output=True,
        text=True,
    )


class Refusals(unittest.TestCase):
    def expect_refused(self, claim: str, path: str, old: str, new: str, reason: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copytree(SOURCES, root / "src" / "posenc")
            self.assertEqual(check(root, claim).returncode, 0)
            file = root / "src" / "posenc" / path
            text = file.read_text(encoding="utf-8")
            self.assertEqual(text.count(old), 1, old)
            file.write_text(text.replace(old, new), encoding="utf-8")
            run = check(root, claim)
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            self.assertIn(reason, run.stdout)

    def test_constant_below_its_bound(self) -> None:
        self.expect_refused(
            "anchor_cosine",
            "simd/error_bounds.h",
            "anchor_cosine = 2,",
            "anchor_cosine = 1.9,",
            "the constant RotationError.anchor_cosine is 1.9, below what was proven: 1.91",
        )

    def test_coefficient_in_its_last_digit(self) -> None:
        self.expect_refused(
            "cosine_polynomial", ANCHORS, "0x1.555555555554cp-5", "0x1.555555555554dp-5", "false"
        )
        self.expect_refused(
            "sine_polynomial", ANCHORS, "0x1.1111111110c8bp-7", "0x1.1111111110d8bp-7", "false"
        )

    def test_other_double_of_pi(self) -> None:
        self.expect_refused(
            "angle_long", ANCHORS, "6.283185307179586,", "6.283185307179588,", "not satisfied"
        )

    def test_other_formula(self) -> None:
        self.expect_refused(
            "sine_evaluation",
            ANCHORS,
            "sine[i] = fused(sine[i] * square[i], x[i], x[i]);",
            "sine[i] = sine[i] * square[i] * x[i] + x[i];",
            "no longer holds",
        )


if __name__ == "__main__":
    if any(shutil.which(program) is None for program in ("sollya", "gappa", "coqc")):
        print("skipped: a checker is missing (proofs/check.sh --install installs them)")
        sys.exit(SKIPPED)
    unittest.main()
