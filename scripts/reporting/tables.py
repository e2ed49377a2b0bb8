"""Numbers as text, each kind in the same form, and tables of measurements: Gfloat/s beside errors.
A table is a list of rows of text; the heading comes first."""

import math
import textwrap
from collections.abc import Collection
from statistics import median

from reporting.documents import COPY, Document, Measurement, Table

Rows = list[list[str]]
ERROR_HEADINGS = ["largest error", "at most", "correctly rounded"]


def speed_text(speed: float) -> str:
    """Two significant digits, and at most two decimals: "66", "4.9", "0.06". Empty for none."""
    decimals = next((n for n in (2, 1) if round(speed, n) < 10 ** (2 - n)), 0)
    return f"{speed:.{decimals}f}" if speed else ""


def share_text(share: float, is_of_all: bool) -> str:
    """A share of the entries of a table, or of some of them. The text is "all" only if the share is
    1 and covers the whole table, and 100 % only if the share is 1."""
    if share == 1 and is_of_all:
        return "all"
    decimals = 0 if share == 1 else 6 if share > 0.99999 else 3 if share > 0.99 else 1
    most = 100 if share == 1 else 100 - 10**-decimals
    return f"{min(100 * share, most):.{decimals}f} %"


def error_text(error: float) -> str:
    """The nearest number with three digits: "2.98e-8"."""
    if math.isnan(error):
        return "not a number"
    return f"{error:.2e}".replace("e-0", "e-").replace("e+00", "")


def bound_text(bound: float) -> str:
    """The bound rounded up, so that the text is a bound, too, and can be typed in: "2.99e-8"."""
    nearest = f"{bound:.2e}"
    if math.isfinite(bound) and float(nearest) < bound:
        bound += 0.5 * 10.0 ** (int(nearest.split("e")[1]) - 2)
    return error_text(bound)


def size_text(size: int) -> str:
    """A size in bytes."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{round(size / factor, 1):g} {unit}"
    return f"{size} B"


def checked_rows(each: Measurement) -> str:
    """The rows that the error covers: "2 % of the rows". Old documents do not say how many."""
    checked = each.error["checked"]
    if checked in (0, 1):
        return "all rows" if checked else "sampled rows"
    return f"{100 * checked:.{0 if checked >= 0.01 else 2}f} % of the rows"


def error_cells(each: Measurement | None) -> list[str]:
    """The largest error, its proven bound, and the share of correctly rounded entries, over the
    rows that checked_rows() names. "all" is either proven or counted."""
    if not each or not each.error:
        return ["", "", ""]
    at_most = "" if math.isnan(each.max_bound) else bound_text(each.max_bound)
    rounded = share_text(each.error["correctly_rounded"], each.error["checked"] == 1)
    is_proven = each.bound.get("correctly_rounded")
    return [error_text(each.max_abs), at_most, "all" if is_proven else rounded]


def wrapped(text: str) -> str:
    """Wraps the text in lines of at most 100 characters. Sizes such as "8 x 512" are not broken."""
    joined = text.replace(" x ", "\u00a0x\u00a0")
    return textwrap.fill(joined, width=100).replace("\u00a0x\u00a0", " x ")


def aligned(rows: Rows) -> str:
    """The rows as text, with two spaces between cells. The first column is aligned at the left, and
    the others at the right."""
    first, *others = (max(map(len, column)) for column in zip(*rows))
    lines = ("  ".join([f"{row[0]:<{first}}", *map(str.rjust, row[1:], others)]) for row in rows)
    return "\n".join(map(str.rstrip, lines))


def markdown(rows: Rows, left: Collection[int] = (0,)) -> str:
    rule = "".join("---|" if column in left else "---:|" for column in range(len(rows[0])))
    # A bar within a cell would end it.
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in escaped]
    return "\n".join([lines[0], f"|{rule}", *lines[1:]])


def heading(document: Document) -> str:
    """The heading of a document, such as "AMD EPYC ..., avx2; g++ 14.2.0, 2026-11-23; medians of 7
    processes"."""
    processes = len(document.plain()[0].seconds)
    return f"{document.cpu}, {document.session}; medians of {processes} processes"


def facts(document: Document) -> str:
    """Facts such as "L1 32 KiB, L2 512 KiB, 2 logical cores, kernels 3f9c0a"."""
    caches = (f"{level} {size_text(size)}" for level, size in document.caches.items())
    cores, kernels = f"{document.logical_cores} logical cores", f"kernels {document.kernels}"
    return ", ".join([*caches, cores, kernels])


def speeds(document: Document, *roles: str, by_isa: bool = False) -> tuple[str, Rows]:
    """Returns a sentence about the errors, and a table with a row for each encoder of these roles
    (default: all roles), by name or also by ISA. Encoders that are proven to round correctly come
    first, and in each group the fastest. Other libraries are marked by a star. Each encoded table
    has a column, whose heading is the size alone if no other table has this size. The last columns
    are errors of the table that reaches furthest, which the sentence names. The last rows are a
    copy and the limit of the memory."""
    found: dict[str, dict[Table, Measurement]] = {}
    for each in document.plain(*roles, every_isa=by_isa):
        name = (each.name if by_isa else each.backend) + "*" * (each.role == "peer")
        found.setdefault(name, {})[each.table] = each
    tables = list({table for of_name in found.values() for table in of_name})
    tables.sort(key=lambda table: (table.entries, table.rows, table.name))
    sizes = [table.size for table in tables]
    headings = (each.size if sizes.count(each.size) == 1 else each.name for each in tables)

    def order(name: str) -> tuple[bool, float]:
        all_tables = found[name].values()
        is_rounded = any(each.bound.get("correctly_rounded") for each in all_tables)
        return not is_rounded, -median(each.speed for each in all_tables)

    with_error = [each for of_name in found.values() for each in of_name.values() if each.error]
    furthest = max(with_error, key=lambda each: each.table.reach, default=None)
    rows = [["", *headings, *ERROR_HEADINGS]]
    for name in sorted(found, key=order):
        at = map(found[name].get, tables)
        errors = error_cells(found[name].get(furthest.table) if furthest else None)
        rows.append([name, *(speed_text(each.speed) if each else "" for each in at), *errors])
    copies = [document.loops(table).get(COPY, 0.0) for table in tables]
    for text, of_memory in ((COPY, copies), ("limit", list(map(document.limit, tables)))):
        if any(of_memory):
            rows.append([text, *map(speed_text, of_memory), "", "", ""])
    over = f" over {checked_rows(furthest)} of {furthest.table.size}" if furthest else ""
    return f'Errors are the largest{over}. "At most" is the proven bound, rounded up.', rows
