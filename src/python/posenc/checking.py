"""Whether a table is right, and if not, why."""

from __future__ import annotations

from typing import Any

from posenc._posenc import CheckReport, check_table, preset

__all__ = ["check"]


def check(table: Any, preset_name: str | None = None, /, *, threads: int = 1,
          max_error: float | None = None, **expected: Any) -> CheckReport:
    """Judges a table, identifies it, and says what is wrong with it.

    table: an array or a tensor in the memory of the CPU, of any strides, with two dimensions
    besides those of size 1. preset_name, expected: what it should be; without them, it is found
    from the values. expected: d_model, base, layout, spacing, frequencies, first, as in Encoder();
    what is not named is found. layout may also be "interleaved_cos_first". max_error: every entry
    must be within it, instead of an ulp of the type at 1 (and what phases in double cost). Raises
    ValueError if an argument is not allowed.

    >>> posenc.check(model.rotary_emb.cos_cached, base=500000.0)
    """
    if preset_name is not None:
        convention = preset(preset_name)
        del convention["d_model"]  # the table's own
        expected = convention | expected
    return check_table(table, threads=threads, max_error=max_error, **expected)
