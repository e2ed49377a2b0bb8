"""Sinusoidal positional encodings, correctly rounded and fast.

>>> import posenc
>>> table = posenc.encode(5000, 512)                  # positions 0 to 4999, float32
>>> encoder = posenc.Encoder(**posenc.preset("whisper"))
>>> rows = encoder.encode(range(1000, 1016), dtype="float16")

Every array that is read or written may be a PyTorch tensor on the CPU. An argument that is not
allowed raises ValueError or TypeError, with a message of one line, before anything is written.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from posenc import _posenc, refusals

refusals.install(_posenc)  # before anything is imported from it

from posenc._posenc import (
    Accuracy, Axes, AxesEncoder, AxisPairs, CheckReport, Encoder, Rotary,
    RotatedReport, __version__, accuracy, axes_alternating, axes_in_blocks, axes_in_sections,
    axes_interleaved, axes_presets, axes_table, backends, cpu, encode_grid,
    encode_like, grid_positions, pick, preset, presets, row_count,
)
from posenc.checking import check, check_rotated
from posenc.frequencies import (
    BaseTurns, LinearScaling, Llama3Scaling, LongRopeScaling, NtkScaling, ProportionalScaling,
    RealPositions, TurnFrequencies, YarnScaling, dynamic_ntk_scaling, real_positions,
)
from posenc.rotary_config import rotary_from_config

__all__ = [
    "__version__", "Accuracy", "accuracy", "Axes", "axes_alternating", "axes_in_blocks",
    "axes_in_sections", "axes_interleaved", "axes_presets", "axes_table", "AxesEncoder",
    "AxisPairs", "backends", "BaseTurns", "check", "check_rotated", "CheckReport", "cpu",
    "dynamic_ntk_scaling", "encode", "encode_grid", "encode_like", "Encoder", "grid_positions",
    "LinearScaling", "Llama3Scaling", "LongRopeScaling", "NtkScaling", "pick",
    "preset", "presets", "ProportionalScaling", "real_positions",
    "RealPositions", "Rotary", "rotary_from_config", "RotatedReport",
    "TurnFrequencies", "YarnScaling",
]


def encode(positions: Any, d_model: int, *, dtype: Any = "float32", threads: int = 1,
           **convention: Any) -> NDArray[Any]:
    """Returns correctly rounded encodings: an array of shape (rows, d_model).

    positions: the number of rows, from position `first` on, or positions as in Encoder.encode().
    convention: base, layout, spacing, frequencies, first, backend or accuracy, as in Encoder().
    """
    rows = row_count(positions)
    encoder = Encoder(d_model, rows=rows, dtype=dtype, **convention)
    return encoder.encode(positions, dtype=dtype, threads=threads)
