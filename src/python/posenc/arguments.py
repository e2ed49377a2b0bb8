"""Converts positions, types, arrays and tensors to what the compiled module takes."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import operator
import sys
from collections.abc import Sequence, Sized
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from posenc import _posenc

BITS = "bfloat16_bits"  # the dtype that stands for the bits of bfloat16 in uint16
TYPES = ("float32", "float64", "float16", "bfloat16")
Given = TypeVar("Given", bound=Sized)  # an array, a tensor, or several, but not None


Layout = Literal["interleaved", "halves", "halves_cos_first"]
Spacing = Literal["paper", "inclusive"]
Channels = Literal["halves", "interleaved"]
CacheLayout = Literal["halves", "interleaved", "complex"]
Repeat = Literal["once", "halves", "interleaved"]


class Immutable:
    """Objects that never change. They are equal if their attributes `_fields` are equal.

    A copy is the object itself, and a pickle has the arguments that made it.
    """

    _fields: tuple[str, ...]
    _arguments: dict[str, Any]

    def _keep(self, arguments: dict[str, Any], **attributes: Any) -> None:
        """Sets the attributes. `arguments` makes an equal object; nobody may change its values."""
        vars(self).update(attributes, _arguments=arguments)

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, each) for each in self._fields)

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        shown = [f"{name}={value!r}" for name, value in zip(self._fields, self._values())
                 if name not in defaults or value != defaults[name].default]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()  # type: ignore

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __setattr__(self, name: str, value: Any) -> None:
        # A subclass may add attributes of its own.
        if type(self).__module__.startswith("posenc.") or hasattr(self, name):
            raise AttributeError(f"{type(self).__name__}.{name} cannot be set")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> Any:
        return functools.partial(type(self), **self._arguments), ()


def expect(value: Any, kind: type, name: str) -> None:
    """Refuses an object of another class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is of type {type(value).__name__}; allowed: {kind.__name__}")


def accuracy_of(given: Any) -> Any:
    """Returns a number as a float, so that objects with equal accuracies compare equal."""
    return float(given) if hasattr(given, "__float__") else given


def values_of(given: Any, name: str, allowed: str) -> NDArray[Any]:
    """The values of an array, a tensor, an object that converts itself, or a sequence."""
    if isinstance(given, np.ndarray):
        return given
    if _is_tensor(given):
        # NumPy has no bfloat16: an array that shares the memory would hold bits.
        is_bfloat16 = str(given.dtype) == "torch.bfloat16"
        return _array_of_tensor(given.float() if is_bfloat16 else given, name)
    has_array = (hasattr(given, "__array__") or hasattr(given, "__array_interface__")
                 or _has_buffer(given))
    if not has_array and hasattr(given, "__dlpack__"):
        return np.from_dlpack(given)
    if isinstance(given, (str, bytes)) or not (has_array or isinstance(given, Sequence)):
        raise TypeError(f"{name} is {given!r}; allowed: {allowed}")
    return np.asarray(given)


def frequencies_of(given: Any) -> str | tuple[float, ...] | None:
    """A rule as its text, and frequencies as a tuple."""
    if given is None:
        return None
    if isinstance(given, str) or hasattr(given, "rule"):
        rule: str = _posenc.frequency_rule(str(given))
        return rule
    array = values_of(given, "frequencies", "None, a sequence of numbers, a rule, or its text")
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise ValueError(f"frequencies has dtype {array.dtype} and shape {array.shape}; allowed: "
                         "one dimension of real numbers")
    return tuple(array.tolist())


# ---- Positions ----------------------------------------------------------------------------------


class Rows(NamedTuple):
    """The positions of rows: consecutive positions from `first` on, or those in a dense array."""

    first: int
    shape: tuple[int, ...]  # (rows), or (batch, rows)
    array: NDArray[Any] | None = None
    axes: int = 0  # the first dimension of the array; 0: positions are equal on all axes

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def rows_of(given: Any, axes: int = 1, first: int | None = None,
            name: str = "positions") -> Rows:
    """Converts a range, an array, or a sequence. With `first`, also converts a number of rows.

    An array has shape (rows) or (batch, rows). If there are several axes, a dimension for them may
    come first.
    """
    if first is not None and _is_count(given):
        count = operator.index(given)
        if count < 0:
            raise ValueError(f"{name} is {count}; allowed: at least 0, if it is a number of rows")
        return _rows_from(first, count)
    if isinstance(given, range) and given.step == 1:
        return _rows_from(given.start, max(given.stop - given.start, 0))
    more = "" if first is None else ", or a number of rows"
    allowed = f"a range, an array of int32 or int64, a sequence of integers{more}"
    array = values_of(given, name, allowed)
    has_axes = axes > 1 and array.ndim > 1
    shape = array.shape[has_axes:]
    if len(shape) not in (1, 2) or (has_axes and len(array) != axes):
        shapes = (f"(rows), ({axes}, rows), ({axes}, batch, rows)" if axes > 1
                  else "(rows), (batch, rows)")
        raise ValueError(f"{name}.shape is {array.shape}; allowed: {shapes}")
    if array.size == 0:  # such an array may have any type
        array = array.astype(np.int64)
    if array.dtype.kind != "i" or array.itemsize not in (4, 8):
        raise ValueError(f"{name} has dtype {array.dtype} and shape {array.shape}; allowed: "
                         "int32 or int64")
    dense = np.ascontiguousarray(array, f"i{array.itemsize}")
    return Rows(0, shape, dense, axes if has_axes else 0)


def real_rows_of(given: Any, axes: int = 1) -> tuple[Rows, float]:
    """Like rows_of(), for positions that may be fractions: (multiples of 1 / n, n)."""
    if _is_count(given) or isinstance(given, range):
        return rows_of(given, axes, first=0), 1.0
    array = values_of(given, "positions", "an array or a sequence of numbers, a range, or a number "
                      "of rows")
    if array.dtype.kind != "f":
        return rows_of(given, axes, first=0), 1.0
    array = array.astype(np.float64)
    multiples, denominator, _ = _posenc.round_positions(array.ravel(), None)
    return rows_of(multiples.reshape(array.shape), axes), denominator


def _rows_from(first: int, count: int) -> Rows:
    _posenc.check_rows(first, count)
    return Rows(first, (count,))


def _is_count(given: Any) -> bool:
    # A tensor of one dimension with one element has an index, too, but it holds a position.
    return isinstance(given, int) or (
        hasattr(given, "__index__") and getattr(given, "ndim", 0) == 0)


# ---- Types and arrays ---------------------------------------------------------------------------


class Memory(NamedTuple):
    """An array that shares the memory of an argument."""

    given: Any
    array: NDArray[Any]
    type: str  # one of TYPES
    name: str  # of the argument


@functools.lru_cache(maxsize=64)
def type_name(dtype: Any, name: str = "dtype") -> str:
    """The name of a type of NumPy or PyTorch; None is float32, and BITS bfloat16."""
    if dtype is None:
        return "float32"
    is_named = isinstance(dtype, str) or type(dtype).__module__ == "torch"
    text = str(dtype if is_named else np.dtype(dtype)).removeprefix("torch.")
    if text not in (*TYPES, BITS):
        raise ValueError(f"{name} is {text}; allowed: {', '.join(TYPES)} of ml_dtypes or PyTorch, "
                         f"in the byte order of this machine, or {BITS} for outputs in uint16")
    return text.removesuffix("_bits")


def memory_of(given: Any, name: str, *, has_bits: bool = False) -> Memory:
    """The memory of an array or a tensor. has_bits: 16-bit integers are the bits of bfloat16."""
    array = _shared(given, name)
    is_bits = has_bits or (
        array is not given and str(getattr(given, "dtype", "")) == "torch.bfloat16")
    if is_bits and array.dtype.kind in "iu" and array.itemsize == 2:
        return Memory(given, array, "bfloat16", name)
    return Memory(given, array, type_name(array.dtype, name + ".dtype"), name)


def _shared(given: Any, name: str) -> NDArray[Any]:
    """An array that shares the memory of an array or a tensor."""
    if isinstance(given, np.ndarray):
        return given
    if not _is_tensor(given) and not hasattr(given, "__array_interface__"):
        if _has_buffer(given):
            return np.asarray(given)
        if hasattr(given, "__dlpack__"):
            return np.from_dlpack(given)
        # An object that only has __array__ may return a copy. Results would be lost in it.
        raise TypeError(f"{name} is of type {type(given).__name__}; allowed: an array of NumPy, or "
                        "an object that shares its memory with one")
    return _array_of_tensor(given, name) if _is_tensor(given) else values_of(given, name, "")


def _has_buffer(given: Any) -> bool:
    """True for memoryview, array.array and others with the buffer protocol, but not bytes."""
    try:
        return not isinstance(given, (bytes, bytearray)) and memoryview(given) is not None
    except TypeError:
        return False


def writable(memory: Memory) -> Memory:
    """Refuses read-only memory, and tells PyTorch that a tensor changes."""
    if not memory.array.flags.writeable:
        raise ValueError(f"{memory.name} is read-only; allowed: a writable array")
    # Autograd may have saved the tensor for a gradient, and detects later changes by the tensor's
    # version. Writing to an empty view raises the version, which the view shares with the tensor.
    if _is_tensor(memory.given) and memory.given.dim() > 0 and not memory.given.is_inference():
        memory.given.narrow(0, 0, 0).zero_()
    return memory


def heads_of(given: Any, name: str, heads_first: bool) -> Memory:
    """The memory of queries or keys to be rotated: (batch, heads, rows, channels)."""
    heads = writable(memory_of(given, name))
    array = heads.array
    if array.ndim not in (2, 3, 4):
        raise ValueError(f"{name}.shape is {array.shape}; allowed: two to four dimensions")
    if array.ndim > 2 and not heads_first:
        array = array.swapaxes(-3, -2)
    return heads._replace(array=array[(None,) * (4 - array.ndim)])


def table_of(given: Any, shape: tuple[int, ...], dtype: Any = None, name: str = "out") -> Memory:
    """The array that a function writes: the caller's, or a new one if `given` is None.

    The caller's array must have exactly this shape: further rows or columns would keep their old
    values and be returned as if they were results. It must have the dtype that is given.
    """
    wanted = type_name(dtype)
    has_bits = isinstance(dtype, str) and dtype == BITS
    if given is None:
        given = np.empty(shape, "uint16" if has_bits else _numpy_type(wanted))
    table = memory_of(given, name, has_bits=has_bits)
    if dtype is not None and table.type != wanted:
        raise ValueError(f"{name}.dtype is {table.type}; allowed: {wanted}, the dtype that "
                         "was given")
    return _output(table, shape)


def complex_table_of(given: Any, shape: tuple[int, ...], dtype: Any) -> Memory:
    """Like table_of(), for complex numbers, whose memory is written as pairs of real numbers."""
    if given is None:
        given = np.empty(shape, np.result_type(_numpy_type(type_name(dtype)), "complex64"))
    array = _shared(given, "out")
    part = {"complex64": "float32", "complex128": "float64"}.get(str(array.dtype))
    if part is None or (dtype is not None and part != type_name(dtype)):
        raise ValueError(f"out.dtype is {array.dtype}, and dtype {dtype}; allowed with the layout "
                         "complex: complex64 with float32, complex128 with float64")
    pairs = array.view(part)
    return _output(Memory(given, pairs, part, "out"), (*shape[:-1], 2 * shape[-1]))


def _output(table: Memory, shape: tuple[int, ...]) -> Memory:
    """The memory with two dimensions: all dimensions but the last are rows."""
    if table.array.shape != shape:
        raise ValueError(f"{table.name}.shape is {table.array.shape}; allowed: {shape}")
    if len(shape) == 2:
        return writable(table)
    rows = table.array.reshape(math.prod(shape[:-1]), shape[-1])
    if rows.size > 0 and not np.may_share_memory(rows, table.array):
        raise ValueError(f"{table.name}.strides is {table.array.strides}; allowed: rows at equal "
                         "distances")
    return writable(table)._replace(array=rows)


def _numpy_type(name: str) -> Any:
    if name != "bfloat16":
        return name
    try:
        return importlib.import_module("ml_dtypes").bfloat16
    except ImportError:
        raise ValueError(
            "dtype is bfloat16, which NumPy lacks and the package ml_dtypes adds; allowed without "
            "the package: out= with a tensor of torch.bfloat16, or "
            f'dtype="{BITS}", which returns the bits as uint16') from None


def _is_tensor(given: Any) -> bool:
    # PyTorch is recognised by name, because the package does not import it.
    return type(given).__module__.startswith("torch") and hasattr(given, "requires_grad")


def _array_of_tensor(tensor: Any, name: str) -> NDArray[Any]:
    """An array that shares the memory of a tensor. For bfloat16, it has 16-bit integers."""
    if tensor.requires_grad:
        raise ValueError(f"{name} requires a gradient, which would be lost; allowed: a tensor that "
                         "does not, such as the result of detach()")
    try:
        is_bfloat16 = str(tensor.dtype) == "torch.bfloat16"
        shared = tensor.view(sys.modules["torch"].int16) if is_bfloat16 else tensor
        array: NDArray[Any] = shared.numpy()
        return array
    except (TypeError, RuntimeError):
        raise ValueError(f"{name} is a tensor on {tensor.device} of {tensor.layout} and "
                         f"{tensor.dtype}, which shares no memory with an array; allowed: a dense "
                         "tensor on cpu") from None
