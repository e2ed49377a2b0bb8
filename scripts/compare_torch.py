#!/usr/bin/env python3
"""Times PyTorch, NumPy and this library's Python package side by side on one thread of the CPU.

Works (float32, the paper's convention):
  kept table     sin and cos into a table that is there; here Encoder.encode
  new table      the constructor of the tutorial's module; here planning, allocating and encoding
  x + table      torch.add into memory that is there; here PositionalEncoding.forward
  module         the tutorial's module in evaluation, which allocates its result; here as above

PyTorch computes the tutorial's formula in float32, NumPy the textbook's in double, rounded once.
Errors are of all rows, against posenc's correctly rounded float64 table. --output writes the kept
tables of both as a document, whose rows report.py shows beside the backends."""

import argparse
import datetime
import importlib
import json
import math
import os
import random
import re
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from statistics import median
from timeit import timeit
from typing import Any

from reporting.command import (
    ROOT, ArgumentParser, Skipped, check_writable, need_module, need_modules, run_main,
    show_progress, write_whole,
)  # fmt: skip
from reporting.documents import VERSION
from reporting.text import aligned, error_text, share_text

Shape = tuple[int, int]  # rows, d_model
Works = dict[str, dict[str, Callable[[], Any]]]  # by work, by program

SECONDS, SAMPLES = 0.02, 5  # of each process and work
PROGRAMS = ("pytorch", "numpy", "posenc")
PHASES = {"pytorch": "float32", "numpy": "double"}
KEPT = "kept table"
SHAPES = [(8, 512), (1024, 1024), (5000, 512), (131072, 128)]


def parse_shape(text: str) -> Shape:
    """ "5000x512"."""
    found = re.fullmatch(r"(\d{1,8})x(\d{1,8})", text)
    rows, d_model = (int(found[1]), int(found[2])) if found else (0, 0)
    if min(rows, d_model) < 1 or d_model % 2 or rows * d_model > 1 << 28:
        allowed = "ROWSxD, each at least 1, D even, 2^28 values at most"
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: {allowed}")
    return rows, d_model


def need_posenc() -> Any:
    """Imports the package of PYTHONPATH or of the build. Throws Skipped if this Python cannot."""
    sys.path.append(str(ROOT / "build" / "release" / "python"))
    try:
        return importlib.import_module("posenc")
    except ImportError as error:
        built = "built with python3-dev and pybind11-dev"
        raise Skipped(f"{sys.executable} has no posenc ({built}; {error})") from error


def torch_module(torch: Any) -> Any:
    """The tutorial's module, with its formula line by line."""

    class PositionalEncoding(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, d_model: int, max_len: int) -> None:
            super().__init__()
            self.dropout = torch.nn.Dropout(p=0.1)
            position = torch.arange(max_len).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
            pe = torch.zeros(1, max_len, d_model)
            pe[0, :, 0::2] = torch.sin(position * div_term)
            pe[0, :, 1::2] = torch.cos(position * div_term)
            self.register_buffer("pe", pe)

        def forward(self, x: Any) -> Any:
            return self.dropout(x + self.pe[:, : x.size(1)])

    return PositionalEncoding


def kept_table(library: Any, position: Any, frequencies: Any, table: Any) -> Callable[[], Any]:
    """The formula by PyTorch or NumPy, into a table that is there."""
    phases, values = position * frequencies, position * frequencies

    def fill() -> Any:
        library.multiply(position, frequencies, out=phases)
        # Faster than sin and cos straight into every other channel.
        table[:, 0::2] = library.sin(phases, out=values)
        table[:, 1::2] = library.cos(phases, out=values)
        return table

    return fill


def works_of(posenc: Any, shape: Shape) -> Works:
    torch, numpy, (rows, d) = need_module("torch"), need_module("numpy"), shape
    torch.set_num_threads(1)
    module, encoder = torch_module(torch), posenc.Encoder(d, rows=rows)
    kept, layer = module(d, rows).eval(), posenc.PositionalEncoding(d, rows, source="cached")
    x, y = torch.randn(1, rows, d), torch.empty(1, rows, d)
    forward = partial(layer.forward, x.numpy(), y.numpy())
    position, table = torch.arange(rows, dtype=torch.float32).unsqueeze(1), torch.empty(rows, d)
    div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    frequencies = 10000.0 ** (-numpy.arange(0, d, 2) / d)
    of_numpy = numpy.empty((rows, d), dtype=numpy.float32)
    return {
        KEPT: {
            "pytorch": kept_table(torch, position, div_term, table),
            "numpy": kept_table(numpy, numpy.arange(rows)[:, None], frequencies, of_numpy),
            "posenc": partial(encoder.encode, range(rows), out=encoder.encode(range(rows))),
        },
        "new table": {
            "pytorch": lambda: module(d, rows),
            "posenc": lambda: posenc.Encoder(d).encode(range(rows)),
        },
        "x + table": {"pytorch": lambda: torch.add(x, kept.pe, out=y), "posenc": forward},
        "module": {"pytorch": lambda: kept(x), "posenc": forward},
    }


def median_seconds(work: Callable[[], Any]) -> float:
    """Of one call, after two that warm up."""
    work()
    once = timeit(work, number=1)
    calls = max(1, int(SECONDS / SAMPLES / max(once, 1e-7)))
    return median(timeit(work, number=calls) / calls for _ in range(SAMPLES))


def time_once(shapes: list[Shape]) -> list[tuple[tuple[str, Shape], str, float]]:
    """In this process: work and shape, program, and seconds of each."""
    posenc, found = need_posenc(), []
    with need_module("torch").no_grad():
        for shape in shapes:
            works = works_of(posenc, shape)
            calls = [(work, program) for work in works for program in works[work]]
            for work, program in random.sample(calls, len(calls)):
                found.append(((work, shape), program, median_seconds(works[work][program])))
    return found


def error_of(posenc: Any, got: Any, shape: Shape) -> dict[str, float]:
    """Of a float32 table, against float64 values that are correctly rounded."""
    numpy = need_module("numpy")
    got, exact = numpy.asarray(got), posenc.encode(*shape, dtype="float64")
    nearest = exact.astype(numpy.float32)
    error = numpy.abs(got - exact)
    ulp = numpy.spacing(numpy.abs(nearest)).astype(numpy.float64)
    return {
        "max_abs": float(error.max()),
        "max_ulp": float((error / ulp).max()),
        "rms": float(math.sqrt((error**2).mean())),
        "correctly_rounded": float((got == nearest).mean()),
        "checked": 1,
    }


def row_of(
    name: str, shape: Shape, seconds: list[float], error: dict[str, float]
) -> dict[str, Any]:
    """As posenc measure writes it."""
    rows, d = shape
    spec = {"d_model": d, "base": 10000.0, "layout": "interleaved", "spacing": "paper",
            "frequencies": "base"}  # fmt: skip
    table = {
        "name": f"{rows}x{d}", "spec": spec, "stride": d, "dtype": "float32", "threads": 1, "stores": "automatic",
        "rows": {"first": 0, "count": rows},
    }  # fmt: skip
    return {
        "backend": name, "isa": "", "role": "peer", "phases": PHASES[name], "table": table,
        "seconds": seconds, "self_ratios": [], "error": error, "bound": None,
    }  # fmt: skip


def document_of(rows: list[dict[str, Any]], posenc: Any) -> dict[str, Any]:
    isas = list(dict.fromkeys(name.partition(":")[2] for name in posenc.backends()))
    versions = (need_module(name).__version__ for name in ("torch", "numpy"))
    return {
        "version": VERSION,
        "machine": {"cpu": posenc.cpu(), "isas": isas, "logical_cores": os.cpu_count(),
                    "l1_bytes": 0, "l2_bytes": 0, "l3_bytes": 0},
        "compiler": "PyTorch {}, NumPy {}".format(*versions),
        "library_version": posenc.__version__,
        "kernels": "",
        "measured_at": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        "disturbed": "",
        "measurements": rows,
    }  # fmt: skip


def main() -> int:
    parser = ArgumentParser("compare_torch.py --shapes 5000x512", __doc__)
    parser.add_argument("--shapes", nargs="+", type=parse_shape, default=SHAPES, metavar="ROWSxD",
                        help="default: 8x512 1024x1024 5000x512 131072x128")
    parser.add_argument("--processes", type=int, default=5, metavar="N",
                        help="at least 1 (default: %(default)s)")
    parser.add_argument("--output", metavar="FILE", help="also write a document of measurements")
    options = parser.parse_args()
    if options.processes < 1:
        parser.error(f"--processes is {options.processes}; allowed: at least 1")
    if options.output:
        check_writable(options.output)
    need_modules("torch", "numpy")
    posenc = need_posenc()
    seconds: dict[tuple[str, Shape], dict[str, list[float]]] = {}
    # A new process each time: addresses differ, and times with them.
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for done, found in enumerate(pool.imap(time_once, [options.shapes] * options.processes), 1):
            show_progress(f"{done} of {options.processes} processes")
            for place, program, each in found:
                seconds.setdefault(place, {}).setdefault(program, []).append(each)
    show_progress()
    lines = [["ms", "rows x d", *PROGRAMS, *(f"error of {program}" for program in PHASES)]]
    rows = []
    for (work, shape), times in sorted(seconds.items()):
        cells = {program: f"{1e3 * median(times[program]):.3g}" for program in times}
        if work == KEPT:
            for program in PHASES:
                error = error_of(posenc, works_of(posenc, shape)[work][program](), shape)
                rows.append(row_of(program, shape, times[program], error))
                share = share_text(error["correctly_rounded"], is_of_all=True)
                cells[f"error of {program}"] = f"{error_text(error['max_abs'])}, {share}"
        size = f"{shape[0]} x {shape[1]}"
        lines.append([work, size, *(cells.get(column, "") for column in lines[0][2:])])
    print(aligned(lines, left=(0, 1)))
    print(f"\n{posenc.cpu()}; one thread; medians of {options.processes} processes")
    print("Errors: the largest of all rows, and the share of entries that are correctly rounded.")
    if options.output:
        write_whole(options.output, json.dumps(document_of(rows, posenc), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    run_main(main)
