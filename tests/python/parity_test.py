"""Compares encode_like() with the formulas of other systems in NumPy and PyTorch."""

import math
import unittest

from modules import expect_equal, np, torch

import posenc

f32 = np.float32


def rounded(function, *arguments):
    """The function in float64, rounded to float32, like the result of an expf without an error."""
    return function(*(np.asarray(each, np.float64) for each in arguments)).astype(f32)


def inverse_frequencies(base, d):
    exponents = np.arange(0, d, 2).astype(f32) / f32(d)
    return f32(1) / rounded(np.power, f32(base), exponents)


class ParityTest(unittest.TestCase):
    def test_arguments(self):
        table = posenc.encode_like("tutorial", 3, 8, first=7)
        expect_equal(table, posenc.encode_like("tutorial", range(7, 10), 8))
        for bad, message in (
                (dict(system="torch"), "system is 'torch'; allowed: tutorial, transformers"),
                (dict(spacing="inclusive"),
                 "spacing is inclusive; allowed for system tutorial: paper")):
            arguments = dict(system="tutorial", positions=3, d_model=8) | bad
            with self.assertRaisesRegex(ValueError, message):
                posenc.encode_like(**arguments)


# If the CPU has AVX2, Debian's PyTorch takes sin and cos of float32 from SLEEF. PyTorch 1.13 uses
# functions with an error bound of 1 ulp (Sleef_sinf8_u10), and 2.6 and 2.14 use functions with a
# bound of 3.5 ulp (Sleef_sinf8_u35). Without AVX2, the functions are the C library's, whose error
# is smaller. Half an ulp is the rounding of the table itself.
SINE_ULPS = 3.5 + 0.5


@unittest.skipIf(torch is None, "this Python has no PyTorch")
class TorchTest(unittest.TestCase):
    """PyTorch's exp and pow of float32 are off by an ulp in some channels. In these channels,
    phases differ by an ulp of the frequency; in the other channels, phases are equal."""

    def expect_close(self, frequencies, phases, table, exact):
        same = np.asarray(frequencies == exact)
        self.assertGreater(same.mean(), 0.7)
        self.assertLessEqual(np.abs(frequencies / exact - 1).max(), 2.0**-22)
        phases = phases[:, torch.from_numpy(same)].contiguous()
        half = table.shape[1] // 2
        sines, cosines = table[:, :half][:, same], table[:, half:][:, same]
        for ours, function in ((sines, "sin"), (cosines, "cos")):
            expect_equal(ours, rounded(getattr(np, function), phases.numpy()))
            theirs = getattr(torch, function)(phases).numpy()
            ulps = np.abs(theirs - ours) / np.spacing(np.abs(ours))
            self.assertLessEqual(ulps.max(), SINE_ULPS, function)

    def test_the_tutorial(self):
        d = 512
        div_term = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
        phases = torch.arange(0, 5000).unsqueeze(1) * div_term
        step = f32(-math.log(10000.0) / d)
        self.expect_close(div_term.numpy(), phases,
                          posenc.encode_like("tutorial", 5000, d, layout="halves"),
                          rounded(np.exp, np.arange(0, d, 2).astype(f32) * step))

    def test_transformers(self):
        d = 128
        inv_freq = 1.0 / (500000.0 ** (torch.arange(0, d, 2, dtype=torch.int64).float() / d))
        phases = (inv_freq[:, None] @ torch.arange(4096).float()[None, :]).T
        self.expect_close(inv_freq.numpy(), phases,
                          posenc.encode_like("transformers", 4096, d, base=5e5, layout="halves"),
                          inverse_frequencies(500000.0, d))

    def test_yarn_of_transformers(self):
        """The operations after the powers are PyTorch's own, and so are their roundings.
        tests/suite/parity_test.cpp has the other rules."""
        d, factor = 128, 8.0
        powers = rounded(np.power, f32(500000.0), np.arange(0, d, 2).astype(f32) / f32(d))
        powers = torch.from_numpy(powers)
        low, high = 18, 35  # find_correction_range() with beta_fast 32 and beta_slow 1
        ramp = torch.clamp((torch.arange(d // 2, dtype=torch.float32) - low) / (high - low), 0, 1)
        share = 1 - ramp
        yarn = 1.0 / (factor * powers) * (1 - share) + 1.0 / powers * share
        positions = range(131000, 131050)
        phases = np.array(positions, f32)[:, None] * yarn.numpy()
        table = posenc.encode_like("transformers", positions, d, base=5e5, layout="halves",
                                   frequencies=posenc.YarnScaling(factor, 8192, attention_factor=1))
        expect_equal(table, np.hstack([rounded(np.sin, phases), rounded(np.cos, phases)]))


if __name__ == "__main__":
    unittest.main()
