#!/usr/bin/env python3
"""Compares this library with PyTorch on the CPU: the tutorial's modules, the table itself, and x + pe.

Works (float32, the paper's convention):
  table, from nothing   the module's constructor; here planning, allocating and encoding
  table, kept memory    sin and cos into a table that is there; here encode
  x + pe                torch.add into memory that is there
  forward, batch first  the module in evaluation, x of shape (batch, rows, d_model); torch allocates its result
  forward, seq first    the same for x of shape (rows, batch, d_model)
The last three are PositionalEncoding's forward here, once with each source: fused, where no table is kept, and cached.

The kept table also comes from NumPy, by the textbook's formula in double, rounded once. Where it is of one thread, what
each program's table gets wrong is measured against the formula in long double.

Both sides run warm and with the same number of threads, each in its own process, and take turns: every repetition
times all of them in random order. Times are medians, spread is half the interquartile range over the median. Values must agree
within the tolerance: what torch's float32 phases can be off by, 4 units of 2^-24 times the last position, and a few roundings."""

import argparse
import datetime
import json
import math
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Callable

from common import (
    ROOT,
    EXIT_CODES,
    ArgumentParser,
    BadInput,
    aligned,
    check_writable,
    integer,
    need_module,
    run_main,
    temporary_folder,
    write_whole,
)
from summary import share_text

DEFAULT_DRIVER = os.path.join(ROOT, "build", "release", "bin", "bench_driver")
DEFAULT_SHAPES = ((1, 512, 512), (8, 512, 512), (1, 5000, 512), (1, 32768, 1024))
KEPT_TABLE = "table, kept memory"
# Presets of posenc that have the tutorial's convention: their tables are those of PyTorch's module.
PRESETS = {(8, 512): "chunk", (5000, 512): "tutorial", (131072, 128): "long_context", (8192, 4096): "wide"}
CHECK_FAILED = 1
NOISY = 0.1
# Until torch's idle threads have stopped spinning, they would take the driver's cores.
PAUSE_SECONDS = 0.005


class Driver:
    """bench_driver: the library's side, which times what it is told."""

    def __init__(self, command, backend):
        environment = {**os.environ, **({"POSENC_BACKEND": backend} if backend else {})}
        try:
            self.process = subprocess.Popen(
                [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        except OSError as error:
            raise BadInput(f"--driver is '{command}'; allowed: the bench_driver binary ({error.strerror})") from error

    def ask(self, *words):
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
            reply = self.process.stdout.readline().strip()
        except BrokenPipeError:
            reply = ""
        if reply.split(" ")[0] != "ok":
            raise BadInput(reply.removeprefix("error ") or f"bench_driver ended at: {' '.join(map(str, words))}")
        return reply[3:]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Side:
    """One program's way of doing a work: seconds_of(calls) times them, value() gives the result as a NumPy array."""

    program: str
    way: str
    seconds_of: Callable
    value: Callable
    calls: int = 1
    samples: list = field(default_factory=list)  # seconds of a call

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def spread(self):
        if len(self.samples) < 2:
            return 0.0
        quarters = statistics.quantiles(self.samples, n=4, method="inclusive")
        return (quarters[2] - quarters[0]) / 2 / self.median


@dataclass
class Comparison:
    work: str
    shape: tuple  # batch, rows, d_model
    threads: int
    torch: Side
    ours: list
    others: list = field(default_factory=list)  # sides that are timed with them, and whose values are not compared
    differences: list = field(default_factory=list)  # one for each of ours
    errors: dict = field(default_factory=dict)  # program -> TableError, where they were measured
    tolerance: float = 0.0


def modules_of(torch):
    """The tutorial's module (sequence first), and the Annotated Transformer's (batch first): their formulas, line by line."""

    class PositionalEncoding(torch.nn.Module):
        def __init__(self, d_model, dropout=0.1, max_len=5000, batch_first=False):
            super().__init__()
            self.batch_first = batch_first
            self.dropout = torch.nn.Dropout(p=dropout)
            position = torch.arange(max_len).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, d_model, 2) * (-9.210340371976184 / d_model))
            pe = torch.zeros(1, max_len, d_model) if batch_first else torch.zeros(max_len, 1, d_model)
            rows = pe[0] if batch_first else pe[:, 0]
            rows[:, 0::2] = torch.sin(position * div_term)
            rows[:, 1::2] = torch.cos(position * div_term)
            self.register_buffer("pe", pe)

        def forward(self, x):
            if self.batch_first:
                return self.dropout(x + self.pe[:, : x.size(1)])
            return self.dropout(x + self.pe[: x.size(0)])

    return PositionalEncoding


@dataclass
class TableError:
    """What a float32 table gets wrong against the long-double reference."""

    max_abs: float
    correctly_rounded: float  # share of the entries


def reference_blocks(numpy, rows, d_model):
    """The paper's table in long double, interleaved: pairs of a first row and the rows from there, shape (up to B, d_model),
    in memory that the next pair takes again.

    By angle addition, sin(a + b) and cos(a + b) of the block's first position a and of b below B: a sine in long double is
    too slow to be taken of every entry. The error stays near 1e-14 for positions up to 10^5: it is the phases' own.
    """
    long = numpy.longdouble
    frequencies = long(10000) ** (-numpy.arange(0, d_model, 2).astype(long) / d_model)
    size = max(1, math.isqrt(rows))
    within = numpy.arange(min(size, rows)).astype(long)[:, None] * frequencies
    sine, cosine = numpy.sin(within), numpy.cos(within)
    table = numpy.empty((len(within), d_model), dtype=long)
    product = numpy.empty_like(within)
    for first in range(0, rows, size):
        count = min(size, rows - first)
        start = long(first) * frequencies
        block, other = table[:count], product[:count]
        numpy.multiply(numpy.sin(start), cosine[:count], out=block[:, 0::2])
        block[:, 0::2] += numpy.multiply(numpy.cos(start), sine[:count], out=other)
        numpy.multiply(numpy.cos(start), cosine[:count], out=block[:, 1::2])
        block[:, 1::2] -= numpy.multiply(numpy.sin(start), sine[:count], out=other)
        yield first, block


def table_errors(numpy, tables, rows, d_model):
    """A TableError of each table, by program; nothing where long double is no wider than double, as posenc's own reference."""
    if numpy.finfo(numpy.longdouble).nmant <= numpy.finfo(numpy.float64).nmant:
        return {}
    largest, correct = dict.fromkeys(tables, 0.0), dict.fromkeys(tables, 0)
    memory = None
    for first, block in reference_blocks(numpy, rows, d_model):
        memory = numpy.empty_like(block) if memory is None else memory  # the first block is the largest
        difference = memory[: len(block)]
        nearest = block.astype(numpy.float32)
        for program, table in tables.items():
            part = table.reshape(rows, d_model)[first : first + len(block)]
            numpy.subtract(part, block, out=difference)
            largest[program] = max(largest[program], float(difference.max()), -float(difference.min()))
            correct[program] += int(numpy.count_nonzero(part == nearest))
    return {program: TableError(largest[program], correct[program] / (rows * d_model)) for program in tables}


def timer_of(work):
    """Seconds of a number of calls, after one that warms up."""

    def seconds_of(calls):
        work()
        start = time.perf_counter()
        for _ in range(calls):
            work()
        return time.perf_counter() - start

    return seconds_of


class Bench:
    def __init__(self, options, torch, driver, folder):
        self.options, self.torch, self.driver, self.folder = options, torch, driver, folder
        self.numpy = need_module("numpy", "python3-numpy")
        self.module = modules_of(torch)
        self.names = 0

    def torch_side(self, work):
        return Side("torch", "", timer_of(work), lambda: work().detach().numpy())

    def numpy_side(self, rows, d_model):
        """The textbook's formula in double, into a table that is there."""
        numpy = self.numpy
        position = numpy.arange(rows)[:, None]
        wavelength = numpy.power(10000.0, numpy.arange(0, d_model, 2) / d_model)
        pe = numpy.empty((rows, d_model), dtype=numpy.float32)
        phases = numpy.empty((rows, d_model // 2))
        values = numpy.empty_like(phases)

        def fill():
            numpy.divide(position, wavelength, out=phases)
            pe[:, 0::2] = numpy.sin(phases, out=values)
            pe[:, 1::2] = numpy.cos(phases, out=values)
            return pe

        return Side("numpy", "", timer_of(fill), fill)

    def our_side(self, way, kind, shape, threads, order="batch_first", x=None):
        """Way: the source of a forward."""
        batch, rows, d_model = shape
        self.names += 1
        name = f"case{self.names}"
        settings = [f"rows={rows}", f"d_model={d_model}", f"threads={threads}", f"order={order}", f"batch={batch}"]
        if x is not None:
            path = os.path.join(self.folder, "x.raw")
            x.numpy().tofile(path)
            settings += [f"input={path}", f"source={way}"]
        self.driver.ask("case", name, kind, *settings)

        def value():
            path = os.path.join(self.folder, "y.raw")
            self.driver.ask("write", name, path)
            result = self.numpy.fromfile(path, dtype=self.numpy.float32)
            self.driver.ask("forget", name)
            return result

        return Side("posenc", way, lambda calls: float(self.driver.ask("time", name, calls)), value)

    def tables(self, shape, threads):
        torch, (_, rows, d_model) = self.torch, shape
        table_shape = (1, rows, d_model)

        position = torch.arange(rows, dtype=torch.float32).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-9.210340371976184 / d_model))
        pe, phases, values = (
            torch.empty(rows, d_model),
            torch.empty(rows, d_model // 2),
            torch.empty(rows, d_model // 2),
        )

        def fill():
            torch.mul(position, div_term, out=phases)
            # Faster than sin and cos straight into every other channel.
            pe[:, 0::2] = torch.sin(phases, out=values)
            pe[:, 1::2] = torch.cos(phases, out=values)
            return pe

        if not self.options.kept_table_only:
            nothing = self.torch_side(lambda: self.module(d_model, max_len=rows).pe)
            ours = self.our_side("", "table_from_nothing", table_shape, threads)
            yield Comparison("table, from nothing", table_shape, threads, nothing, [ours])
        # Twice: how far two equal cases differ is the noise that the other figures have too.
        twice = [self.our_side(way, "table", table_shape, threads) for way in ("", "again")]
        # NumPy has no threads of its own for this.
        others = [self.numpy_side(rows, d_model)] if threads == 1 else []
        yield Comparison(KEPT_TABLE, table_shape, threads, self.torch_side(fill), twice, others)

    def additions(self, shape, threads):
        torch, (batch, rows, d_model) = self.torch, shape
        for order in ("batch_first", "sequence_first"):
            is_batch_first = order == "batch_first"
            module = self.module(d_model, max_len=rows, batch_first=is_batch_first).eval()
            x = torch.randn((batch, rows, d_model) if is_batch_first else (rows, batch, d_model))
            y = torch.empty_like(x)

            def ours():
                return [self.our_side(source, "forward", shape, threads, order, x) for source in ("fused", "cached")]

            if is_batch_first:
                yield Comparison(
                    "x + pe", shape, threads, self.torch_side(lambda: torch.add(x, module.pe, out=y)), ours()
                )
            work = "forward, batch first" if is_batch_first else "forward, seq first"
            yield Comparison(work, shape, threads, self.torch_side(lambda: module(x)), ours())

    def measure(self, comparison):
        sides = [comparison.torch, *comparison.ours, *comparison.others]
        for side in sides:
            once = side.seconds_of(1)
            side.calls = max(1, round(self.options.seconds_per_sample / max(once, 1e-7)))
        for _ in range(self.options.repetitions):
            for side in random.sample(sides, len(sides)):
                time.sleep(PAUSE_SECONDS)
                side.samples.append(side.seconds_of(side.calls) / side.calls)
        expected = comparison.torch.value().ravel()
        largest = float(abs(expected).max())
        comparison.tolerance = 4 * 2.0**-24 * (comparison.shape[1] - 1) + 2.0**-22 * max(1.0, largest)
        for side in comparison.ours:
            value = side.value()
            if value.shape != expected.shape:
                raise BadInput(f"bench_driver gave {value.size} values; allowed: {expected.size}, the shape of torch's")
            comparison.differences.append(float(abs(value - expected).max()))
        if comparison.work == KEPT_TABLE and comparison.threads == 1:
            _, rows, d_model = comparison.shape
            # Of the last of ours: the driver gives a value once.
            tables = {side.program: side.value() for side in [comparison.torch, *comparison.others]}
            tables[comparison.ours[-1].program] = value
            comparison.errors = table_errors(self.numpy, tables, rows, d_model)

    def run(self):
        groups = [(shape, threads) for shape in self.options.shapes for threads in self.options.threads]
        tables_done = set()
        for done, (shape, threads) in enumerate(groups):
            self.torch.set_num_threads(threads)
            makers = [] if self.options.kept_table_only else [self.additions]
            if (shape[1:], threads) not in tables_done:  # a table has no batch
                makers.insert(0, self.tables)
                tables_done.add((shape[1:], threads))
            for make in makers:
                for comparison in make(shape, threads):
                    if sys.stderr.isatty():
                        print(
                            f"\r{100 * done // len(groups)} %  {comparison.work}, {shape_text(comparison.shape)}\033[K",
                            end="",
                            file=sys.stderr,
                            flush=True,
                        )
                    self.measure(comparison)
                    yield comparison
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)


def shape_text(shape):
    return " x ".join(map(str, shape))


def seconds_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 100 else f"{seconds * factor:.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


HEADER = (
    "work",
    "batch x rows x d",
    "threads",
    "torch",
    "spread",
    "posenc",
    "",
    "spread",
    "torch / posenc",
    "max |diff|",
    "tolerance",
)
LEFT = {0, 1, 6}


def ruled_table(header, rows, left):
    """Columns of equal width, a rule below the header."""
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    rule = ["-" * width for width in widths]
    return "\n".join(aligned(line, widths, left).rstrip() for line in [header, rule, *rows])


def table_text(comparisons):
    rows = []
    for each in comparisons:
        shown = [pair for pair in zip(each.ours, each.differences) if pair[0].way != "again"]
        for index, (side, difference) in enumerate(shown):
            shared = [
                each.work,
                shape_text(each.shape),
                str(each.threads),
                seconds_text(each.torch.median),
                f"{100 * each.torch.spread:.0f} %",
            ]
            rows.append(
                (shared if index == 0 else [""] * 5)
                + [
                    seconds_text(side.median),
                    side.way,
                    f"{100 * side.spread:.0f} %",
                    f"{each.torch.median / side.median:.2f}",
                    f"{difference:.1e}",
                    f"{each.tolerance:.1e}",
                ]
            )
    return ruled_table(HEADER, rows, LEFT)


def noise_floor(comparisons):
    """How far the two equal cases of the tables differ: the largest over the run."""
    ratios = [each.ours[0].median / each.ours[1].median for each in comparisons if each.work == KEPT_TABLE]
    return max(max(ratio, 1 / ratio) for ratio in ratios) - 1


def entries_of(name, side, comparison, further):
    """One entry a sample, times in ns of a call."""
    batch, rows, d_model = comparison.shape
    return [
        {
            "name": name,
            "run_name": name,
            "run_type": "iteration",
            "repetitions": len(side.samples),
            "repetition_index": index,
            "threads": comparison.threads,
            "iterations": side.calls,
            "real_time": 1e9 * seconds,
            "cpu_time": 1e9 * seconds,
            "time_unit": "ns",
            "items_per_second": batch * rows * d_model / seconds,
            **further,
        }
        for index, seconds in enumerate(side.samples)
    ]


def encode_entries(side, comparison):
    """The kept table once more, named and labelled as bench_encode names its own, so that both stand in one table."""
    _, rows, d_model = comparison.shape
    program = {"torch": "pytorch"}.get(side.program, side.program)
    preset = f"preset:{PRESETS[rows, d_model]}/" if (rows, d_model) in PRESETS else ""
    label = f"d_model={d_model} base=10000 layout=interleaved spacing=paper first=0 count={rows} dtype=float32"
    error = comparison.errors.get(side.program)
    measured = {"max_abs": error.max_abs, "correctly_rounded": error.correctly_rounded} if error else {}
    return entries_of(f"encode/{program}/{preset}rows:{rows}/d:{d_model}", side, comparison, {"label": label, **measured})


def errors_text(comparisons):
    """The kept tables of one thread against the reference; empty where there are none."""
    rows = [
        [
            shape_text(each.shape[1:]),
            side.program,
            seconds_text(side.median),
            f"{each.shape[1] * each.shape[2] / side.median / 1e9:.3f}",
            f"{each.errors[side.program].max_abs:.2e}" if side.program in each.errors else "-",
            share_text(each.errors[side.program].correctly_rounded) if side.program in each.errors else "-",
        ]
        for each in comparisons
        if each.work == KEPT_TABLE and each.threads == 1
        for side in [each.torch, *each.others, each.ours[0]]
    ]
    header = ("rows x d", "program", "time", "Gfloat/s", "max |error|", "correctly rounded")
    return "\n\nThe kept table of one thread, and what it gets wrong\n\n" + ruled_table(header, rows, {0, 1}) if rows else ""


def document_of(comparisons, torch, cpu, options):
    """In Google Benchmark's format, every sample kept."""
    benchmarks = []
    for each in comparisons:
        batch, rows, d_model = each.shape
        work = re.sub(r"\W+", "_", each.work.replace("+", "plus"))
        for side, difference in [(each.torch, None), *zip(each.ours, each.differences)]:
            way = f":{side.way.replace(' ', '_')}" if side.way else ""
            name = f"{work}/{side.program}{way}/batch:{batch}/rows:{rows}/d:{d_model}/threads:{each.threads}"
            compared = {} if difference is None else {"max_difference": difference, "tolerance": each.tolerance}
            benchmarks += entries_of(name, side, each, compared)
        if each.work == KEPT_TABLE and each.threads == 1:
            for side in [each.torch, *each.others]:
                benchmarks += encode_entries(side, each)
    context = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "num_cpus": os.cpu_count(),
        "executable": "scripts/compare_torch.py",
        "torch_version": torch.__version__,
        "python_version": platform.python_version(),
        "cpu": cpu,
        "posenc_backend": options.backend or "selected",
        "noise_floor": noise_floor(comparisons),
    }
    return {"context": context, "benchmarks": benchmarks}


def parse_shape(text):
    numbers = [int(part) for part in text.split("x")] if re.fullmatch(r"\d{1,8}(x\d{1,8}){1,2}", text) else []
    batch, rows, d_model = (numbers if len(numbers) == 3 else [1, *numbers]) if numbers else (0, 0, 0)
    if min(batch, rows, d_model) < 1 or d_model % 2 or batch * rows * d_model > 1 << 28:
        raise argparse.ArgumentTypeError(
            f"is '{text}'; allowed: ROWSxD or BATCHxROWSxD, each at least 1, D even, 2^28 values at most"
        )
    return batch, rows, d_model


def parse_positive(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 10:
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: above 0, at most 10")
    return value


def parse_arguments():
    parser = ArgumentParser(
        prog="compare_torch.py",
        description=__doc__,
        epilog="example: compare_torch.py --threads 1 --shapes 5000x512 8x512x512\n\n" + EXIT_CODES,
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--shapes",
        nargs="+",
        type=parse_shape,
        default=list(DEFAULT_SHAPES),
        metavar="SHAPE",
        help="ROWSxD or BATCHxROWSxD (default: %s)" % " ".join("x".join(map(str, s)) for s in DEFAULT_SHAPES),
    )
    parser.add_argument(
        "--threads",
        nargs="+",
        type=integer(1, 1024),
        default=sorted({1, cores}),
        metavar="N",
        help="threads of both sides (default: 1 and all cores)",
    )
    parser.add_argument("--backend", metavar="NAME", help="backend, or backend:isa (default: the library's selection)")
    parser.add_argument(
        "--repetitions", type=integer(1, 1000), default=9, metavar="N", help="samples of each (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds-per-sample", type=parse_positive, default=0.02, metavar="S", help="default: %(default)s"
    )
    parser.add_argument("--kept-table-only", action="store_true", help="only the table in memory that is there")
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="also write every sample, as JSON in Google Benchmark's format; the kept tables of one thread as\n"
        "encode/pytorch/... and encode/numpy/..., which summary.py and report.py show beside the backends",
    )
    parser.add_argument(
        "--driver", default=DEFAULT_DRIVER, metavar="FILE", help="default: build/release/bin/bench_driver"
    )
    return parser.parse_args()


def main():
    options = parse_arguments()
    if options.output:
        check_writable(options.output)
    torch = need_module("torch", "python3-torch")
    torch.manual_seed(1)
    driver = Driver(options.driver, options.backend)
    try:
        cpu = driver.ask("cpu")
        print(
            f"torch {torch.__version__} and posenc ({options.backend or 'the selected backend'}) on {cpu}\n"
            f"float32, medians of {options.repetitions} interleaved repetitions\n",
            flush=True,
        )
        with temporary_folder() as folder, torch.no_grad():
            comparisons = list(Bench(options, torch, driver, folder).run())
    finally:
        driver.close()
    print(table_text(comparisons) + errors_text(comparisons))
    noise = noise_floor(comparisons)
    print(
        f"\nNoise floor: two equal cases of posenc differ by up to {100 * noise:.0f} % in this run."
        + (" That is too much to rank by: run again when the machine is idle." if noise > NOISY else "")
    )
    if options.output:
        write_whole(options.output, json.dumps(document_of(comparisons, torch, cpu, options), indent=1) + "\n")
        print(f"Samples: {options.output}")
    wrong = [each for each in comparisons if not all(d <= each.tolerance for d in each.differences)]
    for each in wrong:
        print(
            f"compare_torch.py: {each.work}, {shape_text(each.shape)}: values differ by {max(each.differences):.1e}, "
            f"more than {each.tolerance:.1e}",
            file=sys.stderr,
        )
    return CHECK_FAILED if wrong else 0


if __name__ == "__main__":
    run_main("compare_torch.py", main)
