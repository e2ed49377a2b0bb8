"""Checks whether a table is right and, if it is not, why."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc import _posenc
from posenc.arguments import Memory, expect, frequencies_of, memory_of, real_rows_of
from posenc.encoders import preset
from posenc.rotary import Config, Rotary, rotary_from_config


@dataclasses.dataclass(frozen=True, repr=False)
class CheckReport:
    """The report of check() on a table.

    Printed, it has three lines: the verdict, the identity of the table, and the cause of its
    errors. Each finding adds a line.
    """

    is_good: bool
    is_inexact: bool  # wrong, but the right table computed in float32
    is_identified: bool
    verdict: str
    description: str
    cause: str
    causes: list[tuple[str, str]]  # kind and text: ("shifted_rows", "the first row is ...")
    findings: list[str]  # which columns and frequencies are off, if no cause is known
    identity: dict[str, Any]  # what the table was judged as; empty if it is not known
    allowed_error: float
    entries: int
    entries_off: int
    entries_not_finite: int
    max_abs: float
    max_ulp: float
    rms: float
    correctly_rounded: float  # share of the entries
    worst_position: int
    worst_column: int
    text: str

    def __repr__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True, repr=False)
class RotatedReport:
    """The report of check_rotated() on a kernel.

    Printed, it has three lines: the verdict, the shape and the rotary embedding, and the causes.
    Each finding adds a line.
    """

    is_good: bool
    errors: dict[str, float]  # of the angles, in radians: max, rms, noise
    by_position: list[tuple[int, int, dict[str, float]]]  # (least, most, errors) of each octave
    angles_off: int
    max_length_error: float
    causes: list[tuple[str, str]]  # kind and text
    findings: list[str]  # which pairs are off, if no cause is known
    text: str

    def __repr__(self) -> str:
        return self.text


def check(table: Any, preset_name: str | None = None, /, *, config: Config | None = None,
          layers: str | None = None, rotary: Rotary | None = None, threads: int = 1,
          max_error: float | None = None,
          d_model: int | None = None, base: float | None = None, layout: str | None = None,
          spacing: str | None = None, frequencies: Any = None,
          first: int | None = None, positions: Any = None) -> CheckReport:
    """Judges a table, identifies it, and says what is wrong with it.

    table: an array or tensor in CPU memory, with any strides, and with two dimensions, not counting
    dimensions of size 1. It may also hold pairs, of shape (n, d / 2, 2), or complex numbers, cosine
    + i sine. preset_name: the convention that the table should have. d_model, base, layout,
    spacing, frequencies, first: parts of the convention, as in Encoder(). Parts that no argument
    names are found from the values. layout may also be "interleaved_cos_first". positions: the
    position of each row, in place of first. Positions may be fractions. If the model has several
    axes, positions may have shape (axes, rows). config, layers: a model's config.json, as in
    rotary_from_config(). The table should then be the cache of the model's rotary embedding.
    rotary: this embedding as an object, in place of config. max_error: the allowed error of each
    entry. The default is an ulp of the type at 1, plus the cost of phases in double. Raises
    ValueError if an argument is not allowed.

    >>> posenc.check(model.rotary_emb.cos_cached, base=500000.0)
    """
    expected = {"base": base, "layout": layout, "spacing": spacing,
                "frequencies": frequencies, "first": first}
    if preset_name is not None:
        named = preset(preset_name)
        expected = {key: named[key] if value is None else value for key, value in expected.items()}
    if config is not None and rotary is not None:
        raise ValueError("rotary is given with config; allowed: one of them")
    if layers is not None and config is None:
        raise ValueError(f"layers is {layers!r} without config; allowed: with a config")
    for name, value in (("base", base), ("spacing", spacing), ("frequencies", frequencies)):
        if value is not None and (config is not None or rotary is not None):
            raise ValueError(f"{name} is given with {'rotary' if config is None else 'config'}; "
                             "allowed: one of them")
    if config is not None:
        rotary = rotary_from_config(config, layers=layers)
    elif rotary is not None:
        expect(rotary, Rotary, "rotary")
    parts = {key: expected[key] for key in ("base", "spacing", "frequencies")}
    spec = spec_of(d_model=d_model, **parts)
    if positions is not None and first is not None:
        raise ValueError(f"first is {first} with positions; allowed: one of them")
    axes = 1 if rotary is None else rotary.axes.axes
    rows, denominator = (None, 1.0) if positions is None else real_rows_of(positions, axes)
    claimed = [preset_name is not None or part is not None for part in parts.values()]
    return CheckReport(**_posenc.check_table(
        _of_two_dimensions(table), spec, claimed, expected["layout"], expected["first"], rows,
        denominator, rotary and rotary._core, max_error, threads))


def spec_of(d_model: int | None = None, base: float | None = None, spacing: str | None = None,
            frequencies: Any = None) -> tuple[Any, ...] | None:
    """The expected convention, as the compiled module takes it; None if no part is given."""
    if all(each is None for each in (d_model, base, spacing, frequencies)):
        return None
    return (d_model or 0, 10000.0 if base is None else base, "interleaved", spacing or "paper",
            frequencies_of(frequencies))


def check_rotated(before: Any, after: Any, positions: Any, rotary: Rotary, *,
                  offset: int = 0, others: Mapping[str, Rotary] | None = None,
                  max_error: float | None = None, threads: int = 1) -> RotatedReport:
    """Judges a kernel that rotates queries or keys, by the heads before and after it.

    before, after: arrays or tensors from any device, of shape (rows, heads, channels), or with rows
    and heads exchanged, not counting dimensions of size 1. Random numbers in many heads show the
    most. positions: as in Rotary.apply(), or the number of rows, from position 0 on. Positions may
    be fractions. offset: the number of channels before the pairs, as in latent attention. others:
    embeddings that the kernel may have confused with this one, by their names. max_error: the
    allowed error of an angle in radians, besides the noise of rounded elements. The default is an
    ulp of float32 at 1, plus the cost of phases in double. Raises ValueError if an argument is not
    allowed.

    >>> posenc.check_rotated(q, kernel(q, positions), positions, posenc.Rotary(128))
    """
    expect(rotary, Rotary, "rotary")
    rows, denominator = real_rows_of(positions, rotary.axes.axes)
    for each in (others or {}).values():
        expect(each, Rotary, "others")
    named = [(name, each._core) for name, each in (others or {}).items()]
    heads = [_of_three_dimensions(each, name) for each, name in
             ((before, "before"), (after, "after"))]
    return RotatedReport(**_posenc.check_rotated_heads(
        *heads, rows, denominator, rotary._core, offset, named, max_error, threads))


def _of_three_dimensions(heads: Any, name: str) -> Memory:
    memory = memory_of(heads.detach().cpu() if hasattr(heads, "detach") else heads, name)
    array = memory.array.squeeze() if memory.array.ndim > 3 else memory.array
    if array.ndim not in (2, 3):
        raise ValueError(f"{name}.shape is {memory.array.shape}; allowed: (rows, heads, channels), "
                         "not counting dimensions of size 1")
    return memory._replace(array=array[:, None] if array.ndim == 2 else array)


def _of_two_dimensions(table: Any) -> Memory:
    """Leaves out dimensions of size 1. Puts pairs, and parts of complex numbers, side by side."""
    if hasattr(table, "detach"):  # a tensor may require a gradient, which nothing here changes
        table = table.detach()
    if "complex" in str(getattr(table, "dtype", "")):
        values = np.ascontiguousarray(table)
        table = values.view(values.real.dtype)
    memory = memory_of(table, "table")
    shape = memory.array.shape
    if len(shape) == 3 and shape[2] == 2 and 1 not in shape:
        return memory._replace(array=memory.array.reshape(shape[0], -1))
    array = memory.array.squeeze()
    if array.ndim < 2 <= len(shape):  # shape (1, 8) is one row, and shape (8, 1) is eight rows
        array = array.reshape(-1, shape[-1])
    if array.ndim != 2:
        raise ValueError(f"table.shape is {shape}; allowed: two dimensions, not counting those of "
                         "size 1")
    return memory._replace(array=array)
