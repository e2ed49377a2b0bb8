"""Numbers as text, each kind in one way; and tables of what was measured, Gfloat/s beside errors.
A table is rows of text, the heading first."""

import math
import textwrap
from collections.abc import Collection, Sequence
from statistics import median

from reporting.documents import COPY, Machine, Measurement, Table

Rows = list[list[str]]
Column = tuple[str, Machine, Table]  # a heading, and what stands below it


def speed_text(speed: float) -> str:
    """Two significant digits, and at most two decimals: "66", "4.9", "0.06". Empty for none."""
    decimals = next((n for n in (2, 1) if round(speed, n) < 10 ** (2 - n)), 0)
    return f"{speed:.{decimals}f}" if speed else ""


def share_text(share: float, is_of_all: bool) -> str:
    """Of entries: of all of a table, or of some. It says "all" only of all, and 100 % only of a
    whole."""
    if share == 1 and is_of_all:
        return "all"
    decimals = 0 if share == 1 else 6 if share > 0.99999 else 3 if share > 0.99 else 1
    most = 100 if share == 1 else 100 - 10**-decimals
    return f"{min(100 * share, most):.{decimals}f} %"


def error_text(error: float) -> str:
    if math.isnan(error):
        return "not a number"
    return f"{error:.2e}".replace("e-0", "e-").replace("e+00", "")


def size_text(size: int) -> str:
    """A size in bytes."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{round(size / factor, 1):g} {unit}"
    return f"{size} B"


def of_which_rows(each: Measurement) -> str:
    """Of which rows the error is: "of 2 % of the rows"."""
    checked = each.error.checked if each.error else 0
    if checked in (0, 1):
        return "of all rows" if checked else "of sampled rows"
    return f"of {100 * checked:.{0 if checked >= 0.01 else 2}f} % of the rows"


def error_cells(each: Measurement) -> list[str]:
    """The largest error, what it is at most, and the share that is correctly rounded, of the rows
    that of_which_rows() names. "all" is proven, or was counted."""
    if each.error is None:
        return ["", "", ""]
    at_most = "" if math.isnan(each.bound) else error_text(each.bound)
    rounded = share_text(each.error.correctly_rounded, each.error.checked == 1)
    rounded = "all" if each.is_correctly_rounded else rounded
    return [error_text(each.error.max_abs), at_most, rounded]


def wrapped(text: str) -> str:
    """In lines of at most 100 characters, which break no size such as "8 x 512"."""
    joined = text.replace(" x ", "\u00a0x\u00a0")
    return textwrap.fill(joined, width=100).replace("\u00a0x\u00a0", " x ")


def aligned(rows: Rows, left: Collection[int] = (0,)) -> str:
    """Cells two spaces apart, the heading among the rows; the columns in `left` are aligned at the
    left, the others at the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    sides = ["<" if column in left else ">" for column in range(len(widths))]
    lines = ("  ".join(map("{:{}{}}".format, row, sides, widths)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def markdown(rows: Rows, left: Collection[int] = (0,)) -> str:
    rule = "".join("---|" if column in left else "---:|" for column in range(len(rows[0])))
    # A bar within a cell would end it.
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in escaped]
    return "\n".join([lines[0], f"|{rule}", *lines[1:]])


def heading(machine: Machine) -> str:
    """ "AMD EPYC ..., avx2; g++ 14.2.0, 2026-11-23; medians of 7 processes"."""
    # The library's rows say how many processes.
    timed = min((each for each in machine.measurements if each.seconds), key=lambda e: e.role)
    compiler, date = machine.facts["compiler"], machine.facts["measured_at"][:10]
    cpu = ", ".join([machine.cpu, *machine.isas[-1:]])
    return f"{cpu}; {compiler}, {date}; medians of {len(timed.seconds)} processes"


def facts(machine: Machine) -> str:
    """ "L1 32 KiB, L2 512 KiB, 2 logical cores, kernels 3f9c0a"."""
    said = [f"{level} {size_text(size)}" for level, size in machine.caches.items()]
    said.append(f"{machine.facts['logical_cores']} logical cores")
    return ", ".join([*said, f"kernels {machine.facts['kernels']}"])


def columns_of(machine: Machine, *roles: str) -> list[Column]:
    """Every table, by its size alone where that tells the tables apart."""
    tables = list(dict.fromkeys(each.table for each in machine.plain(*roles)))
    tables.sort(key=lambda table: (table.entries, table.rows, table.name))
    sizes = [table.size for table in tables]
    return [(table.size if sizes.count(table.size) == 1 else table.name, machine, table)
            for table in tables]  # fmt: skip


def speeds(
    columns: Sequence[Column], roles: Collection[str] = ("backend",), by_isa: bool = False
) -> tuple[str, Rows]:
    """A row for each encoder of these roles, by name or also by ISA: those that are proven to round
    correctly first, the fastest of each first. Libraries are marked by a star. The last columns
    are errors of the table that reaches furthest; the sentence says of which rows. The last rows
    are a copy and the limit of the memory."""
    found: dict[str, dict[tuple[Machine, Table], Measurement]] = {}
    for machine in dict.fromkeys(machine for _, machine, _ in columns):
        for each in machine.plain(*roles, every_isa=by_isa):
            name = (each.name if by_isa else each.backend) + "*" * (each.role == "peer")
            found.setdefault(name, {})[machine, each.table] = each
    furthest: dict[str, Measurement] = {}
    for name, of_name in found.items():
        if with_error := [each for each in of_name.values() if each.error]:
            furthest[name] = max(with_error, key=lambda each: (each.table.reach, each.max_abs))

    def order(name: str) -> tuple[bool, float]:
        all_tables = found[name].values()
        is_rounded = any(each.is_correctly_rounded for each in all_tables)
        return not is_rounded, -median(each.speed for each in all_tables)

    of_what = {name: f"{of_which_rows(each)} of {each.table.size}"
               for name, each in furthest.items()}  # fmt: skip
    is_same = len(set(of_what.values())) == 1
    rows = [["", *(text for text, _, _ in columns), "largest error", "at most",
             "correctly rounded"]]  # fmt: skip
    for name in sorted(found, key=order):
        at = [found[name].get((machine, table)) for _, machine, table in columns]
        errors = error_cells(furthest[name]) if name in furthest else ["", "", ""]
        errors[0] += f" ({of_what[name]})" if name in furthest and not is_same else ""
        rows.append([name, *(speed_text(each.speed) if each else "" for each in at), *errors])
    copies = (machine.loops(table).get(COPY, 0.0) for _, machine, table in columns)
    limits = (machine.limit(table) for _, machine, table in columns)
    for text, of_memory in ((COPY, copies), ("limit", limits)):
        rows.append([text, *map(speed_text, of_memory), "", "", ""])
    rows_of = f" over {min(of_what.values()).removeprefix('of ')}" if is_same else ""
    return f'Errors are the largest{rows_of}. "At most" is the proven bound.', rows
