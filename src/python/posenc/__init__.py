"""Sinusoidal positional encodings, correctly rounded and fast.

>>> import posenc
>>> table = posenc.encode(5000, 512)                  # positions 0 to 4999, float32
>>> encoder = posenc.Encoder(**posenc.preset("whisper"))
>>> rows = encoder.encode(range(1000, 1016), dtype="float16")

Every array that is read or written may be a PyTorch tensor on the CPU. An argument that is not
allowed raises ValueError or TypeError, with a message of one line, before anything is written.
"""

from __future__ import annotations

from posenc._posenc import (
    __version__, axes_presets, backends, cpu, known_model_types, presets,
)
from posenc.checking import CheckReport, RotatedReport, check, check_rotated
from posenc.encoders import (
    Axes, AxesEncoder, AxisPairs, Encoder, axes_alternating, axes_in_blocks,
    axes_in_sections, axes_interleaved, axes_table, encode, encode_grid, encode_like,
    grid_positions, pick, preset,
)
from posenc.frequencies import (
    BaseTurns, LinearScaling, Llama3Scaling, LongRopeScaling, NtkScaling, ProportionalScaling,
    RealPositions, TurnFrequencies, YarnScaling, dynamic_ntk_scaling, real_positions,
)
from posenc.rotary import Rotary, rotary_from_config

__all__ = [
    "__version__", "Axes", "axes_alternating", "axes_in_blocks", "axes_in_sections",
    "axes_interleaved", "axes_presets", "axes_table", "AxesEncoder", "AxisPairs", "backends",
    "BaseTurns", "check", "check_rotated", "CheckReport", "cpu", "dynamic_ntk_scaling", "encode",
    "encode_grid", "encode_like", "Encoder", "grid_positions", "known_model_types",
    "LinearScaling", "Llama3Scaling", "LongRopeScaling", "NtkScaling", "pick", "preset", "presets",
    "ProportionalScaling", "real_positions", "RealPositions", "Rotary", "rotary_from_config",
    "RotatedReport", "TurnFrequencies", "YarnScaling",
]
