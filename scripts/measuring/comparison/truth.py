"""What a float32 table gets wrong, against the formula in long double."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from measuring.errors import need_numpy


@dataclass
class TableError:
    max_abs: float
    correctly_rounded: float  # share of the entries


def reference_blocks(rows: int, d_model: int) -> Iterator[tuple[int, Any]]:
    """The paper's table in long double, interleaved: pairs of a first row and the rows from there,
    shape (up to B, d_model), in memory that the next pair takes again.

    By angle addition, sin(a + b) and cos(a + b) of the block's first position a and of b below B: a
    sine in long double is too slow to be taken of every entry. The error stays near 1e-14 for
    positions up to 10^5: it is the phases' own.
    """
    numpy = need_numpy()
    long = numpy.longdouble
    frequencies = long(10000) ** (-numpy.arange(0, d_model, 2).astype(long) / d_model)
    size = max(1, math.isqrt(rows))
    within = numpy.arange(min(size, rows)).astype(long)[:, None] * frequencies
    sine, cosine = numpy.sin(within), numpy.cos(within)
    table = numpy.empty((len(within), d_model), dtype=long)
    product = numpy.empty_like(within)
    for first in range(0, rows, size):
        count = min(size, rows - first)
        start = long(first) * frequencies
        block, other = table[:count], product[:count]
        numpy.multiply(numpy.sin(start), cosine[:count], out=block[:, 0::2])
        block[:, 0::2] += numpy.multiply(numpy.cos(start), sine[:count], out=other)
        numpy.multiply(numpy.cos(start), cosine[:count], out=block[:, 1::2])
        block[:, 1::2] -= numpy.multiply(numpy.sin(start), sine[:count], out=other)
        yield first, block


def table_errors(tables: Mapping[str, Any], rows: int, d_model: int) -> dict[str, TableError]:
    """The error of each program's table; none if long double is no wider than double, as with
    posenc's own reference."""
    numpy = need_numpy()
    if numpy.finfo(numpy.longdouble).nmant <= numpy.finfo(numpy.float64).nmant:
        return {}
    largest, correct = dict.fromkeys(tables, 0.0), dict.fromkeys(tables, 0)
    memory = None
    for first, block in reference_blocks(rows, d_model):
        memory = numpy.empty_like(block) if memory is None else memory  # the first is the largest
        difference = memory[: len(block)]
        nearest = block.astype(numpy.float32)
        for program, table in tables.items():
            part = table.reshape(rows, d_model)[first : first + len(block)]
            numpy.subtract(part, block, out=difference)
            error = max(float(difference.max()), -float(difference.min()))
            largest[program] = max(largest[program], error)
            correct[program] += int(numpy.count_nonzero(part == nearest))
    entries = rows * d_model
    return {each: TableError(largest[each], correct[each] / entries) for each in tables}
