"""Speed and accuracy of each backend on each preset: the table of scripts/summary.py and of the
report's page, and the points of the figure that compares them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measuring.results import OTHER_PROGRAMS
from measuring.results.accuracy import AccuracyReport
from measuring.results.benchmarks import Benchmark
from measuring.tables import Cell, text_table
from measuring.units import error_text, percent, truncated_percent

HEADER = (
    "shape", "rows x d", "backend", "ISA", "Gfloat/s", "of limit", "max |error|",
    "correctly rounded",
)  # fmt: skip
LEFT = range(4)
NOT_OURS = "* not part of the library, cannot be picked"


@dataclass(frozen=True)
class Speed:
    """A preset's table by one encoder: what it costs, and what it gets wrong."""

    benchmark: Benchmark
    accuracy: AccuracyReport | None
    is_ours: bool  # part of the library, or else a peer or another program

    @property
    def preset(self) -> str:
        return self.benchmark.name.parts["preset"]

    @property
    def covers_more(self) -> bool:
        """True if the error is over more rows than were timed."""
        timed = self.benchmark.rows
        return bool(self.accuracy and timed and self.accuracy.rows.count > timed.count)

    def cells(self) -> list[Cell]:
        """See HEADER."""
        name = self.benchmark.name
        backend = name.backend + ("" if self.is_ours else "*")
        size = (name.table_size, name.entries)
        place: list[Cell] = [self.preset, size, backend, name.isa or "-"]
        if self.benchmark.error:
            return [*place, "wrong", "-", "-", "-"]
        share = self.benchmark.share_of_limit
        accuracy = ["-", "-"]
        if self.accuracy:
            error = error_text(self.accuracy.max_abs) + ("+" if self.covers_more else "")
            accuracy = [error, truncated_percent(self.accuracy.correctly_rounded)]
        of_limit = "-" if share is None else percent(share)
        return [*place, f"{self.benchmark.gfloats:.3f}", of_limit, *accuracy]


def accuracy_of(benchmark: Benchmark, reports: Iterable[AccuracyReport]) -> AccuracyReport | None:
    """The report of the same rows, else the smallest that covers them. Another program's benchmark
    brings its own error: posenc has no accuracy report of it."""
    if benchmark.spec is None or benchmark.rows is None:
        return None
    name, counters = benchmark.name, benchmark.counters
    if name.backend in OTHER_PROGRAMS:
        if "max_abs" not in counters:
            return None
        errors = counters["max_abs"], counters["correctly_rounded"]
        return AccuracyReport(name.backend, "", benchmark.spec, benchmark.rows, *errors, False)
    encoder = name.backend, name.isa, benchmark.spec
    same = (each for each in reports if (each.backend, each.isa, each.spec) == encoder)
    fitting = [each for each in same if each.rows.covers(benchmark.rows)]
    return min(fitting, key=lambda each: each.rows.count) if fitting else None


def presets_of(benchmarks: Iterable[Benchmark]) -> list[Benchmark]:
    """The presets' benchmarks: the smallest preset first, and of a preset the fastest backend
    first, those that were not timed last."""
    return sorted(
        (each for each in benchmarks if each.name.kind == "encode" and "preset" in each.name.parts),
        key=lambda each: (each.name.entries, each.name.parts["preset"], -each.gfloats),
    )


def speeds_of(benchmarks: Iterable[Benchmark], reports: Sequence[AccuracyReport]) -> list[Speed]:
    """Of the presets' benchmarks, in their order (see presets_of)."""
    peers = {(each.backend, each.isa) for each in reports if not each.can_be_picked}
    return [
        Speed(
            each,
            accuracy_of(each, reports),
            each.name.backend not in OTHER_PROGRAMS
            and (each.name.backend, each.name.isa) not in peers,
        )
        for each in presets_of(benchmarks)
    ]


def table_of(speeds: Iterable[Speed]) -> str:
    """Aligned; a preset is named once, on its first line, so that the eye finds the next one."""
    rows: list[list[Cell]] = []
    preset = None
    for speed in speeds:
        cells = speed.cells()
        if speed.preset == preset:
            cells[:2] = ["", ""]
        preset = speed.preset
        rows.append(cells)
    return text_table(HEADER, rows, LEFT)


def notes_of(speeds: Iterable[Speed]) -> list[str]:
    """What the marks in the table mean, and why encoders were not timed."""
    notes = []
    speeds = list(speeds)
    if any(speed.covers_more for speed in speeds):
        notes.append("+ over more rows than were timed")
    if not all(speed.is_ours for speed in speeds):
        notes.append(NOT_OURS)
    for speed in speeds:
        if speed.benchmark.error:
            subject, error = speed.benchmark.name.subject, speed.benchmark.error
            notes.append(f"{subject} on {speed.preset} was not timed: {error}")
    return notes


def noise_note(context: Mapping[str, Any]) -> str:
    """How far equal cases differ, if measure.py found it; else empty."""
    if "processes" not in context:
        return ""
    floor = percent(context["noise_floor"])
    return f"Medians over {context['processes']} processes; two equal cases differ by up to {floor}"
