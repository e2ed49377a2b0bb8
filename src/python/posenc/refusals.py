"""Says in one line what is wrong with the arguments of a call, instead of pybind11's many."""

from __future__ import annotations

import inspect
import math
import operator
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from posenc import _posenc

__all__ = ["reason"]

_RANGES = {"threads": (1, 2**31 - 1), "seed": (0, 2**64 - 1)}  # of others, 64 bits with a sign


def reason(refusal: str, values: Sequence[Any], keywords: Mapping[str, Any] | None) -> str:
    """What to say of a call of the module that pybind11 refuses with this message."""
    found = re.search(r"\n    1\. ([\w.]*)\((.*)\)(?: -> .*)?\n", refusal)
    if found is None:
        return refusal.partition("\n")[0]
    name = refusal.partition("(")[0]
    if found[1]:  # a constructor, whose signature has no self
        name, values = found[1].rpartition(".")[2], values[1:]
    scope: dict[str, Any] = {}
    exec(f"def call({found[2].replace('arg0', 'self')}): ...", scope)
    signature = inspect.signature(scope["call"])
    try:
        given = signature.bind(*values, **(keywords or {})).arguments
    except TypeError as error:
        allowed = ", ".join(each for each in signature.parameters if each != "self") or "none"
        return f"{name}(): {error}; allowed: {allowed}"
    for each, value in given.items():
        parameter = signature.parameters[each]
        # Versions of pybind11 differ in the rest: Optional[int] is SupportsInt | None as well.
        words = set(re.findall(r"[A-Za-z]+|\d+", parameter.annotation.replace("Supports", "")))
        is_optional = parameter.default is None or bool(words & {"None", "Optional"})
        allowed, fits = _kind(each, {word.lower() if word in _NUMBERS else word for word in words})
        if not (value is None and is_optional) and not fits(value):
            return f"{each} is {_shown(value)}; allowed: {allowed}{', None' * is_optional}"
    for each, value in given.items():
        if type(value).__module__ == _posenc.__name__:  # of the right class, and yet refused
            return f"{each} was made without __init__(); allowed: an object that was initialised"
    return f"{name}() has an argument of a wrong type; allowed: {found[2]}"


def _shown(value: Any) -> str:
    """The value, or its type if it may be long."""
    is_short = isinstance(value, (str, bytes, int, float, complex, list, tuple, type(None)))
    return " ".join(reprlib.repr(value).split()) if is_short else f"of type {type(value).__name__}"


_NUMBERS = {"Float", "Int"}
_Fits = Callable[[Any], bool]


def _kind(argument: str, words: set[str]) -> tuple[str, _Fits]:
    """What an annotation with these words allows, and whether a value fits."""
    if words & {"List", "list", "Sequence"}:
        each, fits = _kind("", words - {"List", "list", "Sequence"})
        count = next((int(word) for word in words if word.isdigit()), None)
        size = f" of {count}" if count else ""
        return f"a sequence{size}, of which each is {each}", lambda value: (
            isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))
            and count in (None, len(value)) and all(map(fits, value)))
    if "float" in words:
        return "a number", lambda value: _converts(math.isnan, value)
    if "int" in words:
        least, most = _RANGES.get(argument, (-(2**63), 2**63 - 1))
        text = f"an integer from {least} to {most}" if argument in _RANGES else "a 64-bit integer"
        return text, lambda value: (
            _converts(operator.index, value) and least <= operator.index(value) <= most)
    if "bool" in words:
        return "True, False", lambda value: (
            value is None or (hasattr(type(value), "__bool__") and _converts(bool, value)))
    if "str" in words:
        return "a text", lambda value: isinstance(value, str)
    for word in words & set(vars(_posenc)):
        if isinstance(vars(_posenc)[word], type):
            return word, lambda value: isinstance(value, vars(_posenc)[word])
    return "", lambda value: True


def _converts(convert: Callable[[Any], object], value: Any) -> bool:
    try:
        convert(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
