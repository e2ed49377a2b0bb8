"""Writes _posenc.pyi, the types of the compiled module, from the signatures in its docstrings.

Usage: stubs.py MODULE OUTPUT. What C++ takes as an object has one type for each argument name.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEAD = '''"""The compiled module. Arrays are those of NumPy, or tensors of PyTorch on the CPU."""

import collections.abc
import typing
from collections.abc import Sequence
from typing import Any, List, Optional, SupportsIndex, Tuple, TypeVar, Union, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

from posenc.frequencies import Scaling

__version__: str

Array = Any
NewArray = NDArray[Any]
DType = Any
Positions = Union[range, Sequence[int], Array, SupportsIndex]
Frequencies = Union[Scaling, Sequence[float], Array, str]
Given = TypeVar("Given", bound=typing.Sized)  # an array or several, but not None
'''
ARGUMENTS = {
    "accuracy": "Accuracy | float", "axes": "Axes", "cache": "Array | tuple[Array, Array]",
    "dtype": "DType", "frequencies": "Frequencies", "gradient": "Array", "out": "None",
    "positions": "Positions", "table": "Array", "x": "Array",
    # Only of these functions.
    "accuracy.positions": "range", "error_bound.positions": "range",
    "encode_like.positions": "range | SupportsIndex",
}
# Arguments that are returned if they are given.
RETURNED = ("out", "gradient", "x")
RESULTS = {
    "object": "NewArray", "dict": "dict[str, Any]", "causes": "list[tuple[str, str]]",
    "cosines_and_sines": "tuple[NewArray, NewArray]", "__iter__": "Cursor",
    "axes_table": "tuple[Axes, NDArray[numpy.int64]]", "axes_presets": "dict[str, str]",
    "round_positions": "tuple[NDArray[numpy.int64], float, float]", "presets": "dict[str, str]",
    "pick": "list[dict[str, Any]]",
}
SPECIAL = ("__init__", "__iter__", "__next__")


def plain(kind: ast.expr | None) -> str:
    """A type as mypy reads it. The versions of pybind11 write types differently."""
    text = ast.unparse(kind) if kind else "object"
    text = re.sub(r"\bint\[\d+\]", "int", text.replace("posenc._posenc.", ""))
    return re.sub(r"numpy\.ndarray\b", "NDArray", re.sub(r"numpy\.ndarray(?!\[)", "NDArray[Any]",
                                                         text))


def set_type(function: str, each: ast.arg, default: ast.expr | None) -> None:
    """Replaces the type of an argument by that of the stub."""
    kind = re.sub(r"\b[Ll]ist\[", "Sequence[", plain(each.annotation))
    if kind == "object":
        kind = ARGUMENTS.get(f"{function}.{each.arg}") or ARGUMENTS[each.arg]
    is_none = default is not None and ast.unparse(default) == "None"
    if is_none and not re.search("Optional|None", kind):
        kind += " | None"
    each.annotation = ast.Name(kind)


def functions(name: str, signature: str) -> Iterator[str]:
    """The definitions of a function: two if what it returns depends on an argument `out`."""
    [function] = ast.parse(f"def {name}{signature[signature.index('('):]}: ...").body
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    of_function = {each.arg: each for each in arguments.args + arguments.kwonlyargs}
    kind = plain(function.returns)
    is_object = kind == "object"
    without_default = len(arguments.args) - len(arguments.defaults)
    defaults = [None] * without_default + arguments.defaults + arguments.kw_defaults
    for each, default in zip(of_function.values(), defaults):
        if each.arg in ("self", "arg0"):
            each.arg, each.annotation = "self", None
        else:
            set_type(name, each, default)
    function.returns = ast.Name(RESULTS.get(name, RESULTS.get(kind, kind)))
    given = next((each for each in RETURNED if is_object and each in of_function), None)
    if given == "out":
        yield f"@overload\n{ast.unparse(function)}"
        out = of_function["out"]
        if out in arguments.kwonlyargs:
            arguments.kw_defaults[arguments.kwonlyargs.index(out)] = None
        else:  # nor do arguments before it have a default
            del arguments.defaults[:arguments.args.index(out) + 1 - without_default]
    if given is not None:
        of_function[given].annotation = function.returns = ast.Name("Given")
    yield ("@overload\n" if given == "out" else "") + ast.unparse(function)


def members(name: str, value: Any) -> Iterator[str]:
    """The definitions of a class, of one of its members, or of a function of the module."""
    if isinstance(value, type):
        yield f"class {name}:"
        lines = [line for each, member in vars(value).items() for text in members(each, member)
                 for line in text.splitlines()]
        yield from ("    " + line for line in lines or ["..."])
        return
    decorator = "@property\n" if isinstance(value, property) else ""
    if isinstance(value, staticmethod):
        decorator = "@staticmethod\n"
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    signature = (getattr(function, "__doc__", None) or "").partition("\n")[0]
    if name.startswith("__") and name not in SPECIAL or ") -> " not in signature:
        return
    for text in functions(name, signature):
        yield decorator + text


def main(path: str, output: str) -> None:
    spec = importlib.util.spec_from_file_location("posenc._posenc", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = [HEAD]
    for name, value in vars(module).items():
        lines.extend(members(name, value))
    Path(output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
