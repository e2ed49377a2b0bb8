"""Imports NumPy and PyTorch. Without NumPy, a test of the package is skipped. Without PyTorch,
torch is None."""

import sys

try:
    import numpy as np
    from numpy.testing import assert_array_equal as expect_equal
except ImportError:
    print("Skipped: this Python has no NumPy")
    sys.exit(77)
try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None

__all__ = ["expect_equal", "np", "torch"]
