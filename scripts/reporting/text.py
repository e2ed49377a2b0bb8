"""Numbers as text, each kind in one way; and tables of text, aligned for people or in Markdown."""

import math
import textwrap
from collections.abc import Collection

SIZE_UNITS = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}  # in bytes

Rows = list[list[str]]


def speed_text(speed: float) -> str:
    """Two significant digits, and at most two decimals: "66", "4.9", "0.06". Empty for none."""
    decimals = next((n for n in (2, 1) if round(speed, n) < 10 ** (2 - n)), 0)
    return f"{speed:.{decimals}f}" if speed else ""


def percent(share: float, decimals: int = 1) -> str:
    return f"{100 * share:.{decimals}f} %"


def share_text(share: float, is_of_all: bool) -> str:
    """Of entries: of all of a table, or of some. Truncated and not rounded: it says "all" only of
    all, and 100 % only of a whole."""
    if share == 1 and is_of_all:
        return "all"
    decimals = 0 if share == 1 else 6 if share > 0.99999 else 3 if share > 0.99 else 1
    return percent(math.floor(share * 100 * 10**decimals + 1e-6) / 10 ** (decimals + 2), decimals)


def error_text(error: float) -> str:
    if math.isnan(error):
        return "not a number"
    return f"{error:.2e}".replace("e-0", "e-").replace("e+00", "")


def size_text(size: int) -> str:
    """A size in bytes."""
    for unit, factor in SIZE_UNITS.items():
        if size >= factor:
            return f"{round(size / factor, 1):g} {unit}"
    return f"{size} B"


def wrapped(text: str) -> str:
    """In lines of at most 100 characters, which break no size such as "8 x 512"."""
    joined = text.replace(" x ", "\u00a0x\u00a0")
    return textwrap.fill(joined, width=100).replace("\u00a0x\u00a0", " x ")


def aligned(rows: Rows, left: Collection[int] = (0,)) -> str:
    """Cells two spaces apart, the heading among the rows; the columns in `left` are aligned at the
    left, the others at the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = (cell.ljust(width) if column in left else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths)))  # fmt: skip
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(rows: Rows, left: Collection[int] = (0,)) -> str:
    rule = "".join("---|" if column in left else "---:|" for column in range(len(rows[0])))
    # A bar within a cell would end it.
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in escaped]
    return "\n".join([lines[0], f"|{rule}", *lines[1:]])
