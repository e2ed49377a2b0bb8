"""Tables of text: aligned for people, or Markdown."""

import textwrap
from collections.abc import Collection, Sequence

COLUMNS = 100
GAP = "  "

# The text that is shown, or that text and what a page sorts it by.
Cell = str | tuple[str, float]
Row = Sequence[Cell]


def text_of(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def aligned_rows(rows: Sequence[Row], left: Collection[int], wrap_last: bool = False) -> list[str]:
    """The rows with cells of equal width in each column, two spaces apart; the columns in `left`
    are aligned at the left, the others at the right. If `wrap_last`, the last column's words
    continue below themselves where a line would be longer than COLUMNS."""
    texts = [list(map(text_of, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    return [_aligned(row, widths, left, wrap_last) for row in texts]


def _aligned(row: list[str], widths: list[int], left: Collection[int], wrap_last: bool) -> str:
    cells = [
        cell.ljust(width) if column in left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths))
    ]
    if not wrap_last:
        return GAP.join(cells).rstrip()
    start = GAP.join(cells[:-1]) + GAP
    room = max(20, COLUMNS - len(start))
    first, *more = textwrap.wrap(row[-1], room, break_long_words=False) or [""]
    return "\n".join([(start + first).rstrip(), *(" " * len(start) + part for part in more)])


def text_table(header: Row, rows: Sequence[Row], left: Collection[int]) -> str:
    return "\n".join(aligned_rows([header, *rows], left))


def markdown_table(header: Row, rows: Sequence[Row], left: Collection[int]) -> str:
    rule = ["---" if column in left else "---:" for column in range(len(header))]
    # A bar within a cell would end it.
    lines = [[text_of(cell).replace("|", "\\|") for cell in row] for row in (header, rule, *rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
