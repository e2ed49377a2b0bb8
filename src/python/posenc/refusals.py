"""Replaces pybind11's long messages about wrong arguments with messages of one line."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from posenc import _posenc

_RANGES = {"threads": (1, 2**31 - 1)}  # other integers are signed, of 64 bits


def _worded(function: Any) -> Any:
    """Wraps the function, so that its refusals take one line."""
    @functools.wraps(function)
    def call(*values: Any, **keywords: Any) -> Any:
        try:
            return function(*values, **keywords)
        except TypeError as error:
            if "(): incompatible " not in str(error):
                raise
            raise TypeError(_reason(str(error), values, keywords)) from None
    return call


def _refuse_pickle(self: Any) -> Any:
    name = type(self).__name__
    raise TypeError(f"{name} is not pickled; allowed: objects that arguments make again")


def install(scope: Any) -> None:
    """Wraps the functions of the compiled module, or the members of one of its classes."""
    for name, member in list(vars(scope).items()):
        if isinstance(member, type):
            install(member)
            # With Python's own __reduce__, protocols before 2 make an object of pybind11's base
            # class, which ends the process.
            if "__reduce__" not in vars(member):
                setattr(member, "__reduce__", _refuse_pickle)
        elif isinstance(member, property):
            setattr(scope, name, property(_worded(member.fget), doc=member.__doc__))
        elif isinstance(member, staticmethod):
            setattr(scope, name, staticmethod(_worded(member.__func__)))
        elif callable(member):
            setattr(scope, name, _worded(member))


def _reason(refusal: str, values: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """The reason, in one line, why pybind11 refused a call of the module with this message."""
    found = re.search(r"\n    1\. ([\w.]*)\((.*)\)(?: -> .*)?\n", refusal)
    if found is None:
        return refusal.partition("\n")[0]
    name = refusal.partition("(")[0]
    if found[1]:  # a constructor: its signature has no self
        name, values = found[1].rpartition(".")[2], values[1:]
    scope: dict[str, Any] = {}
    exec(f"def call({found[2].replace('arg0', 'self')}): ...", scope)
    signature = inspect.signature(scope["call"])
    try:
        given = signature.bind(*values, **keywords).arguments
    except TypeError as error:
        allowed = ", ".join(each for each in signature.parameters if each != "self") or "none"
        return f"{name}(): {error}; allowed: {allowed}"
    for each, value in given.items():
        parameter = signature.parameters[each]
        # Only the words count: versions of pybind11 write Optional[int] or SupportsInt | None.
        words = set(re.findall(r"[A-Za-z]+|\d+", parameter.annotation.replace("Supports", "")))
        is_optional = parameter.default is None or bool(words & {"None", "Optional"})
        allowed, check = _kind(each, {word.lower() if word in ("Float", "Int") else word
                                      for word in words})
        try:
            if not (value is None and is_optional):
                check(value)
        except (AttributeError, TypeError, ValueError, OverflowError):
            is_short = isinstance(value, (str, bytes, int, float, complex, list, tuple, type(None)))
            shown = " ".join(reprlib.repr(value).split()) if is_short else (
                f"of type {type(value).__name__}")
            return f"{each} is {shown}; allowed: {allowed}{', None' * is_optional}"
    for each, value in given.items():
        if type(value).__module__ == _posenc.__name__:  # the class is right, but it is refused
            return f"{each} was made without __init__(); allowed: an object that was initialised"
    return f"{name}() has an argument of a wrong type; allowed: {found[2]}"


def _kind(argument: str, words: set[str]) -> tuple[str, Callable[[Any], object]]:
    """The values that an annotation with these words allows; a function that raises for others."""
    if words & {"List", "list", "Sequence"}:
        each, check = _kind("", words - {"List", "list", "Sequence"})
        count = next((int(word) for word in words if word.isdigit()), None)

        def check_all(value: Any) -> None:
            _instance(Sequence, np.ndarray)(value)
            if isinstance(value, (str, bytes)) or count not in (None, len(value)):
                raise ValueError
            for one in value:
                check(one)

        return f"a sequence{f' of {count}' if count else ''}, of which each is {each}", check_all
    if "float" in words:
        return "a number", math.isnan
    if "int" in words:
        least, most = _RANGES.get(argument, (-(2**63), 2**63 - 1))
        text = f"an integer from {least} to {most}" if argument in _RANGES else "a 64-bit integer"
        return text, lambda value: range(least, most + 1).index(operator.index(value))
    if "bool" in words:
        return "True, False", lambda value: type(value).__bool__(value)
    if "str" in words:
        return "a text", _instance(str)
    kinds = {word: vars(_posenc)[word] for word in words if word in vars(_posenc)}
    return ", ".join(kinds), _instance(*kinds.values()) if kinds else lambda value: None


def _instance(*kinds: type) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        if not isinstance(value, kinds):
            raise TypeError
    return check
