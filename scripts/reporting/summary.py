"""Tables of what was measured: Gfloat/s beside errors, element types, and the verdicts of posenc
pick. Rows of text, of which the first is the heading."""

from collections.abc import Mapping, Sequence
from typing import Any

from reporting.documents import BYTES_OF_TYPE, COPY, STORES, Machine, Measurement, Table
from reporting.text import Rows, error_text, size_text, speed_text

ROWS_BY_D_MODEL = "rows x d_model"
LIMIT = "limit"
ANSWER_LEFT = (0, 1, 2)  # columns of text


def heading(machine: Machine, isa: str = "") -> str:
    """ "AMD EPYC ..., avx2; g++ 14.2.0, 2026-11-23; medians of 7 processes"."""
    timed = [each for each in machine.measurements if each.seconds]
    timed.sort(key=lambda each: each.role)  # the library's rows say how many processes
    compiler, date = machine.facts["compiler"], machine.facts["measured_at"][:10]
    isa = isa or (machine.isas[-1] if machine.isas else "")
    cpu = f"{machine.cpu}, {isa}" if isa else machine.cpu
    return f"{cpu}; {compiler}, {date}; medians of {len(timed[0].seconds)} processes"


def not_reliable(measured: Sequence[Measurement]) -> str:
    """Why times of these are not to be relied on, in a sentence; empty if they are."""
    reasons = dict.fromkeys(each.disturbed for each in measured if each.disturbed)
    return f"Not reliable: {'; '.join(reasons)}." if reasons else ""


def order_of(table: Table) -> tuple[int, int, str]:
    return table.entries, table.rows, table.name


def furthest(measured: Sequence[Measurement]) -> dict[str, Measurement]:
    """Of each name, the one with an error on the table that reaches furthest; of several CPUs the
    one that errs most."""
    found: dict[str, Measurement] = {}
    with_error = [each for each in measured if each.error]
    for each in sorted(with_error, key=lambda each: each.error.max_abs if each.error else 0.0):
        other = found.get(each.backend)
        if other is None or each.table.reach >= other.table.reach:
            found[each.backend] = each
    return found


def best_first(measured: Sequence[Measurement]) -> list[str]:
    """Those that are proven to round correctly, then the others; in each, by median speed."""
    speeds: dict[str, list[float]] = {}
    is_rounded = {each.backend: each.is_correctly_rounded for each in measured}
    for each in measured:
        speeds.setdefault(each.backend, []).append(each.speed)

    def order(name: str) -> tuple[bool, float]:
        return not is_rounded[name], -sorted(speeds[name])[len(speeds[name]) // 2]

    return sorted(speeds, key=order)


def errors_of(measured: Sequence[Measurement | None]) -> tuple[str, Rows]:
    """A sentence that says of what the errors are, and of each the cells: largest, proven bound,
    share correctly rounded. If they are not alike, the cells say it."""

    def said(each: Measurement) -> str:
        return f"{each.rows_text} of {each.table.size}"

    of_what = {said(each) for each in measured if each and each.error}
    cells = []
    for each in measured:
        if each is None or each.error is None:
            cells.append(["", "", ""])
            continue
        largest = each.largest_text + (f" ({said(each)})" if len(of_what) > 1 else "")
        at_most = f"at most {error_text(each.bound)}" if each.bound == each.bound else ""
        cells.append([largest, at_most, each.rounded_text])
    return f"Errors: the largest {of_what.pop()}." if len(of_what) == 1 else "", cells


def names_of(tables: Sequence[Table]) -> list[str]:
    """Sizes alone where they tell the tables apart."""
    sizes = [table.size for table in tables]
    return [each.size if sizes.count(each.size) == 1 else each.name for each in tables]


def by_table(machine: Machine) -> tuple[str, Rows]:
    """A row for each table, a column for each of the library's backends, and their errors below;
    a sentence says of what these are."""
    measured = [each for each in machine.plain() if each.role == "backend"]
    tables = sorted({each.table for each in measured}, key=order_of)
    names, of_name = best_first(measured), furthest(measured)
    speeds = {(each.backend, each.table): each.speed for each in measured}
    rows = [[ROWS_BY_D_MODEL, *names, COPY, LIMIT]]
    for table, size in zip(tables, names_of(tables)):
        loops = (machine.loops(table).get(COPY, 0.0), machine.limit(table))
        found = [speeds.get((name, table), 0.0) for name in names]
        rows.append([size, *map(speed_text, [*found, *loops])])
    sentence, errors = errors_of([of_name.get(name) for name in names])
    for place, text in ((0, "largest error"), (2, "correctly rounded")):
        rows.append([text, *(cells[place] for cells in errors), "", ""])
    return sentence, rows


def by_backend(machine: Machine) -> tuple[str, Rows]:
    """A row for each backend and each other library, marked by a star."""
    measured = machine.plain()
    tables = sorted({each.table for each in measured}, key=order_of)
    speeds = {(each.backend, each.table): each.speed for each in measured}
    one = {each.backend: each for each in measured}
    names = sorted(one, key=lambda name: -speeds.get((name, tables[-1]), 0.0))
    sentence, errors = errors_of([furthest(measured).get(name) for name in names])
    header = ["", "phases", *names_of(tables), "largest error", "proven", "correctly rounded"]
    rows = [header]
    for name, cells in zip(names, errors):
        title = name + ("*" if one[name].role == "peer" else "")
        found = [speed_text(speeds.get((name, table), 0.0)) for table in tables]
        rows.append([title, one[name].phases, *found, *cells])
    return sentence, rows


def by_type(machine: Machine) -> Rows:
    """Of the library's backends, the tables that were measured in several types."""
    speeds: dict[tuple[str, str], dict[str, float]] = {}
    for each in machine.timed(lambda each: each.role == "backend" and each.table.threads == 1):
        speeds.setdefault((each.backend, each.table.size), {})[each.table.dtype] = each.speed
    several = {place: found for place, found in speeds.items() if len(found) > 1}
    types = [dtype for dtype in BYTES_OF_TYPE if any(dtype in found for found in several.values())]
    rows = [["", *types]]
    for (name, size), found in several.items():
        cells = [speed_text(found.get(dtype, 0.0)) for dtype in types]
        rows.append([f"{name}, {size}", *cells])
    return rows


def by_isa(machine: Machine) -> tuple[str, Rows]:
    """A row for each of the library's backends and ISAs and each memory loop."""
    timed = [each for each in machine.measurements if each.seconds and each.role != "peer"
             and each.table.threads == 1 and each.table.dtype == "float32"]  # fmt: skip
    ours = best_first([each for each in machine.plain() if each.role == "backend"])
    order = [*ours, *STORES, COPY]
    tables = sorted({each.table for each in timed}, key=order_of)
    speeds = {(each.name, each.table): each.speed for each in timed}
    last = {each.name: each for each in sorted(timed, key=lambda each: each.table.reach)}
    names = sorted(
        last, key=lambda name: (order.index(last[name].backend), -machine.isa_rank(last[name].isa))
    )
    sentence, errors = errors_of([last[name] for name in names])
    rows = [["", *names_of(tables), "largest error"]]
    for name, (largest, _, _) in zip(names, errors):
        cells = [speed_text(speeds.get((name, table), 0.0)) for table in tables]
        rows.append([f"`{name}`", *cells, largest])
    return sentence, rows


def class_text(judged: Mapping[str, Any], caches: Mapping[str, int]) -> str:
    """The class of tables in bytes, such as "48 KiB to 1 MiB (L2)"."""
    level, levels = str(judged["shape_class"]).upper(), list(caches)
    if level in caches:
        below = levels[levels.index(level) - 1] if levels.index(level) else None
        low = f"{size_text(caches[below])} to " if below else "up to "
        text = f"{low}{size_text(caches[level])} ({level})"
    else:
        text = f"beyond {size_text(caches[levels[-1]])}" if levels else level
    if judged["dtype"] != "float32":
        text += f", {judged['dtype']}"
    return text if judged["threads"] == 1 else f"{text}, {judged['threads']} threads"


def answer(machine: Machine) -> tuple[str, Rows]:
    """What posenc pick takes for each class of tables, by each accuracy that it was asked for."""
    rows = [["accuracy", "tables", "pick", "Gfloat/s", "|error| at most"]]
    for verdict in machine.verdicts:
        accuracy = str(verdict["accuracy"])
        for judged in verdict["classes"]:
            row = [accuracy, class_text(judged, machine.caches)]
            accuracy = ""  # once
            if pick := judged["pick"]:
                speed, bound = pick["gfloats_per_second"], pick["error_bound"]
                row += [f"{pick['backend']}:{pick['isa']}", speed_text(speed), error_text(bound)]
            rows.append([*row, "none", "", ""][:5])
    sentence = f"What posenc pick takes on {machine.cpu}: the fastest, by its rule of ties."
    reasons = filter(None, dict.fromkeys(str(each["disturbed"]) for each in machine.verdicts))
    return " ".join([sentence, *(f"Not to be trusted: {each}." for each in reasons)]), rows
