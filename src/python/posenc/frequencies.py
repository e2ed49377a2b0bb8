"""Frequencies other than those of a base: the rules that models with a long context have.

Each is an argument `frequencies` of Encoder, PositionalEncoding and Rotary, as is a sequence of
d_model / 2 frequencies in radians per position. w_k is the frequency of the base, s the factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from posenc._posenc import dynamic_ntk_factor, round_positions

__all__ = [
    "BaseTurns",
    "LinearScaling",
    "Llama3Scaling",
    "LongRopeScaling",
    "NtkScaling",
    "ProportionalScaling",
    "RealPositions",
    "TurnFrequencies",
    "YarnScaling",
    "dynamic_ntk_scaling",
    "real_positions",
]


@dataclass(frozen=True)
class LinearScaling:
    """w_k / s: position interpolation. Position p is the real position p / s."""

    rule: ClassVar[str] = "linear"
    factor: float


class RealPositions(NamedTuple):
    """Positions that are not integers: Encoder(..., frequencies=frequencies).encode(multiples)."""

    multiples: NDArray[np.int64]  # of 1 / frequencies.factor
    frequencies: LinearScaling
    max_error: float  # the largest |multiple / factor - position|; 0 if all are exact


def real_positions(positions: Sequence[float] | NDArray[np.floating[Any]],
                   denominator: float | None = None) -> RealPositions:
    """Real positions, of magnitudes up to 2**53, as integer multiples of 1 / denominator.

    positions: one dimension of float16, bfloat16, float32, float64 or integers.
    denominator: a power of two, 1 to 2**64, so that one encoder serves all calls. None takes the
    smallest one that makes the positions exact, or else the largest that is possible: max_error is
    then at most 2**-53 of the largest position, or 2**-65 if that is more. An entry changes by at
    most max_error times its frequency before the division. Raises ValueError if an argument is not
    allowed.
    """
    given = np.asarray(positions)
    is_integer = given.dtype.kind in "iu"
    is_real = given.dtype.name in ("float16", "bfloat16", "float32", "float64")
    if not is_integer and not is_real and given.size > 0:
        allowed = "float16, bfloat16, float32, float64 or integers"
        raise ValueError(f"positions has dtype {given.dtype}; allowed: {allowed}")
    if is_integer and given.size > 0 and not -(2**53) <= given.min() <= given.max() <= 2**53:
        far = given.max() if given.max() > 2**53 else given.min()
        raise ValueError(f"positions has {far}; allowed: {-(2**53)} to {2**53}")
    multiples, factor, max_error = round_positions(given.astype(np.float64), denominator)
    return RealPositions(multiples, LinearScaling(factor), max_error)


@dataclass(frozen=True)
class NtkScaling:
    """The base becomes base * s ** (d / (d - 2)): NTK-aware scaling."""

    rule: ClassVar[str] = "ntk"
    factor: float


def dynamic_ntk_scaling(factor: float, trained_rows: int, rows: int) -> NtkScaling:
    """Dynamic NTK, for a sequence of `rows` rows."""
    return NtkScaling(dynamic_ntk_factor(factor, trained_rows, rows))


@dataclass(frozen=True)
class YarnScaling:
    """YaRN: w_k for fast frequencies, w_k / s for slow ones, a ramp between.

    Frequencies that turn beta_fast times or more in trained_rows rows are fast, those that turn
    beta_slow times or less are slow. attention_factor: what Rotary multiplies its cosines and sines
    by; 0 stands for 0.1 ln s + 1. Encodings apply none and take 1 alone.
    """

    rule: ClassVar[str] = "yarn"
    factor: float
    trained_rows: int = 4096
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    attention_factor: float = 0.0


@dataclass(frozen=True)
class Llama3Scaling:
    """Llama 3.1's: w_k / s below low_frequency_factor turns in trained_rows rows, w_k above
    high_frequency_factor turns, a ramp between."""

    rule: ClassVar[str] = "llama3"
    factor: float = 8.0
    trained_rows: int = 8192
    low_frequency_factor: float = 1.0
    high_frequency_factor: float = 4.0


@dataclass(frozen=True)
class LongRopeScaling:
    """LongRoPE: w_k / factors[k].

    attention_factor: what Rotary multiplies its cosines and sines by, sqrt(1 + ln s / ln rows) for
    a model that was trained with that many rows and extended by s; it has to be given. Encodings
    apply none and take 1 alone.
    """

    rule: ClassVar[str] = "longrope"
    factors: Sequence[float]
    attention_factor: float = 0.0


@dataclass(frozen=True)
class ProportionalScaling:
    """w_k / s for the first `turned` frequencies, and 0 for the others (Gemma 4)."""

    rule: ClassVar[str] = "proportional"
    factor: float = 1.0
    turned: int = 0


@dataclass(frozen=True)
class TurnFrequencies:
    """Exact frequencies in turns: numerators[k] / denominators[k] of a turn per position.

    Sines and cosines that are 0, 1/2 or 1 are exactly that. pi 2^j is 2^j / 2 of a turn.
    """

    rule: ClassVar[str] = "turns"
    numerators: Sequence[int]
    denominators: Sequence[int]


@dataclass(frozen=True)
class BaseTurns:
    """w_k numerator / denominator turns per position, instead of w_k radians (DINOv3, LTX)."""

    rule: ClassVar[str] = "base_turns"
    numerator: int = 1
    denominator: int = 1


Scaling = Union[
    LinearScaling,
    NtkScaling,
    YarnScaling,
    Llama3Scaling,
    LongRopeScaling,
    ProportionalScaling,
    TurnFrequencies,
    BaseTurns,
]
