"""The rules of frequencies of long-context models, and real positions.

The argument `frequencies` of Encoder and Rotary takes a rule, the text of a rule, or a sequence of
d_model / 2 frequencies in radians per position. Parameters and defaults are the same as in the
library: docs/frequencies.md and posenc/frequency_rule.h have the formulas.
"""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc._posenc import dynamic_ntk_factor, frequency_rule, round_positions
from posenc.arguments import values_of


def _text_of(value: Any, name: str) -> str:
    """The text of a parameter: a number, or the numbers of a sequence, an array or a tensor."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "/".join(_text_of(each, name) for each in value)
    if isinstance(value, bool):
        return str(value).lower()
    if hasattr(type(value), "__index__"):
        return str(operator.index(value))
    if isinstance(value, str) or not hasattr(type(value), "__float__"):
        raise TypeError(f"{name} is {value!r}; allowed: a number, or a sequence of numbers")
    return repr(float(value) + 0.0)  # -0.0 is 0.0


def _value_of(text: str) -> Any:
    words: dict[str, Any] = {"true": True, "false": False, "": ()}
    return words[text] if text in words else int(text) if text.isdigit() else float(text)


def _rule(name: str, rule: str, doc: str) -> Any:
    """Makes the class of a rule. str() of a rule is the text that the library reads."""
    defaults = re.findall(r"[:,](\w+)=([^,]*)", frequency_rule(rule))

    def text(self: Any) -> str:
        return f"{rule}:" + ",".join(f"{each}={_text_of(getattr(self, each), each)}"
                                     for each, _ in defaults)

    fields: list[Any] = [(each, Any, _value_of(value)) for each, value in defaults]
    made = dataclasses.make_dataclass(name, fields, frozen=True, namespace={
        "rule": rule, "__doc__": doc, "__str__": text, "__module__": __name__})
    return made


LinearScaling = _rule(
    "LinearScaling", "linear",
    "Position interpolation, by which position p is the real position p / factor.")
NtkScaling = _rule("NtkScaling", "ntk", "NTK-aware scaling: a larger base.")
YarnScaling = _rule("YarnScaling", "yarn", """YaRN.

    attention_factor: the factor of Rotary's cosines and sines. 0 stands for 0.1 ln factor + 1.
    Encodings apply no factor and accept only 1.""")
Llama3Scaling = _rule("Llama3Scaling", "llama3", "The rule of Llama 3.1.")
LongRopeScaling = _rule("LongRopeScaling", "longrope", """LongRoPE, with the factors of a model.

    attention_factor: as in YarnScaling, but it must be given. For a model that was trained with
    `rows` rows and extended by s, it is sqrt(1 + ln s / ln rows).""")
ProportionalScaling = _rule("ProportionalScaling", "proportional",
                            "Divides the first `turned` frequencies; the others are 0 (Gemma 4).")
TurnFrequencies = _rule("TurnFrequencies", "turns",
                        "Frequency k is numerators[k] / denominators[k] of a turn per position.")
BaseTurns = _rule("BaseTurns", "base_turns",
                  "The base's frequencies in turns instead of radians (DINOv3, LTX).")


def dynamic_ntk_scaling(factor: float, trained_rows: int, rows: int) -> Any:
    """Returns the NtkScaling of dynamic NTK for a sequence of `rows` rows."""
    return NtkScaling(dynamic_ntk_factor(factor, trained_rows, rows))


class RealPositions(NamedTuple):
    """Positions that are not integers: Encoder(..., frequencies=frequencies).encode(multiples)."""

    multiples: NDArray[np.int64]  # multiples of 1 / frequencies.factor
    frequencies: Any  # a LinearScaling
    max_error: float  # the largest |multiple / factor - position|; 0 if all are exact


def real_positions(positions: Sequence[float] | NDArray[np.floating[Any]],
                   denominator: float | None = None) -> RealPositions:
    """Returns real positions as integer multiples of 1 / denominator.

    positions: one dimension of real numbers that are values of float64. With `denominator`, their
    magnitudes are at most 2**53 / denominator; without, at most 2**53.
    denominator: a power of two, 1 to 2**64, so that one encoder serves all calls. None takes the
    smallest power that makes the positions exact, or else the largest possible power. In the second
    case, max_error is at most 2**-53 of the largest position, or 2**-65 if this is more. An entry
    changes by at most max_error times its frequency before the division.
    """
    given = values_of(positions, "positions", "real numbers")
    if not np.can_cast(given.dtype, np.float64, "same_kind"):
        raise ValueError(f"positions has dtype {given.dtype}; allowed: real numbers")
    wide = given.astype(np.float64)
    with np.errstate(invalid="ignore"):  # casting the largest integers back may overflow
        off = given[(wide.astype(given.dtype) != given) & (given == given)]
    if off.size > 0:
        raise ValueError(f"positions has {off[0]}; allowed: values of float64")
    if wide.ndim != 1:
        raise ValueError(f"positions.shape is {wide.shape}; allowed: one dimension")
    multiples, factor, max_error = round_positions(wide, denominator)
    return RealPositions(multiples, LinearScaling(factor), max_error)
