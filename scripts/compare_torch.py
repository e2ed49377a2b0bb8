#!/usr/bin/env python3
"""Times PyTorch, NumPy and this library's Python package side by side on one thread of the CPU:
each writes the paper's table in float32 into memory that exists.

PyTorch computes the tutorial's formula in float32. NumPy computes the textbook's formula in double
and rounds once. posenc calls Encoder.encode. Errors cover all rows and are measured against exact
values. Writes a document of measurements, and prints its table as report.py --peers does."""

import json
import math
import random
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from timeit import timeit
from typing import Any

import numpy
import posenc
import torch

from reporting.command import call_posenc, parser_of, run_main
from reporting.documents import read_document
from reporting.tables import markdown, speeds

Shape = tuple[int, int]  # rows, d_model

SECONDS, SAMPLES = 0.02, 5  # for each process and program
PHASES = {"pytorch": "float32", "numpy": "double", "posenc_python": "exact"}
SHAPES = [(8, 512), (1024, 1024), (5000, 512), (131072, 128)]


def shape_of(text: str) -> Shape:
    """Reads a shape, such as "5000x512"."""
    rows, d_model = map(int, text.split("x"))
    return rows, d_model


def formula(library: Any, position: Any, frequencies: Any, table: Any) -> Callable[[], Any]:
    """Returns a function that computes the formula with PyTorch or NumPy into an existing table."""
    phases, values = position * frequencies, position * frequencies

    def fill() -> Any:
        library.multiply(position, frequencies, out=phases)
        # This is faster than sin and cos directly into every other channel.
        table[:, 0::2] = library.sin(phases, out=values)
        table[:, 1::2] = library.cos(phases, out=values)
        return table

    return fill


def programs_for(shape: Shape) -> dict[str, Callable[[], Any]]:
    """The functions to time. Each returns its table."""
    rows, d = shape
    torch.set_num_threads(1)
    encoder = posenc.Encoder(d, rows=rows)
    position, table = torch.arange(rows, dtype=torch.float32).unsqueeze(1), torch.empty(rows, d)
    div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    frequencies = 10000.0 ** (-numpy.arange(0, d, 2) / d)
    of_numpy = numpy.empty((rows, d), dtype=numpy.float32)
    return {
        "pytorch": formula(torch, position, div_term, table),
        "numpy": formula(numpy, numpy.arange(rows)[:, None], frequencies, of_numpy),
        "posenc_python": partial(encoder.encode, range(rows), out=encoder.encode(range(rows))),
    }


def median_seconds(work: Callable[[], Any]) -> float:
    """Median seconds of one call, after two calls that warm up."""
    work()
    once = timeit(work, number=1)
    calls = max(1, int(SECONDS / SAMPLES / max(once, 1e-7)))
    return median(timeit(work, number=calls) / calls for _ in range(SAMPLES))


def time_once(shapes: list[Shape]) -> dict[tuple[str, Shape], float]:
    """Times all programs in this process, in a random order."""
    found = {}
    for shape in shapes:
        programs = programs_for(shape)
        for name in random.sample(list(programs), len(programs)):
            found[name, shape] = median_seconds(programs[name])
    return found


def row_of(name: str, shape: Shape, seconds: list[float], table: dict[str, Any]) -> dict[str, Any]:
    """A measurement of a program. `table` describes a table of another shape."""
    rows, d = shape
    got = programs_for(shape)[name]()
    report = posenc.check(got, base=10000.0, layout="interleaved", spacing="paper", first=0)
    known = ("max_abs", "max_ulp", "rms", "correctly_rounded")
    table = {**table, "name": f"{rows}x{d}", "spec": {**table["spec"], "d_model": d},
             "rows": {"first": 0, "count": rows}, "stride": d}  # fmt: skip
    return {"backend": name, "isa": "", "role": "peer", "phases": PHASES[name], "table": table,
            "seconds": seconds, "self_ratios": [], "bound": None,
            "error": {**{each: getattr(report, each) for each in known}, "checked": 1}}  # fmt: skip


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--shapes", nargs="+", type=shape_of, default=SHAPES, metavar="ROWSxD",
                        help="default: 8x512 1024x1024 5000x512 131072x128")
    parser.add_argument("--processes", type=int, default=5, metavar="N",
                        help="at least 1 (default: %(default)s)")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the document")
    options = parser.parse_args()
    seconds: dict[tuple[str, Shape], list[float]] = {}
    # Use a new process each time: addresses differ between processes, and times with them.
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for found in pool.imap(time_once, [options.shapes] * options.processes):
            for key, each in found.items():
                seconds.setdefault(key, []).append(each)
    # The document of another measurement describes the machine, and a table.
    words = ("accuracy", "--shape", "1x2", "--backend", "rotation", "--format", "json")
    document = json.loads(call_posenc(*words)[0])
    table = document["measurements"][0]["table"]
    document |= {
        "compiler": f"PyTorch {torch.__version__}, NumPy {numpy.__version__}",
        "measurements": [row_of(*key, times, table) for key, times in sorted(seconds.items())],
    }
    options.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(markdown(speeds(read_document(options.output))[1]))
    return 0


if __name__ == "__main__":
    run_main(main)
