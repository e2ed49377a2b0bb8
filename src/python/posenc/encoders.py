"""Encoders of positions, also on several axes, and the conventions of other systems."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from posenc import _posenc
from posenc.arguments import (
    Given, Immutable, Layout, Spacing, accuracy_of, expect, frequencies_of, rows_of, table_of,
    type_name,
)


class _Encoding(Immutable):
    d_model: int  # number of columns
    first = 0  # the position of the first row where no positions are given
    _axes = 1
    _core: Any

    @overload
    def encode(self, positions: Any, out: None = None, dtype: Any = None,
               threads: int = 1) -> NDArray[Any]: ...
    @overload
    def encode(self, positions: Any, out: Given, dtype: Any = None, threads: int = 1) -> Given: ...
    def encode(self, positions: Any, out: Any = None, dtype: Any = None, threads: int = 1) -> Any:
        """Returns the encodings of these positions: an array of shape (rows, d_model).

        positions: range(first, last + 1), an array or tensor of int32 or int64, or a sequence of
        integers, each from -2**53 to 2**53. A number of rows is also allowed: the rows then begin
        at position `first` of the encoder, or at 0 on several axes. A row has the same bits in
        every call. An array of shape (batch, rows) gives a result of shape (batch, rows, d_model).
        If there are several axes, the first of two or three dimensions is the axis.
        out: the array to write and return, instead of a new one: an array or a PyTorch tensor. It
        has the shape of the result, the type float32, float64, float16 or bfloat16, and a
        contiguous last dimension.
        dtype: the type of a new array: "float32" (also None), "float64", "float16", "bfloat16", or
        the same type of NumPy or PyTorch. If `out` is given, too, it must have this type. NumPy has
        bfloat16 only with the package ml_dtypes. "bfloat16_bits" returns the bits of bfloat16 in an
        array of uint16.
        """
        rows = rows_of(positions, self._axes, self.first)
        table = table_of(out, (*rows.shape, self.d_model), dtype)
        self._core.encode(rows, table, threads)
        return table.given


class Encoder(_Encoding):
    """A backend planned for one convention.

    Without `backend`, the fastest backend that promises `accuracy` for tables of `rows` rows is
    selected. `accuracy`: None means correctly rounded, a number is the largest absolute error, and
    a text such as "1 ulp" is the largest error in ulp.
    `frequencies`: d_model / 2 numbers in radians per position, a rule such as
    posenc.Llama3Scaling, or the text of a rule, such as "linear:factor=4". `first`: the position of
    the first row if a call gives no positions. An encoder is immutable, so any number of threads
    may use it. Copies are the same object. A pickled encoder is planned again where it is
    unpickled.
    """

    base: float
    layout: str
    spacing: str
    frequencies: str | tuple[float, ...] | None  # the text of a rule, or frequencies
    backend: str  # name and ISA: "rotation:avx2"
    reason: str  # why this backend was selected
    _fields = ("d_model", "base", "layout", "spacing", "frequencies", "first", "backend")

    def __init__(self, d_model: int, *, base: float = 10000.0, layout: Layout = "interleaved",
                 spacing: Spacing = "paper", frequencies: Any = None, first: int = 0,
                 backend: str | None = None, accuracy: Any = None, rows: int = 4096,
                 dtype: Any = "float32") -> None:
        accuracy = accuracy_of(accuracy)
        convention = (d_model, base, layout, spacing, frequencies_of(frequencies))
        core = _posenc.plan_encoder(convention, first, backend, accuracy, rows, type_name(dtype))
        shown = dict(d_model=operator.index(d_model), base=float(base), layout=layout,
                     spacing=spacing, frequencies=convention[4], first=operator.index(first))
        asked = dict(backend=backend, accuracy=accuracy, rows=operator.index(rows),
                     dtype=type_name(dtype))
        self._keep({**shown, **asked}, **shown, _core=core, backend=core.backend,
                   reason=core.reason)

    def error_bound(self, positions: Any, dtype: Any = "float32") -> float:
        """A proven upper bound of |entry - exact value| over a range of positions."""
        bound: float = self._core.error_bound(rows_of(positions, first=self.first),
                                              type_name(dtype))
        return bound

    def is_correctly_rounded(self, dtype: Any = "float32") -> bool:
        """True if every entry is proven to be the value of `dtype` nearest to the exact value."""
        return bool(self._core.is_correctly_rounded(type_name(dtype)))


def encode(positions: Any, d_model: int, *, base: float = 10000.0, layout: Layout = "interleaved",
           spacing: Spacing = "paper", frequencies: Any = None, first: int = 0,
           backend: str | None = None, accuracy: Any = None, dtype: Any = "float32",
           threads: int = 1) -> NDArray[Any]:
    """Returns encodings, correctly rounded by default: an array of shape (rows, d_model).

    positions: the number of rows, from position `first` on, or positions as in Encoder.encode().
    base, layout, spacing, frequencies, first, backend, accuracy: as in Encoder().
    """
    encoder = Encoder(d_model, base=base, layout=layout, spacing=spacing, frequencies=frequencies,
                      first=first, backend=backend, accuracy=accuracy,
                      rows=rows_of(positions, first=0).size, dtype=dtype)
    return encoder.encode(positions, dtype=dtype, threads=threads)


def pick(file: str, accuracy: Any = None) -> list[dict[str, Any]]:
    """Picks the fastest backends that promise an accuracy, from a document of measurements.

    file: the path of a document that `posenc measure` wrote.
    accuracy: as in Encoder().

    Returns a list with a dictionary for each class of table sizes. "pick" is the picked backend, or
    None if no backend promises the accuracy. "others" lists the other backends that promise and
    keep it, the fastest first. Each backend has its speed, the ratio of its time to the time of the
    pick, and its error. "disturbed" says why the times are not reliable; it is empty if they are.
    Raises ValueError if the file is not such a document.
    """
    classes: list[dict[str, Any]] = _posenc.pick(file, accuracy)
    return classes


def preset(name: str) -> dict[str, Any]:
    """The convention of a real system, as arguments: Encoder(**preset('whisper')).

    The arguments fit Encoder and encode(). `first` is the position of the system's first row; in
    fairseq, for example, it is not 0.
    """
    names = ("d_model", "base", "layout", "spacing", "frequencies", "first")
    return dict(zip(names, _posenc.preset(name)))


def encode_like(system: str, positions: Any, d_model: int, *, base: float = 10000.0,
                layout: Layout = "interleaved", spacing: Spacing = "paper",
                frequencies: Any = None, first: int = 0, dtype: Any = "float32",
                threads: int = 1) -> NDArray[Any]:
    """Returns encodings with the float32 phases of another system: shape (rows, d_model).

    system: "tutorial" or "transformers". vLLM has the rotary embeddings of Transformers.
    positions: range(first, last + 1), or a number of rows, from position `first`.

    Phases are rounded as the system rounds them, operation for operation. Each entry is the
    correctly rounded float32 sine or cosine of its phase, then converted to `dtype`. The system's
    own expf, powf, sinf and cosf come from a C library or vector library and may be off by an ulp
    or two. These errors are not reproduced: here the functions are correctly rounded. Raises
    ValueError if the system does not have the spacing, the rule of frequencies or the dtype.
    """
    convention = (d_model, base, layout, spacing, frequencies_of(frequencies))
    encoder = _posenc.plan_encoder_like(system, convention)
    rows = rows_of(positions, first=first)
    table = table_of(None, (*rows.shape, d_model), dtype)
    encoder.encode(rows, table, threads)
    result: NDArray[Any] = table.given
    return result


def encode_grid(rows: int, columns: int, d_model: int, convention: str = "mae", *,
                dtype: Any = "float32", threads: int = 1) -> NDArray[Any]:
    """Returns the encodings of a grid's cells: shape (rows * columns, d_model).

    The cell in row r and column c has its encoding in row r * columns + c of the result, correctly
    rounded. convention: "mae", "simple_vit", or "detr" (PositionEmbeddingSine, normalised, without
    padding).
    """
    axes = axes_from(_posenc.grid_axes(convention, rows, columns, d_model))
    first = 1 if convention == "detr" else 0
    cells = grid_positions([rows, columns], [first, first])
    return AxesEncoder(axes, dtype=dtype).encode(cells, dtype=dtype, threads=threads)


# ---- Axes ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class AxisPairs:
    """Pairs of channels that share an axis and take their frequencies from one encoding.

    d_model, base, layout, spacing, frequencies: the encoding, as in Encoder(). indices: for each
    pair, the index of its frequency in the encoding. If empty, the pairs have all frequencies in
    their order. pairs: the place of each pair in a row. If empty, the pairs follow the pairs of the
    previous part.
    """

    axis: int
    d_model: int
    base: float = 10000.0
    layout: Layout = "interleaved"
    spacing: Spacing = "paper"
    frequencies: Any = None
    indices: tuple[int, ...] = ()
    pairs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in (("axis", int), ("d_model", int), ("indices", tuple), ("pairs", tuple)):
            given = getattr(self, name)
            try:
                value = (tuple(map(operator.index, given)) if kind is tuple
                         else operator.index(given))
            except TypeError:
                allowed = "a sequence of integers" if kind is tuple else "an integer"
                raise TypeError(f"{name} is {given!r}; allowed: {allowed}") from None
            object.__setattr__(self, name, value)
        object.__setattr__(self, "frequencies", frequencies_of(self.frequencies))


@dataclasses.dataclass(frozen=True)
class Axes:
    """The axis of each pair of channels in a row. axes_in_blocks() and similar functions make it.

    parts: every pair of a row belongs to exactly one part. layout: the order of all channels.
    parts_have_layouts: if true, `layout` has no effect. The channels of the parts follow one
    another, each part in its own layout. Raises ValueError if an argument is not allowed.
    """

    parts: Iterable[AxisPairs]  # a tuple
    layout: Layout = "interleaved"
    parts_have_layouts: bool = False
    d_model: int = dataclasses.field(init=False, repr=False)  # number of channels
    axes: int = dataclasses.field(init=False, repr=False)  # number of axes

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        for each in self.parts:
            expect(each, AxisPairs, "a part")
        d_model, axes = _posenc.axes_sizes(self._plain)
        object.__setattr__(self, "d_model", d_model)
        object.__setattr__(self, "axes", axes)

    @property
    def _plain(self) -> Any:
        """The axes as the compiled module takes them."""
        parts = tuple(tuple(vars(each).values()) for each in self.parts)
        return parts, self.layout, self.parts_have_layouts


def axes_from(plain: Any) -> Axes:
    """The axes as the compiled module returns them."""
    parts, layout, parts_have_layouts = plain
    return Axes(tuple(AxisPairs(*each) for each in parts), layout, parts_have_layouts)


def _arranged(arrangement: str, sizes: Sequence[int], base: float, layout: str, spacing: str,
              frequencies: Any) -> Axes:
    convention = [0, base, layout, spacing, frequencies_of(frequencies)]
    return axes_from(_posenc.arrange(arrangement, sizes, convention))


def axes_in_blocks(channels: Sequence[int], *, base: float = 10000.0,
                   layout: Layout = "interleaved", spacing: Spacing = "paper",
                   frequencies: Any = None) -> Axes:
    """A block of channels[axis] columns for each axis, with frequencies of its own (Flux, Wan).

    base, layout, spacing, frequencies: as in Encoder().
    """
    return _arranged("in_blocks", channels, base, layout, spacing, frequencies)


def axes_in_sections(sections: Sequence[int], *, base: float = 10000.0,
                     layout: Layout = "interleaved", spacing: Spacing = "paper",
                     frequencies: Any = None) -> Axes:
    """The first sections[0] pairs are on axis 0, the next sections[1] on axis 1, and so on.

    This is M-RoPE. The other arguments are those of axes_in_blocks().
    """
    return _arranged("in_sections", sections, base, layout, spacing, frequencies)


def axes_interleaved(sections: Sequence[int], *, base: float = 10000.0,
                     layout: Layout = "interleaved", spacing: Spacing = "paper",
                     frequencies: Any = None) -> Axes:
    """Interleaves the axes, with sections[axis] pairs on each (Qwen3-VL's mrope_interleaved)."""
    return _arranged("interleaved", sections, base, layout, spacing, frequencies)


def axes_alternating(sections: Sequence[int], *, base: float = 10000.0,
                     layout: Layout = "interleaved", spacing: Spacing = "paper",
                     frequencies: Any = None) -> Axes:
    """Alternates axes 1 and 2, then axis 0, with sections[axis] pairs on each (ERNIE 4.5-VL)."""
    return _arranged("alternating", sections, base, layout, spacing, frequencies)


def grid_positions(sizes: Sequence[int], firsts: Sequence[int] = ()) -> NDArray[np.int64]:
    """The positions of a grid's cells, in row-major order: int64, shape (axes, cells).

    firsts: the position of the first cell on each axis, by default 0.
    """
    positions: NDArray[np.int64] = _posenc.grid_positions(sizes, firsts)
    return positions


def axes_table(name: str, sizes: Sequence[int] | None = None) -> tuple[Axes, NDArray[np.int64]]:
    """The Axes of a system, and the positions of a grid's cells: (axes, positions).

    sizes: the number of cells along time, height and width; by default, a usual grid. Each cell is
    a row. AxesEncoder and Rotary take both the axes and the positions.
    """
    axes, positions = _posenc.axes_table(name, sizes)
    return axes_from(axes), positions


class AxesEncoder(_Encoding):
    """Encodings of positions on several axes.

    accuracy: as in Encoder. dtype: the type of the tables for which backends are selected. An
    AxesEncoder is immutable.
    """

    axes: Axes
    accuracy: Any
    dtype: str
    _fields = ("axes", "accuracy", "dtype")

    def __init__(self, axes: Axes, *, accuracy: Any = None, dtype: Any = "float32") -> None:
        expect(axes, Axes, "axes")
        accuracy = accuracy_of(accuracy)
        core = _posenc.plan_on_axes(axes._plain, accuracy, type_name(dtype))
        arguments = dict(axes=axes, accuracy=accuracy, dtype=type_name(dtype))
        self._keep(arguments, **arguments, _core=core, _axes=axes.axes, d_model=axes.d_model)
