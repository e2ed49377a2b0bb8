"""Rotary embeddings, from arguments or from the configurations of Transformers models."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union, overload

import numpy as np
from numpy.typing import NDArray

from posenc import _posenc
from posenc.arguments import (
    CacheLayout, Channels, Given, Immutable, Repeat, accuracy_of, complex_table_of, expect,
    frequencies_of, heads_of, rows_of, table_of,
)
from posenc.encoders import Axes, axes_from

Config = Union[Mapping[str, Any], str, "os.PathLike[str]", Any]


class Rotary(Immutable):
    """Rotary position embeddings from exact phases.

    dimension: the number of channels of a head that are rotated. channels: "halves" rotates
    channels k and k + dimension / 2 (GPT-NeoX, Llama), "interleaved" channels 2k and 2k + 1 (the
    paper, GPT-J). base: 10000 if it is None. frequencies, accuracy: as in Encoder. axes: the Axes
    of positions on several axes, instead of a base and frequencies. attention_factor: the factor of
    cosines and sines; by default, the factor of the rule of frequencies. softmax_factor: the factor
    by which the usual scale of the softmax, 1 / sqrt(channels of a query), is multiplied.
    query_scaling: (beta, trained_rows) if the rotated query at position p is multiplied by
    1 + beta ln(1 + floor(p / trained_rows)). An engine must apply softmax_factor and query_scaling;
    no method here does. said: the text that repr() shows in parentheses; by default, a description
    of the embedding. posenc.rotary_from_config() reads these arguments from a model's config.json.
    Immutable.
    """

    axes: Axes
    dimension: int
    channels: str  # the pairs of channels: "halves" or "interleaved"
    attention_factor: float
    softmax_factor: float
    query_scaling: tuple[float, int] | None
    accuracy: Any
    _core: Any
    _said: str
    _fields = ("axes", "channels", "attention_factor", "softmax_factor", "query_scaling",
               "accuracy")

    def __init__(self, dimension: int | None = None, *, base: float | None = None,
                 channels: Channels = "halves", frequencies: Any = None, axes: Axes | None = None,
                 attention_factor: float | None = None, softmax_factor: float = 1.0,
                 query_scaling: tuple[float, int] | None = None, accuracy: Any = None,
                 said: str | None = None) -> None:
        if axes is None:
            if dimension is None:
                raise ValueError("dimension is not given; allowed: dimension, or axes")
            convention = (dimension, 10000.0 if base is None else base, "interleaved", "paper",
                          frequencies_of(frequencies))
            plain, attention_factor = _posenc.rotary_on_one_axis(convention, attention_factor)
            axes = axes_from(plain)
        else:
            expect(axes, Axes, "axes")
            if dimension not in (None, axes.d_model):
                raise ValueError(f"dimension is {dimension}; allowed: the dimension of the axes, "
                                 f"{axes.d_model}")
            for name, value in (("base", base), ("frequencies", frequencies)):
                if value is not None:
                    raise ValueError(f"{name} is given with axes; allowed: None, as axes have one")
        factor = 1.0 if attention_factor is None else attention_factor
        accuracy = accuracy_of(accuracy)
        if query_scaling is not None:
            try:
                beta, trained_rows = query_scaling
                query_scaling = float(beta), operator.index(trained_rows)
            except (TypeError, ValueError):
                raise TypeError(f"query_scaling is {query_scaling!r}; allowed: (beta, "
                                "trained_rows), a number and an integer") from None
        core = _posenc.plan_rotary(axes._plain, channels, factor, softmax_factor,
                                   query_scaling or (0.0, 1), accuracy)
        arguments = dict(axes=axes, channels=channels, attention_factor=factor,
                         softmax_factor=softmax_factor, query_scaling=query_scaling,
                         accuracy=accuracy)
        self._keep({**arguments, "said": said}, **arguments, dimension=axes.d_model, _core=core,
                   _said=said or str(core))

    def __repr__(self) -> str:
        return f"Rotary({self._said})"

    @property
    def inv_freq(self) -> NDArray[np.float64]:
        """The frequency of each pair, in radians per position: float64, shape (dimension / 2)."""
        return np.array(self._core.frequencies())

    @overload
    def cache(self, positions: Any, layout: CacheLayout = "halves", *, out: None = None,
              dtype: Any = None, threads: int = 1) -> NDArray[Any]: ...
    @overload
    def cache(self, positions: Any, layout: CacheLayout = "halves", *, out: Given,
              dtype: Any = None, threads: int = 1) -> Given: ...
    def cache(self, positions: Any, layout: CacheLayout = "halves", *, out: Any = None,
              dtype: Any = None, threads: int = 1) -> Any:
        """Returns cosines and sines: an array of shape (rows, dimension).

        positions: as in Encoder.encode(). A number of rows begins at position 0, and an array of
        shape (batch, rows) gives a result of shape (batch, rows, dimension). If there are several
        axes, the first of two or three dimensions is the axis.
        layout: "halves" has all cosines before all sines, as in vLLM. "interleaved" has each cosine
        before its sine, as in ggml. "complex" has complex numbers of shape (rows, dimension / 2),
        as in diffusers. out, dtype: as in Encoder.encode().
        """
        rows = rows_of(positions, self.axes.axes, first=0)
        if layout == "complex":
            table = complex_table_of(out, (*rows.shape, self.dimension // 2), dtype)
        else:
            table = table_of(out, (*rows.shape, self.dimension), dtype)
        self._core.cache(rows, layout, table, threads)
        return table.given

    @overload
    def cosines_and_sines(self, positions: Any, repeat: Repeat = "once", *, out: None = None,
                          dtype: Any = None,
                          threads: int = 1) -> tuple[NDArray[Any], NDArray[Any]]: ...
    @overload
    def cosines_and_sines(self, positions: Any, repeat: Repeat = "once", *, out: Given,
                          dtype: Any = None, threads: int = 1) -> Given: ...
    def cosines_and_sines(self, positions: Any, repeat: Repeat = "once", *, out: Any = None,
                          dtype: Any = None, threads: int = 1) -> Any:
        """Returns (cosines, sines), each of shape (rows, dimension / 2) or (rows, dimension).

        repeat: "once" has each value once (ONNX, TensorRT). "halves" has all values, and then all
        of them again (Transformers). "interleaved" has each value twice, side by side (diffusers).
        positions, dtype: as in cache(). out: a pair of arrays.
        """
        rows = rows_of(positions, self.axes.axes, first=0)
        if out is not None and (not isinstance(out, (list, tuple)) or len(out) != 2):
            raise ValueError("out is not a pair; allowed: (cosines, sines)")
        shape = (*rows.shape, self.dimension // 2 if repeat == "once" else self.dimension)
        cosines, sines = (table_of(given, shape, dtype, name) for given, name in
                          zip(out or (None, None), ("cosines", "sines")))
        self._core.cosines_and_sines(rows, repeat, cosines, sines, threads)
        return (cosines.given, sines.given) if out is None else out

    def apply(self, x: Given, first: int = 0, *, positions: Any = None, inverse: bool = False,
              threads: int = 1, heads_first: bool = False) -> Given:
        """Rotates x in place and returns it. Row r is at position first + r, or positions[r].

        x: an array of shape (rows, head_dim), (rows, heads, head_dim) or (batch, rows, heads,
        head_dim). If heads_first, its shape is (heads, rows, head_dim) or (batch, heads, rows,
        head_dim), as in Transformers. The type is float32, float16 or bfloat16. Results of 16 bits
        are computed in float32 and rounded once. A list of arrays, such as queries and keys, is
        rotated by the same angles.
        positions: an array of shape (rows) or (batch, rows), a range or a sequence. If there are
        several axes, an array of shape (axes, rows) or (axes, batch, rows).
        inverse: rotates by the opposite angles.
        """
        if not isinstance(heads_first, bool):
            raise TypeError(f"heads_first is {heads_first!r}; allowed: True, False")
        if positions is not None and first != 0:
            raise ValueError(f"first is {first} with positions; allowed: one of them")
        rows = None if positions is None else rows_of(positions, self.axes.axes)
        arrays = ([(each, f"x[{i}]") for i, each in enumerate(x)] if isinstance(x, (list, tuple))
                  else [(x, "x")])
        heads = [heads_of(each, name, heads_first) for each, name in arrays]
        if rows is not None and len(rows.shape) == 2:
            batch, count = heads[0].array.shape[::2] if heads else (0, 0)
            if rows.shape not in ((batch, count), (1, count)):
                raise ValueError(f"positions has {rows.shape[0]} sequences of {rows.shape[1]} "
                                 f"rows; allowed: as many as x, {batch} of {count}")
        self._core.apply(heads, first, rows, inverse, threads)
        return x


@overload
def rotary_from_config(config: Config, rows: int | None = None, channels: Channels | None = None,
                       layers: None = None, types: Config | None = None) -> Rotary: ...
@overload
def rotary_from_config(config: Config, rows: int | None = None, channels: Channels | None = None,
                       layers: str | None = None, types: Config | None = None) -> Any: ...
def rotary_from_config(config: Config, rows: int | None = None, channels: Channels | None = None,
                       layers: str | None = None, types: Config | None = None) -> Any:
    """Reads the rotary embedding of a Transformers model from its config.json.

    config: the mapping that json.load() returns, the path of the file or of its folder, or the
    configuration object of Transformers. For a multimodal model, the text model is read.
    rows: the rows of the longest sequence, on which the rules "dynamic" and "longrope" depend; by
    default, max_position_embeddings.
    channels: the pairs of channels that are rotated, "halves" or "interleaved" as in Rotary(); by
    default, the pairs of the model type.
    layers: the kind of layers, such as "sliding_attention". It is needed if a model has kinds with
    different rotary embeddings. "all" returns a dictionary of all kinds; if all layers are alike,
    its only key is "all".
    types: a mapping, or the path of a JSON file, that describes further model types, as
    docs/config-json.md shows.

    The repr() of the result summarises the configuration in one line. Raises ValueError, which
    names the key and its value, if the model type is not known, if two keys contradict each other,
    or if a key that is not read may change the result.
    """
    kind = None if layers == "all" else layers or ""
    rotaries, _ = read_config(config, rows, channels, kind, types)
    return rotaries if kind is None else list(rotaries.values())[0]


def read_config(config: Config, rows: int | None, channels: str | None,
                layers: str | None,
                types: Config | None = None) -> tuple[dict[str, Rotary], int]:
    """Returns the embeddings by kinds of layers, and max_position_embeddings, or 0 without it.

    If `layers` is None, all kinds are read, otherwise one kind. "" stands for the only kind.
    """
    read, most_rows = _posenc.read_config(text_of(config, "config"), rows, channels, layers,
                                          "" if types is None else text_of(types, "types"))
    return {kind: Rotary(axes=axes_from(axes), **keywords)
            for kind, (axes, keywords) in read.items()}, most_rows


def text_of(config: Config, name: str) -> str:
    """Returns the configuration as JSON text, as read_config() takes it."""
    allowed = "a mapping, as json.load() returns, or the path of a config.json or of its folder"
    if hasattr(config, "to_dict"):  # PretrainedConfig
        config = config.to_dict()
    if isinstance(config, Mapping):
        try:
            return json.dumps(dict(config), default=_plain)
        except (RecursionError, ValueError):  # ValueError: a mapping that contains itself
            raise ValueError(f"{name} is nested too deep; allowed: at most 64 levels") from None
    if isinstance(config, str) and config.lstrip().startswith("{"):
        raise ValueError(f"{name} is the text of a configuration; allowed: {allowed}")
    if isinstance(config, (str, os.PathLike)):
        path = Path(config)
        file = path / "config.json" if path.is_dir() else path
        try:
            return file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            text = f"{file} is not UTF-8 at byte {error.start}"
            raise ValueError(f"{text}; allowed: the text of a config.json") from None
    raise TypeError(f"{name} is of type {type(config).__name__}; allowed: {allowed}")


def _plain(value: Any) -> Any:
    """Converts values that the json module cannot write: mappings, NumPy's numbers, types ..."""
    if isinstance(value, Mapping):
        return dict(value)
    return value.item() if isinstance(value, np.generic) else str(value)
