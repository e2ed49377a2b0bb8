"""Says in one line what is wrong with the arguments of a call, instead of pybind11's many."""

from __future__ import annotations

import ast
import inspect
import re
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posenc import _posenc

__all__ = ["reason"]

# Integers of the module have 64 bits with a sign, but for these.
_RANGES = {"threads": (1, 2**31 - 1), "seed": (0, 2**64 - 1)}
_NUMBERS: dict[str, tuple[type, tuple[str, ...]]] = {
    "int": (int, ("__index__",)), "float": (float, ("__float__", "__index__")),
    "bool": (bool, ("__bool__",))}
_OTHER_NAMES = {"List": "list", "Sequence": "list", "Tuple": "tuple", "SupportsInt": "int",
                "SupportsIndex": "int", "SupportsFloat": "float", "NDArray": "ndarray"}
_CLASSES = {"str": str, "tuple": tuple, "ndarray": np.ndarray, "None": type(None)}
_TEXTS = {"float": "a number", "bool": "True, False", "str": "a text", "ndarray": "a NumPy array"}


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
    kinds = {each: ast.parse(parameter.annotation, mode="eval").body
             for each, parameter in signature.parameters.items()}
    for each, value in given.items():
        is_default = value is None and signature.parameters[each].default is None
        if not is_default and not _fits(each, kinds[each], value):
            allowed = _text(each, kinds[each])
            is_optional = signature.parameters[each].default is None and "None" not in allowed
            return f"{each} is {_shown(value)}; allowed: {allowed}{', None' * is_optional}"
    for each, value in given.items():
        if type(value).__module__ == _posenc.__name__:  # of the right class, and yet refused
            return f"{each} was made without __init__(); allowed: an object that was initialised"
    return f"{name}() has an argument of a wrong type; allowed: {found[2]}"


def _shown(value: Any) -> str:
    """The value, or its type if it may be long."""
    is_short = isinstance(value, (str, bytes, int, float, complex, list, tuple, type(None)))
    return " ".join(reprlib.repr(value).split()) if is_short else f"of type {type(value).__name__}"


def _parts(kind: ast.expr) -> tuple[str, list[ast.expr]]:
    """The name of a kind, as "list", and what it has in brackets. Versions of pybind11 differ."""
    if isinstance(kind, ast.BinOp):
        return "union", [kind.left, kind.right]
    if isinstance(kind, ast.Subscript):
        inner = kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
        name = _parts(kind.value)[0]
        return ("union", [*inner, ast.Name("None")]) if name == "Optional" else (name, inner)
    name = _last(kind)
    return _OTHER_NAMES.get(name, name), []


def _last(kind: ast.expr) -> str:
    return ast.unparse(kind).rpartition(".")[2]


def _fits(argument: str, kind: ast.expr, value: Any) -> bool:
    name, inner = _parts(kind)
    if name == "union":
        return any(_fits(argument, each, value) for each in inner)
    if name in _NUMBERS:
        number, methods = _NUMBERS[name]
        if not any(hasattr(type(value), each) for each in methods):
            return name == "bool" and value is None
        least, most = _RANGES.get(argument, (-(2**63), 2**63 - 1))
        try:
            converted = number(value)
        except (TypeError, ValueError, OverflowError):
            return False
        return name != "int" or least <= converted <= most
    if name == "list":
        is_list = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))
        return is_list and all(_fits("", inner[0], each) for each in value)
    if name == "tuple" and inner:
        is_like_it = isinstance(value, Sequence) and len(value) == len(inner)
        return is_like_it and all(_fits("", *each) for each in zip(inner, value))
    if name == "ndarray" and inner:
        return np.can_cast(np.asarray(value).dtype, _last(inner[0]))
    return isinstance(value, _CLASSES.get(name, getattr(_posenc, name, object)))


def _text(argument: str, kind: ast.expr) -> str:
    name, inner = _parts(kind)
    if name == "union":
        return ", ".join(dict.fromkeys(_text(argument, each) for each in inner))
    if name == "list":
        return f"a sequence, of which each is {_text('', inner[0])}"
    if name == "tuple":
        return f"({', '.join(_text('', each) for each in inner)})"
    if name == "int" and argument in _RANGES:
        return "an integer from {} to {}".format(*_RANGES[argument])
    return "a 64-bit integer" if name == "int" else _TEXTS.get(name, name)
