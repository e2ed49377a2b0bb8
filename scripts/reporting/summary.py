"""The tables of the README, from documents of measurements: what each backend reaches at its best
ISA on each table, beside a copy of a finished table and the limit of the memory. And a table of
every ISA."""

import textwrap
from collections.abc import Callable, Sequence

from reporting.documents import COPY, STORES, Machine, Measurement, Table
from reporting.failures import BadInput
from reporting.tables import markdown_table, text_table
from reporting.units import error_text, share_text, speed_text

ROWS_BY_D_MODEL = "rows x d_model"


Lines = list[list[str]]  # the heading and the rows of a table


class Summary:
    """Of one machine, the encoders by table: those that `is_shown` keeps."""

    def __init__(self, machine: Machine, is_shown: Callable[[Measurement], bool]) -> None:
        found = machine.timed(is_shown)
        self.machine = machine
        self.tables = sorted({each.table for each in found}, key=_order)
        self.speeds = {(each.backend, each.table): each.speed for each in found}
        self.encoders: dict[str, Measurement] = {}  # by name, on the table that reaches furthest
        for each in sorted(found, key=lambda each: (each.table.last, each.table.entries)):
            self.encoders[each.backend] = each

    def best_first(self) -> list[str]:
        """Those that promise correct rounding, then the others; in each, by their median speed."""

        def order(name: str) -> tuple[bool, float]:
            speeds = [speed for (backend, _), speed in self.speeds.items() if backend == name]
            return not self.encoders[name].is_correctly_rounded, -sorted(speeds)[len(speeds) // 2]

        return sorted(self.encoders, key=order)

    def names_of_tables(self) -> list[str]:
        """Sizes alone where they tell the tables apart."""
        sizes = [table.size for table in self.tables]
        return [each.size if sizes.count(each.size) == 1 else each.name for each in self.tables]

    def _speed_cell(self, name: str, table: Table) -> str:
        speed = self.speeds.get((name, table), 0.0)
        return speed_text(speed) if speed else ""

    def by_table(self) -> Lines:
        """A row for each table, a column for each backend; errors in two rows below."""
        names = self.best_first()
        rows = [[ROWS_BY_D_MODEL, *(f"`{name}`" for name in names), "copy", "limit"]]
        for table, size in zip(self.tables, self.names_of_tables()):
            loops = (self.machine.loops(table).get(COPY, 0.0), self.machine.limit(table))
            speeds = [self._speed_cell(name, table) for name in names]
            rows.append([size, *speeds, *(speed_text(each) if each else "" for each in loops)])
        errors = [self.encoders[name].error for name in names]
        furthest = max(self.tables, key=lambda table: (table.last, table.entries))
        largest = [error_text(error.max_abs) if error else "" for error in errors]
        rounded = [share_text(error.correctly_rounded) if error else "" for error in errors]
        rows.append([f"largest error, {furthest.size}", *largest, "", ""])
        rows.append(["correctly rounded", *rounded, "", ""])
        return rows

    def by_backend(self) -> Lines:
        """The same with a row for each backend, for many of them."""

        def order(name: str) -> float:
            return -self.speeds.get((name, self.tables[-1]), 0.0)

        rows = [["", "phases", *self.names_of_tables(), "largest error"]]
        for name in sorted(self.encoders, key=order):
            phases, error = self.encoders[name].phases, self.encoders[name].error
            speeds = [self._speed_cell(name, table) for table in self.tables]
            largest = error_text(error.max_abs) if error else ""
            rows.append([f"`{name}`", phases, *speeds, largest])
        return rows


def _order(table: Table) -> tuple[int, int, str]:
    return table.entries, table.rows, table.name


def heading(machine: Machine, isa: str = "") -> str:
    """ "AMD EPYC ..., avx2; g++ 14.2.0, 2026-11-23; medians of 7 processes"."""
    timed = [each for each in machine.measurements if each.seconds]
    timed.sort(key=lambda each: each.role)  # the library's rows say how many processes
    facts = machine.facts
    isa = isa or (machine.isas[-1] if machine.isas else "")
    parts = [
        f"{machine.cpu}, {isa}" if isa else machine.cpu,
        f"{facts['compiler']}, {str(facts['measured_at'])[:10]}",
        f"medians of {len(timed[0].seconds)} processes",
    ]
    return "; ".join(parts)


def _left(lines: Lines) -> Sequence[int]:
    """The columns of text."""
    return [column for column, name in enumerate(lines[0]) if not column or name == "phases"]


def _markdown(lines: Lines) -> str:
    return markdown_table(lines[0], lines[1:], left=_left(lines))


def _text(lines: Lines) -> str:
    plain = [[cell.strip("`") for cell in row] for row in lines]
    return text_table(plain[0], plain[1:], left=_left(lines))


FORMATS = {"markdown": _markdown, "text": _text}


def is_float32_of_one_thread(each: Measurement) -> bool:
    return each.table.threads == 1 and each.table.dtype == "float32"


def summary_of(
    machines: Sequence[Machine], sizes: Sequence[str], with_peers: bool, format: str
) -> str:
    """Empty if nothing was timed. Sizes such as "5000 x 512", or none for all."""

    def is_shown(each: Measurement) -> bool:
        return is_float32_of_one_thread(each) and (not sizes or each.table.size in sizes)

    parts = []
    for machine in machines:
        ours = Summary(machine, lambda each: is_shown(each) and each.role == "backend")
        everything = Summary(machine, is_shown)
        if not everything.tables:
            continue
        parts.append(f"{heading(machine)}:")
        if machine.facts["disturbed"]:
            parts.append(f"Not reliable: {machine.facts['disturbed']}.")
        if ours.tables:
            parts.append(FORMATS[format](ours.by_table()))
        if with_peers and everything.encoders.keys() != ours.encoders.keys():
            parts.append(FORMATS[format](everything.by_backend()))
    return "\n\n".join(parts)


def summary_at(machine: Machine, isa: str, sizes: Sequence[str]) -> str:
    """As summary_of() in Markdown, as if the CPU had no better ISA. Refuses sizes that were not
    measured."""
    highest = machine.isa_rank(isa)
    summary = Summary(
        machine,
        lambda each: is_float32_of_one_thread(each) and each.role == "backend"
        and each.table.size in sizes and machine.isa_rank(each.isa) <= highest,
    )  # fmt: skip
    measured = {table.size for table in summary.tables}
    if missing := [size for size in sizes if size not in measured]:
        raise BadInput(f"{machine.cpu} has no times of {', '.join(missing)}")
    origin = textwrap.fill(f"{heading(machine, isa)}:", width=100)
    return f"{origin}\n\n{_markdown(summary.by_table())}"


def table_of_all_isas(machine: Machine) -> str:
    """In Markdown: a row for each backend and ISA and each memory loop, a column for each table."""
    timed = [each for each in machine.measurements
             if each.seconds and is_float32_of_one_thread(each)]  # fmt: skip
    best = Summary(machine, lambda each: is_float32_of_one_thread(each) and each.role == "backend")
    speeds = {(each.name, each.table): each.speed for each in timed}
    order = [*best.best_first(), *STORES, COPY]
    shown = {
        each.name: each for each in sorted(timed, key=lambda each: _order(each.table))
        if each.backend in order
    }  # fmt: skip

    def place(name: str) -> tuple[int, int]:
        return order.index(shown[name].backend), -machine.isa_rank(shown[name].isa)

    rows = []
    for name in sorted(shown, key=place):
        error = shown[name].error
        cells = [speeds.get((name, table), 0.0) for table in best.tables]
        largest = error_text(error.max_abs) if error else ""
        rows.append([f"`{name}`", *(speed_text(each) if each else "" for each in cells), largest])
    sizes = best.names_of_tables()
    header = ["", *sizes, f"largest error, {sizes[-1]}"]
    return markdown_table(header, rows, left=(0,))
