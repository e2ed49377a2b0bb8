"""Times the works of all programs in turns, and compares their values."""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from measuring.command import show_progress
from measuring.comparison import KEPT_TABLE, WORKS
from measuring.comparison.programs import (
    Library, Shape, Side, numpy_kept_table, torch_kept_table, torch_module, torch_side,
)
from measuring.comparison.truth import TableError, table_errors

# Until one program's idle threads have stopped spinning, they would take the other's cores.
PAUSE_SECONDS = 0.005


@dataclass
class Comparison:
    """One work of all programs, on one shape, with one number of threads."""

    work: str  # of WORKS
    shape: Shape
    threads: int
    torch: Side
    ours: list[Side]
    others: list[Side] = field(default_factory=list)  # timed, and their values are not compared
    differences: list[float] = field(default_factory=list)  # largest, one for each of ours
    errors: dict[str, TableError] = field(default_factory=dict)  # by program, if measured
    tolerance: float = 0.0

    @property
    def sides(self) -> list[Side]:
        return [self.torch, *self.ours, *self.others]

    @property
    def title(self) -> str:
        return f"{WORKS[self.work]}, {' x '.join(map(str, self.shape))}"

    @property
    def is_kept_table(self) -> bool:
        """True for the table of one thread, which stands beside the backends' own."""
        return self.work == KEPT_TABLE and self.threads == 1

    @property
    def agrees(self) -> bool:
        return all(difference <= self.tolerance for difference in self.differences)


@dataclass
class Bench:
    """What is compared: shapes, numbers of threads, and how long to time each."""

    torch: Any
    library: Library
    shapes: Sequence[Shape]
    threads: Sequence[int]
    repetitions: int
    seconds_per_sample: float
    kept_table_only: bool

    def run(self) -> Iterator[Comparison]:
        """The comparisons, each when it is done."""
        module = torch_module(self.torch)
        groups = [(shape, threads) for shape in self.shapes for threads in self.threads]
        tables_done = set()
        for done, (shape, threads) in enumerate(groups):
            self.torch.set_num_threads(threads)
            table = (shape[1:], threads)  # a table has no batch
            works: list[Iterator[Comparison]] = []
            if table not in tables_done:
                works.append(self._tables(module, shape, threads))
                tables_done.add(table)
            if not self.kept_table_only:
                works.append(self._additions(module, shape, threads))
            for comparison in (each for work in works for each in work):
                show_progress(f"{100 * done // len(groups)} %  {comparison.title}")
                self._measure(comparison)
                yield comparison
        show_progress()

    def _tables(self, module: Any, shape: Shape, threads: int) -> Iterator[Comparison]:
        _, rows, d_model = shape
        table = (1, rows, d_model)
        if not self.kept_table_only:
            from_nothing = torch_side(lambda: module(d_model, max_len=rows).pe)
            ours = [self.library.table_from_nothing(rows, d_model, threads)]
            yield Comparison("table_from_nothing", table, threads, from_nothing, ours)
        # Twice: how far two equal cases differ is the noise that the other figures have too.
        twice = [self.library.table(rows, d_model, threads, each) for each in ("", "again")]
        # NumPy has no threads of its own for this.
        others = [numpy_kept_table(rows, d_model)] if threads == 1 else []
        kept = torch_kept_table(self.torch, rows, d_model)
        yield Comparison(KEPT_TABLE, table, threads, kept, twice, others)

    def _additions(self, module: Any, shape: Shape, threads: int) -> Iterator[Comparison]:
        torch, (batch, rows, d_model) = self.torch, shape
        for is_batch_first in (True, False):
            encoding = module(d_model, max_len=rows, batch_first=is_batch_first).eval()
            sizes = (batch, rows) if is_batch_first else (rows, batch)
            x = torch.randn(*sizes, d_model)
            y = torch.empty_like(x)

            def compared(work: str, side: Side) -> Comparison:
                ours = self.library.forwards(rows, threads, is_batch_first, x)
                return Comparison(work, shape, threads, side, ours)

            if is_batch_first:
                yield compared("x_plus_pe", torch_side(lambda: torch.add(x, encoding.pe, out=y)))
            work = "forward_batch_first" if is_batch_first else "forward_seq_first"
            yield compared(work, torch_side(lambda: encoding(x)))

    def _measure(self, comparison: Comparison) -> None:
        """Times all sides in turns, then compares values."""
        for side in comparison.sides:
            once = side.seconds_of(1)
            side.calls = max(1, round(self.seconds_per_sample / max(once, 1e-7)))
        for _ in range(self.repetitions):
            for side in random.sample(comparison.sides, len(comparison.sides)):
                time.sleep(PAUSE_SECONDS)
                side.samples.append(side.seconds_of(side.calls) / side.calls)
        _compare_values(comparison)


def _compare_values(comparison: Comparison) -> None:
    """Sets differences and tolerance, and the errors of kept tables."""
    expected = comparison.torch.value().ravel()
    largest = float(abs(expected).max())
    _, rows, d_model = comparison.shape
    comparison.tolerance = 4 * 2.0**-24 * (rows - 1) + 2.0**-22 * max(1.0, largest)
    for side in comparison.ours:
        value = side.value().ravel()
        comparison.differences.append(float(abs(value - expected).max()))
    if comparison.is_kept_table:
        tables = {side.program: side.value() for side in [comparison.torch, *comparison.others]}
        comparison.errors = table_errors({**tables, "posenc": value}, rows, d_model)
