#!/usr/bin/env python3
"""Times PyTorch, NumPy and this library's Python package side by side on one thread of the CPU.

Works (float32, the paper's convention):
  kept table     sin and cos into an existing table; for posenc, Encoder.encode
  new table      the constructor of the tutorial's module; for posenc, planning, allocating and
                 encoding

PyTorch computes the tutorial's formula in float32. NumPy computes the textbook's formula in double
and rounds once. Errors cover all rows and are measured against exact values. --output writes the
kept tables of PyTorch and NumPy as a document; report.py shows its rows beside the backends."""

import argparse
import json
import math
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
    POSENC, ROOT, ArgumentParser, call_posenc, check_writable, need_modules, run_main,
    skip, write_file,
)  # fmt: skip
from reporting.tables import aligned, error_text, share_text

need_modules("torch", "numpy")
import numpy
import torch

sys.path.append(str(ROOT / "build" / "release" / "python"))  # after PYTHONPATH
try:
    import posenc
except ImportError as missing:
    skip(f"{sys.executable} has no posenc (built with python3-dev and pybind11-dev; {missing})")

Shape = tuple[int, int]  # rows, d_model

SECONDS, SAMPLES = 0.02, 5  # for each process and work
PROGRAMS = ("pytorch", "numpy", "posenc")
PHASES = {"pytorch": "float32", "numpy": "double"}
KEPT = "kept table"
SHAPES = [(8, 512), (1024, 1024), (5000, 512), (131072, 128)]


class TutorialModule(torch.nn.Module):
    """The constructor of PyTorch's tutorial, line by line."""

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)


def parse_shape(text: str) -> Shape:
    """Reads a shape, such as "5000x512"."""
    found = re.fullmatch(r"(\d{1,8})x(\d{1,8})", text)
    rows, d_model = (int(found[1]), int(found[2])) if found else (0, 0)
    if min(rows, d_model) < 1 or d_model % 2 or rows * d_model > 1 << 28:
        allowed = "ROWSxD, each at least 1, D even, 2^28 values at most"
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: {allowed}")
    return rows, d_model


def kept_table(library: Any, position: Any, frequencies: Any, table: Any) -> Callable[[], Any]:
    """Returns a function that computes the formula with PyTorch or NumPy into an existing table."""
    phases, values = position * frequencies, position * frequencies

    def fill() -> Any:
        library.multiply(position, frequencies, out=phases)
        # This is faster than sin and cos directly into every other channel.
        table[:, 0::2] = library.sin(phases, out=values)
        table[:, 1::2] = library.cos(phases, out=values)
        return table

    return fill


def works_of(shape: Shape) -> dict[tuple[str, str], Callable[[], Any]]:
    """The functions to time, by work and program."""
    rows, d = shape
    torch.set_num_threads(1)
    encoder = posenc.Encoder(d, rows=rows)
    position, table = torch.arange(rows, dtype=torch.float32).unsqueeze(1), torch.empty(rows, d)
    div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    frequencies = 10000.0 ** (-numpy.arange(0, d, 2) / d)
    of_numpy = numpy.empty((rows, d), dtype=numpy.float32)
    return {
        (KEPT, "pytorch"): kept_table(torch, position, div_term, table),
        (KEPT, "numpy"): kept_table(numpy, numpy.arange(rows)[:, None], frequencies, of_numpy),
        (KEPT, "posenc"): partial(encoder.encode, range(rows), out=encoder.encode(range(rows))),
        ("new table", "pytorch"): lambda: TutorialModule(d, rows),
        ("new table", "posenc"): lambda: posenc.Encoder(d).encode(range(rows)),
    }


def median_seconds(work: Callable[[], Any]) -> float:
    """Median seconds of one call, after two calls that warm up."""
    work()
    once = timeit(work, number=1)
    calls = max(1, int(SECONDS / SAMPLES / max(once, 1e-7)))
    return median(timeit(work, number=calls) / calls for _ in range(SAMPLES))


def time_once(shapes: list[Shape]) -> list[tuple[str, Shape, str, float]]:
    """Times all works in this process. Returns work, shape, program and seconds of each."""
    found = []
    with torch.no_grad():
        for shape in shapes:
            works = works_of(shape)
            for work, program in random.sample(list(works), len(works)):
                found.append((work, shape, program, median_seconds(works[work, program])))
    return found


def error_of(got: Any) -> dict[str, float]:
    """The errors of a float32 table against exact values."""
    report = posenc.check(got, base=10000.0, layout="interleaved", spacing="paper", first=0)
    known = ("max_abs", "max_ulp", "rms", "correctly_rounded")
    return {**{each: getattr(report, each) for each in known}, "checked": 1}


def document_of(program: str, shape: Shape, seconds: list[float], error: dict[str, float],
                command: str) -> dict[str, Any]:  # fmt: skip
    """A document of posenc for one row of the table, with the program's measurement in place of
    its own."""
    rows, d = shape
    words = ("--rows", "1", "--d-model", str(d), "--backend", "rotation", "--format", "json")
    document: dict[str, Any] = json.loads(call_posenc(command, "accuracy", *words)[0])
    table = document["measurements"][0]["table"]
    table |= {"name": f"{rows}x{d}", "rows": {"first": 0, "count": rows}}
    row = {"backend": program, "isa": "", "role": "peer", "phases": PHASES[program], "table": table,
           "seconds": seconds, "self_ratios": [], "error": error, "bound": None}  # fmt: skip
    compiler = f"PyTorch {torch.__version__}, NumPy {numpy.__version__}"
    return {**document, "compiler": compiler, "kernels": "", "measurements": [row]}


def main() -> int:
    parser = ArgumentParser("compare_torch.py --shapes 5000x512", __doc__)
    parser.add_argument("--shapes", nargs="+", type=parse_shape, default=SHAPES, metavar="ROWSxD",
                        help="default: 8x512 1024x1024 5000x512 131072x128")
    parser.add_argument("--processes", type=int, default=5, metavar="N",
                        help="at least 1 (default: %(default)s)")
    parser.add_argument("--output", metavar="FILE", help="also write a document of measurements")
    parser.add_argument("--posenc", default=POSENC, metavar="FILE",
                        help="the posenc command, for --output (default: that of the build)")
    options = parser.parse_args()
    if options.processes < 1:
        parser.error(f"--processes is {options.processes}; allowed: at least 1")
    if options.output:
        check_writable(options.output)
    seconds: dict[tuple[str, Shape], dict[str, list[float]]] = {}
    # Use a new process each time: addresses differ between processes, and times with them.
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for found in pool.imap(time_once, [options.shapes] * options.processes):
            for work, shape, program, each in found:
                seconds.setdefault((work, shape), {}).setdefault(program, []).append(each)
    lines = [["ms", "rows x d", *PROGRAMS, *(f"error of {program}" for program in PHASES)]]
    document: dict[str, Any] = {}
    for (work, shape), times in sorted(seconds.items()):
        cells = {program: f"{1e3 * median(times[program]):.3g}" for program in times}
        for program in PHASES if work == KEPT else ():
            error = error_of(works_of(shape)[work, program]())
            share = share_text(error["correctly_rounded"], is_of_all=True)
            cells[f"error of {program}"] = f"{error_text(error['max_abs'])}, {share}"
            if options.output:
                new = document_of(program, shape, times[program], error, options.posenc)
                new["measurements"] += document.get("measurements", [])
                document = new
        size = f"{shape[0]} x {shape[1]}"
        lines.append([work, size, *(cells.get(column, "") for column in lines[0][2:])])
    print(aligned(lines, left=(0, 1)))
    print(f"\n{posenc.cpu()}; one thread; medians of {options.processes} processes")
    print("Errors: the largest of all rows, and the share of entries that are correctly rounded.")
    if options.output:
        write_file(options.output, json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    run_main(main)
