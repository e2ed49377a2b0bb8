"""Tables of what was measured: Gfloat/s beside errors. Rows of text, the heading first."""

from collections.abc import Collection, Iterable, Sequence
from statistics import median

from reporting.documents import COPY, Machine, Measurement, Table
from reporting.text import Rows, speed_text

Column = tuple[str, Machine, Table]  # a heading, and what stands below it


def heading(machine: Machine) -> str:
    """ "AMD EPYC ..., avx2; g++ 14.2.0, 2026-11-23; medians of 7 processes"."""
    # The library's rows say how many processes.
    timed = sorted((each for each in machine.measurements if each.seconds), key=lambda e: e.role)
    compiler, date = machine.facts["compiler"], machine.facts["measured_at"][:10]
    cpu = ", ".join([machine.cpu, *machine.isas[-1:]])
    return f"{cpu}; {compiler}, {date}; medians of {len(timed[0].seconds)} processes"


def not_reliable(measured: Iterable[Measurement]) -> str:
    """Why times of these are not to be relied on, in a sentence; empty if they are."""
    reasons = dict.fromkeys(each.disturbed for each in measured if each.disturbed)
    return f"Not reliable: {'; '.join(reasons)}." if reasons else ""


def order_of(table: Table) -> tuple[int, int, str]:
    return table.entries, table.rows, table.name


def columns_of(machine: Machine, *roles: str) -> list[Column]:
    """Every table, by its size alone where that tells the tables apart."""
    tables = sorted({each.table for each in machine.plain(*roles)}, key=order_of)
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

    of_what = {_of_what(each) for each in furthest.values()}
    header = ["", *(text for text, _, _ in columns)]
    rows = [[*header, "largest error", "at most", "correctly rounded"]]
    for name in sorted(found, key=order):
        at = [found[name].get((machine, table)) for _, machine, table in columns]
        cells = [speed_text(each.speed) if each else "" for each in at]
        errors = ["", "", ""]
        if last := furthest.get(name):
            errors = last.error_cells
            errors[0] += f" ({_of_what(last)})" if len(of_what) > 1 else ""
        rows.append([name, *cells, *errors])
    copies = (machine.loops(table).get(COPY, 0.0) for _, machine, table in columns)
    limits = (machine.limit(table) for _, machine, table in columns)
    for text, of_memory in ((COPY, copies), ("limit", limits)):
        rows.append([text, *map(speed_text, of_memory), "", "", ""])
    sentence = f"the largest {of_what.pop()}" if len(of_what) == 1 else "the largest"
    return f"Errors: {sentence}, and at most what is proven.", rows


def _of_what(measured: Measurement) -> str:
    return f"{measured.rows_text} of {measured.table.size}"
