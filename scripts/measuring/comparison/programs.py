"""The works of each program: what is timed, and the values that it gives."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from measuring.errors import need_numpy

LOG_BASE = 9.210340371976184  # ln 10000

Shape = tuple[int, int, int]  # batch, rows, d_model


@dataclass
class Side:
    """One program's way of doing a work."""

    program: str
    variant: str  # of the library's sides: the source of a forward
    seconds_of: Callable[[int], float]  # seconds of so many calls
    value: Callable[[], Any]  # the result, a NumPy array
    calls: int = 1  # of one sample
    samples: list[float] = field(default_factory=list)  # seconds of a call


def timer_of(work: Callable[[], Any]) -> Callable[[int], float]:
    """Seconds of a number of calls, after one that warms up."""

    def seconds_of(calls: int) -> float:
        work()
        start = time.perf_counter()
        for _ in range(calls):
            work()
        return time.perf_counter() - start

    return seconds_of


def torch_module(torch: Any) -> Any:
    """The tutorial's module (sequence first), and the Annotated Transformer's (batch first): their
    formulas, line by line."""

    class PositionalEncoding(torch.nn.Module):  # type: ignore[misc]
        def __init__(
            self, d_model: int, dropout: float = 0.1, max_len: int = 5000, batch_first: bool = False
        ) -> None:
            super().__init__()
            self.batch_first = batch_first
            self.dropout = torch.nn.Dropout(p=dropout)
            position = torch.arange(max_len).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, d_model, 2) * (-LOG_BASE / d_model))
            shape = (1, max_len, d_model) if batch_first else (max_len, 1, d_model)
            pe = torch.zeros(*shape)
            rows = pe[0] if batch_first else pe[:, 0]
            rows[:, 0::2] = torch.sin(position * div_term)
            rows[:, 1::2] = torch.cos(position * div_term)
            self.register_buffer("pe", pe)

        def forward(self, x: Any) -> Any:
            if self.batch_first:
                return self.dropout(x + self.pe[:, : x.size(1)])
            return self.dropout(x + self.pe[: x.size(0)])

    return PositionalEncoding


def torch_side(work: Callable[[], Any]) -> Side:
    return Side("torch", "", timer_of(work), lambda: work().detach().numpy())


def torch_kept_table(torch: Any, rows: int, d_model: int) -> Side:
    """The tutorial's formula, into a table that is there."""
    position = torch.arange(rows, dtype=torch.float32).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-LOG_BASE / d_model))
    pe = torch.empty(rows, d_model)
    phases, values = torch.empty(rows, d_model // 2), torch.empty(rows, d_model // 2)

    def fill() -> Any:
        torch.mul(position, div_term, out=phases)
        # Faster than sin and cos straight into every other channel.
        pe[:, 0::2] = torch.sin(phases, out=values)
        pe[:, 1::2] = torch.cos(phases, out=values)
        return pe

    return torch_side(fill)


def numpy_kept_table(rows: int, d_model: int) -> Side:
    """The textbook's formula in double, into a table that is there."""
    numpy = need_numpy()
    position = numpy.arange(rows)[:, None]
    wavelength = numpy.power(10000.0, numpy.arange(0, d_model, 2) / d_model)
    pe = numpy.empty((rows, d_model), dtype=numpy.float32)
    phases = numpy.empty((rows, d_model // 2))
    values = numpy.empty_like(phases)

    def fill() -> Any:
        numpy.divide(position, wavelength, out=phases)
        pe[:, 0::2] = numpy.sin(phases, out=values)
        pe[:, 1::2] = numpy.cos(phases, out=values)
        return pe

    return Side("numpy", "", timer_of(fill), fill)


class Library:
    """The library's sides, by its Python package: `posenc`, and the backend of its tables."""

    def __init__(self, posenc: Any, backend: str | None) -> None:
        self.posenc, self.backend = posenc, backend

    def _encoder(self, rows: int, d_model: int, threads: int) -> Any:
        return self.posenc.Encoder(d_model, backend=self.backend, rows=rows, threads=threads)

    def table(self, rows: int, d_model: int, threads: int, variant: str) -> Side:
        """The table into memory that is there, by an encoder planned before."""
        encoder = self._encoder(rows, d_model, threads)
        positions = range(rows)
        pe = encoder.encode(positions, threads=threads)

        def fill() -> Any:
            return encoder.encode(positions, pe, threads=threads)

        return Side("posenc", variant, timer_of(fill), fill)

    def table_from_nothing(self, rows: int, d_model: int, threads: int) -> Side:
        """The table as a module's constructor makes it: planned, allocated and written."""

        def make() -> Any:
            return self._encoder(rows, d_model, threads).encode(range(rows), threads=threads)

        return Side("posenc", "", timer_of(make), make)

    def forwards(self, rows: int, threads: int, is_batch_first: bool, x: Any) -> list[Side]:
        """PositionalEncoding's forward from each source of rows."""
        sources = ("fused", "cached")
        return [self._forward(each, rows, threads, is_batch_first, x) for each in sources]

    def _forward(self, source: str, rows: int, threads: int, is_batch_first: bool, x: Any) -> Side:
        """y = x + encoding, into memory that is there."""
        layer = self.posenc.PositionalEncoding(x.shape[-1], rows, source=source)
        values = x.numpy()
        y = values.copy()

        def add() -> Any:
            return layer.forward(values, y, threads=threads, batch_first=is_batch_first)

        return Side("posenc", source, timer_of(add), add)
