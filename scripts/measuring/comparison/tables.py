"""The comparison as tables, from its benchmarks: on the screen, and in the report's page."""

from collections.abc import Iterable

from measuring.comparison import KEPT_TABLE, WORKS
from measuring.results.benchmarks import Benchmark
from measuring.statistics import noise_floor_of
from measuring.tables import Cell, text_table
from measuring.units import error_text, percent, seconds_text, truncated_percent

HEADER = (
    "work", "batch x rows x d", "threads", "torch", "rel. IQR", "posenc", "way", "rel. IQR",
    "torch / posenc", "max |diff|", "tolerance",
)  # fmt: skip
LEFT = (0, 1, 6)
ERROR_HEADER = ("rows x d", "program", "time", "Gfloat/s", "max |error|", "correctly rounded")
NOISY = 0.1


def _by_work(benchmarks: Iterable[Benchmark]) -> list[dict[str, Benchmark]]:
    """Of each work, shape and number of threads, the benchmarks by program and way."""
    works: dict[tuple[str, str], dict[str, Benchmark]] = {}
    for each in benchmarks:
        works.setdefault((each.name.kind, each.name.shape), {})[each.name.subject] = each
    return list(works.values())


def rows_of(benchmarks: Iterable[Benchmark]) -> list[list[Cell]]:
    """See HEADER. One row for each way of posenc, but for its second equal case."""
    return [
        _row(programs["torch"], posenc)
        for programs in _by_work(benchmarks)
        if "torch" in programs
        for subject, posenc in programs.items()
        if subject.startswith("posenc") and subject != "posenc:again"
    ]


def _row(torch: Benchmark, posenc: Benchmark) -> list[Cell]:
    name, counters = posenc.name, posenc.counters
    batch = int(name.parts["batch"])
    return [
        WORKS.get(name.kind, name.kind),
        (f"{batch} x {name.table_size}", batch * name.entries),
        name.parts["threads"],
        (seconds_text(torch.seconds), torch.seconds),
        percent(torch.relative_iqr, 0),
        (seconds_text(posenc.seconds), posenc.seconds),
        name.isa,  # the source of a forward
        percent(posenc.relative_iqr, 0),
        f"{torch.seconds / posenc.seconds:.2f}",
        f"{counters['max_difference']:.1e}",
        f"{counters['tolerance']:.1e}",
    ]


def times_text(benchmarks: Iterable[Benchmark]) -> str:
    """A work is named once, on its first line."""
    rows = rows_of(benchmarks)
    for row, previous in reversed(list(zip(rows[1:], rows))):
        if row[:5] == previous[:5]:
            row[:5] = [""] * 5
    return text_table(HEADER, rows, LEFT)


def errors_text(benchmarks: Iterable[Benchmark]) -> str:
    """The kept tables of one thread against the reference; empty if there are none."""
    rows = [
        _error_row(each)
        for each in benchmarks
        if each.name.kind == KEPT_TABLE and each.name.parts["threads"] == "1"
        if each.name.isa != "again"
    ]
    heading = "The kept table of one thread, and what it gets wrong"
    return f"{heading}\n\n{text_table(ERROR_HEADER, rows, left=(0, 1))}" if rows else ""


def _error_row(timed: Benchmark) -> list[str]:
    """See ERROR_HEADER. The error is missing if the reference cannot be had."""
    name, counters = timed.name, timed.counters
    place = [name.table_size, name.backend, seconds_text(timed.seconds), f"{timed.gfloats:.3f}"]
    if "max_abs" not in counters:
        return [*place, "-", "-"]
    rounded = truncated_percent(counters["correctly_rounded"])
    return [*place, error_text(counters["max_abs"]), rounded]


def noise_note(benchmarks: Iterable[Benchmark]) -> str:
    """How far the two equal cases of the kept tables differ: the largest over the run."""
    tables = [each for each in _by_work(benchmarks) if "posenc:again" in each]
    ratios = [[each["posenc"].seconds / each["posenc:again"].seconds] for each in tables]
    noise = noise_floor_of(ratios)
    note = f"Noise floor: two equal cases of posenc differ by up to {percent(noise, 0)}."
    advice = " That is too much to rank by: run again when the machine is idle."
    return note + (advice if noise > NOISY else "")
