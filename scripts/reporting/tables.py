"""Tables of text: aligned for people, or Markdown."""

from collections.abc import Collection, Sequence

# The text that is shown, or that text and what a page sorts it by.
Cell = str | tuple[str, float]
Row = Sequence[Cell]


def text_of(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def text_table(header: Row, rows: Sequence[Row], left: Collection[int]) -> str:
    """Cells of equal width in each column, two spaces apart; the columns in `left` are aligned at
    the left, the others at the right."""
    texts = [list(map(text_of, row)) for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts)]
    lines = []
    for row in texts:
        cells = [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown_table(header: Row, rows: Sequence[Row], left: Collection[int]) -> str:
    rule = f"|{'|'.join('---' if column in left else '---:' for column in range(len(header)))}|"

    def line(row: Row) -> str:
        # A bar within a cell would end it.
        cells = [text_of(cell).replace("|", "\\|") for cell in row]
        return f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|"

    return "\n".join([line(header), rule, *map(line, rows)])
