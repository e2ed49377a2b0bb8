"""Checks whether a table is right and, if it is not, why."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc._posenc import (
    CheckReport, RotatedReport, Rotary, check_rotated_heads, check_table, preset,
)
from posenc.rotary_config import Config, rotary_from_config

__all__ = ["check", "check_rotated"]


def check(table: Any, preset_name: str | None = None, /, *, config: Config | None = None,
          layers: str | None = None, threads: int = 1, max_error: float | None = None,
          **expected: Any) -> CheckReport:
    """Judges a table, identifies it, and says what is wrong with it.

    table: an array or tensor in CPU memory, with any strides, and with two dimensions besides
    dimensions of size 1. It may also hold pairs, of shape (n, d / 2, 2), or complex numbers, cosine
    + i sine. preset_name: the convention that the table should have. expected: parts of the
    convention, as in Encoder(): d_model, base, layout, spacing, frequencies, first. layout may also
    be "interleaved_cos_first". Parts that neither argument names are found from the values. config,
    layers: a model's config.json, as in rotary_from_config(); the table should then be the cache of
    its rotary embedding. max_error: the allowed error of each entry, by default an ulp of the type
    at 1, and the cost of phases in double. Raises ValueError if an argument is not allowed.

    >>> posenc.check(model.rotary_emb.cos_cached, base=500000.0)
    """
    if config is not None:
        expected["rotary"] = rotary_from_config(config, layers=layers)
    if preset_name is not None:
        convention = preset(preset_name)
        del convention["d_model"]  # the table has its own
        expected = convention | expected | {"is_whole": True}
    return check_table(_of_two_dimensions(table), threads=threads, max_error=max_error, **expected)


def check_rotated(before: Any, after: Any, positions: Any, rotary: Rotary, *,
                  max_error: float | None = None, threads: int = 1) -> RotatedReport:
    """Judges a kernel that rotates queries or keys, by the heads before and after it.

    before, after: arrays or tensors from any device, of shape (rows, heads, channels), or with rows
    and heads exchanged, besides dimensions of size 1. Random numbers in many heads show the most.
    positions: as in Rotary.apply(), or the number of rows, from position 0 on. max_error: the
    allowed error of an angle in radians, besides the noise of rounded elements; by default, an ulp
    of float32. Raises ValueError if an argument is not allowed.

    >>> posenc.check_rotated(q, kernel(q, positions), positions, posenc.Rotary(128))
    """
    return check_rotated_heads(_on_cpu(before), _on_cpu(after), positions, rotary,
                               max_error=max_error, threads=threads)


def _on_cpu(heads: Any) -> Any:
    return heads.detach().cpu() if hasattr(heads, "detach") else heads


def _of_two_dimensions(table: Any) -> Any:
    """Puts pairs side by side: from shape (n, d / 2, 2), or from complex numbers."""
    if "complex" in str(getattr(table, "dtype", "")):
        values = np.ascontiguousarray(table)
        return values.view(values.real.dtype)
    shape = tuple(getattr(table, "shape", ()))
    has_pairs = len(shape) == 3 and shape[2] == 2 and 1 not in shape
    return table.reshape(shape[0], -1) if has_pairs else table
