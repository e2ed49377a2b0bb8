"""Writes _posenc.pyi, the types of the compiled module, from the signatures in its docstrings.

Usage: stubs.py MODULE OUTPUT.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEAD = '''"""The compiled module. Arrays are those of NumPy, or tensors of PyTorch on the CPU."""

import collections.abc
import typing
from collections.abc import Sequence
from typing import Any, List, Optional, Tuple, TypeVar, Union, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

__version__: str

Array = Any
AccuracyLike = Union["Accuracy", float]
DType = Any
Frequencies = Any
Positions = Any
Given = TypeVar("Given", bound=typing.Sized)  # an array or several, but not None
'''


def functions(name: str, signature: str) -> Iterator[str]:
    """The definitions of a function: two if the type of its result depends on `out`."""
    # Write types as mypy reads them. Versions of pybind11 write them differently.
    types = re.sub(r"\bint\[\d+\]", "int", signature[signature.index("("):])
    types = re.sub(r"numpy\.ndarray(?!\[)", "NDArray[Any]", types.replace("_posenc.", ""))
    types = re.sub(r"\bdict(?!\[)", "dict[str, Any]", types.replace("numpy.ndarray", "NDArray"))
    arguments, _, result = types.rpartition(" -> ")
    arguments = re.sub(r"\b[Ll]ist\[", "Sequence[", arguments)
    arguments = re.sub(r"\((self|arg0): \w+", "(self", arguments)
    arguments = re.sub(r": ((?:[^,=\[]|\[[^=]*?\])+) = None", r": \1 | None = None", arguments)
    if result == "Array":  # the function returns the argument that it writes
        arguments = re.sub(r"\bx: Array", "x: Given", arguments)
        yield f"def {name}{arguments} -> Given: ..."
    elif "out: Array | None = None" in arguments:
        for kind, returned in (("None = None", result), ("Given", "Given")):
            given = arguments.replace("out: Array | None = None", f"out: {kind}")
            yield f"@overload\ndef {name}{given} -> {returned}: ..."
    else:
        yield f"def {name}{arguments} -> {result}: ..."


def members(name: str, value: Any) -> Iterator[str]:
    """The definitions of a class, of one of its members, or of a function of the module."""
    if isinstance(value, type):
        yield f"class {name}:"
        lines = [line for each, member in vars(value).items() for text in members(each, member)
                 for line in text.splitlines()]
        yield from ("    " + line for line in lines)
        return
    decorators = {property: "@property\n", staticmethod: "@staticmethod\n"}
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    signature = (getattr(function, "__doc__", None) or "").partition("\n")[0]
    is_hidden = name.startswith("__") and name not in ("__init__", "__iter__", "__next__")
    if not is_hidden and ") -> " in signature:
        yield from (decorators.get(type(value), "") + each for each in functions(name, signature))


def main(path: str, output: str) -> None:
    sys.path.insert(0, str(Path(path).parent))
    module = importlib.import_module("_posenc")
    lines = [line for name, value in vars(module).items() for line in members(name, value)]
    Path(output).write_text("\n".join([HEAD, *lines]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
