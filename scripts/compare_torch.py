#!/usr/bin/env python3
"""Times PyTorch, NumPy and this library's Python package side by side on the CPU.

Works (float32, the paper's convention):
  kept table     sin and cos into a table that is there; here Encoder.encode
  new table      the constructor of the tutorial's module; here planning, allocating and encoding
  x + table      torch.add into memory that is there; here PositionalEncoding.forward
  module         the tutorial's module in evaluation, which allocates its result; here as above
With --rotary instead, of 32 heads as wide as d:
  rotary cache   cosines and sines into a cache that is there; here Rotary.cache
  rotary         Transformers' x cos + rotate_half(x) sin; here Rotary.apply_cache

PyTorch computes the tutorial's formula in float32, NumPy the textbook's in double, rounded once.
Errors are of all rows, against posenc's correctly rounded float64 table. --output writes the kept
tables of both as a document, whose rows report.py shows beside the backends."""

import argparse
import datetime
import importlib
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
    ROOT, ArgumentParser, Skipped, check_writable, integer, need_module, need_modules,
    run_main, show_progress, write_json,
)  # fmt: skip
from reporting.documents import VERSION
from reporting.text import aligned, error_text, seconds_text, share_text

Shape = tuple[int, int]  # rows, d_model
Works = dict[str, dict[str, Callable[[], Any]]]  # by work, by program

SECONDS, SAMPLES = 0.02, 5  # of each process and work
PROGRAMS = ("pytorch", "numpy", "posenc")
PHASES = {"pytorch": "float32", "numpy": "double"}
KEPT, CACHE = "kept table", "rotary cache"
HEADS = 32
TABLE_SHAPES = [(8, 512), (1024, 1024), (5000, 512), (131072, 128)]
ROTARY_SHAPES = [(128, 128), (8192, 128)]


def parse_shape(text: str) -> Shape:
    """ "5000x512"."""
    found = re.fullmatch(r"(\d{1,8})x(\d{1,8})", text)
    rows, d_model = (int(found[1]), int(found[2])) if found else (0, 0)
    if min(rows, d_model) < 1 or d_model % 2 or rows * d_model > 1 << 28:
        allowed = "ROWSxD, each at least 1, D even, 2^28 values at most"
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: {allowed}")
    return rows, d_model


def parse_arguments() -> argparse.Namespace:
    example = "compare_torch.py --shapes 5000x512 --output build/results/torch.json"
    parser = ArgumentParser(example=example, description=__doc__)
    parser.add_argument("--shapes", nargs="+", type=parse_shape, metavar="ROWSxD",
                        help="default: 8x512 1024x1024 5000x512 131072x128; with --rotary: 128x128 "
                        "8192x128")
    parser.add_argument("--threads", type=integer(1, 1024), default=1, metavar="N",
                        help="of PyTorch and posenc (default: %(default)s)")
    parser.add_argument("--processes", type=integer(1, 100), default=5, metavar="N",
                        help="default: %(default)s")
    parser.add_argument("--kept-table-only", action="store_true", help="no other work")
    parser.add_argument("--rotary", action="store_true", help="rotary embeddings, not tables")
    parser.add_argument("--output", metavar="FILE", help="also write a document of measurements")
    arguments = parser.parse_args()
    arguments.shapes = arguments.shapes or (ROTARY_SHAPES if arguments.rotary else TABLE_SHAPES)
    if arguments.rotary and arguments.output:
        parser.error("--output is given with --rotary; allowed: without, for tables")
    return arguments


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


def rotary_works(torch: Any, posenc: Any, shape: Shape, threads: int) -> Works:
    """As Transformers computes cosines and sines, and turns heads of shape (heads, rows, d)."""
    rows, d = shape
    frequencies = 1.0 / 10000.0 ** (torch.arange(0, d, 2, dtype=torch.float32) / d)
    position = torch.arange(rows, dtype=torch.float32).unsqueeze(1)
    cosines, sines = torch.empty(rows, d), torch.empty(rows, d)
    x, rotary = torch.randn(1, HEADS, rows, d), posenc.Rotary(d)
    cache, ours = rotary.cosines_and_sines(range(rows), "halves"), x.numpy().copy()

    def fill() -> Any:
        phases = position * frequencies
        both = torch.cat((phases, phases), dim=-1)
        cosines.copy_(both.cos())
        sines.copy_(both.sin())
        return cosines, sines

    def turn() -> Any:
        rotated = torch.cat((-x[..., d // 2 :], x[..., : d // 2]), dim=-1)
        return x * cosines + rotated * sines

    again = partial(rotary.cosines_and_sines, range(rows), "halves", out=cache, threads=threads)
    turn_ours = partial(rotary.apply_cache, cache, ours, heads_first=True, threads=threads)
    return {
        CACHE: {"pytorch": fill, "posenc": again},
        "rotary": {"pytorch": turn, "posenc": turn_ours},
    }


def works_of(posenc: Any, shape: Shape, options: argparse.Namespace) -> Works:
    torch, numpy = need_module("torch"), need_module("numpy")
    (rows, d), threads = shape, options.threads
    torch.set_num_threads(threads)
    if options.rotary:
        return rotary_works(torch, posenc, shape, threads)
    encoder = posenc.Encoder(d, rows=rows, threads=threads)
    again = partial(encoder.encode, range(rows), out=encoder.encode(range(rows)), threads=threads)
    position = torch.arange(rows, dtype=torch.float32).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    theirs = kept_table(torch, position, div_term, torch.empty(rows, d))
    works: Works = {KEPT: {"pytorch": theirs, "posenc": again}}
    if threads == 1:  # NumPy has no threads of its own for this
        position, frequencies = numpy.arange(rows)[:, None], 10000.0 ** (-numpy.arange(0, d, 2) / d)
        table = numpy.empty((rows, d), dtype=numpy.float32)
        works[KEPT]["numpy"] = kept_table(numpy, position, frequencies, table)
    if options.kept_table_only:
        return works
    module = torch_module(torch)
    kept, layer = module(d, rows).eval(), posenc.PositionalEncoding(d, rows, source="cached")
    x, y = torch.randn(1, rows, d), torch.empty(1, rows, d)
    forward = partial(layer.forward, x.numpy(), y.numpy(), threads=threads)
    works["new table"] = {
        "pytorch": lambda: module(d, rows),
        "posenc": lambda: posenc.Encoder(d).encode(range(rows), threads=threads),
    }
    works["x + table"] = {"pytorch": lambda: torch.add(x, kept.pe, out=y), "posenc": forward}
    works["module"] = {"pytorch": lambda: kept(x), "posenc": forward}
    return works


def median_seconds(work: Callable[[], Any]) -> float:
    """Of one call, after two that warm up."""
    work()
    once = timeit(work, number=1)
    calls = max(1, int(SECONDS / SAMPLES / max(once, 1e-7)))
    return median(timeit(work, number=calls) / calls for _ in range(SAMPLES))


def time_once(options: argparse.Namespace) -> list[tuple[str, Shape, str, float]]:
    """In this process: work, shape, program and seconds of each."""
    posenc, found = need_posenc(), []
    with need_module("torch").no_grad():
        for shape in options.shapes:
            works = works_of(posenc, shape, options)
            all_works = [(work, program) for work in works for program in works[work]]
            for work, program in random.sample(all_works, len(all_works)):
                found.append((work, shape, program, median_seconds(works[work][program])))
    return found


def error_of(posenc: Any, got: Any, work: str, shape: Shape) -> dict[str, float]:
    """Of a float32 table or cache, against float64 values that are correctly rounded."""
    numpy, (rows, d) = need_module("numpy"), shape
    if work == KEPT:
        got, exact = numpy.asarray(got), posenc.encode(rows, d, dtype="float64")
    else:
        both = posenc.Rotary(d).cosines_and_sines(range(rows), "halves", dtype="float64")
        got, exact = numpy.concatenate(got), numpy.concatenate(both)
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


def document_of(peers: list[tuple[str, Shape, list[float], dict[str, float]]],
                options: argparse.Namespace, posenc: Any) -> dict[str, Any]:
    """Of names, shapes, seconds and errors, as posenc measure writes documents."""
    isas = list(dict.fromkeys(name.partition(":")[2] for name in posenc.backends()))
    machine = {"cpu": posenc.cpu(), "isas": isas, "logical_cores": os.cpu_count()}
    paper: dict[str, Any] = {"base": 10000.0, "layout": "interleaved", "spacing": "paper"}
    stored: dict[str, Any] = {"dtype": "float32", "threads": options.threads, "stores": "automatic"}
    rows: list[dict[str, Any]] = []
    for name, (count, d_model), seconds, error in peers:
        spec = {**paper, "d_model": d_model, "frequencies": "base"}
        table = {"name": f"{count}x{d_model}", "spec": spec, "stride": d_model, **stored,
                 "rows": {"first": 0, "count": count}}  # fmt: skip
        rows.append({
            "backend": name, "isa": "", "role": "peer", "phases": PHASES[name], "table": table,
            "seconds": seconds, "self_ratios": [], "error": error, "bound": None,
        })  # fmt: skip
    versions = (need_module(name).__version__ for name in ("torch", "numpy"))
    return {
        "version": VERSION,
        "machine": {**machine, "l1_bytes": 0, "l2_bytes": 0, "l3_bytes": 0},
        "compiler": "PyTorch {}, NumPy {}".format(*versions),
        "library_version": posenc.__version__,
        "kernels": "",
        "measured_at": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        "disturbed": "",
        "measurements": rows,
    }


def main() -> int:
    options = parse_arguments()
    if options.output:
        check_writable(options.output)
    need_modules("torch", "numpy")
    posenc = need_posenc()
    seconds: dict[tuple[str, Shape], dict[str, list[float]]] = {}
    # A new process each time: addresses differ, and times with them.
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for done, found in enumerate(pool.imap(time_once, [options] * options.processes), 1):
            show_progress(f"{done} of {options.processes} processes")
            for work, shape, program, each in found:
                seconds.setdefault((work, shape), {}).setdefault(program, []).append(each)
    show_progress()
    lines, peers = [["work", "rows x d", *PROGRAMS, "error of pytorch", "error of numpy"]], []
    works = [KEPT, "new table", "x + table", "module", CACHE, "rotary"]
    for work, shape in sorted(seconds, key=lambda place: works.index(place[0])):
        times = seconds[work, shape]
        line = [work, f"{shape[0]} x {shape[1]}"]
        line += [seconds_text(median(times[p])) if p in times else "" for p in PROGRAMS]
        tables = works_of(posenc, shape, options)[work] if work in (KEPT, CACHE) else {}
        for program in ("pytorch", "numpy"):
            line.append("")
            if program in tables:
                error = error_of(posenc, tables[program](), work, shape)
                peers.append((program, shape, times[program], error))
                share = share_text(error["correctly_rounded"], is_of_all=True)
                line[-1] = f"{error_text(error['max_abs'])}, {share}"
        lines.append(line)
    # Columns of what was not asked for are left out.
    shown = [c for c in range(len(lines[0])) if any(line[c] for line in lines[1:])]
    print(aligned([[line[c] for c in shown] for line in lines], left=(0, 1)))
    print(f"\n{posenc.cpu()}; threads: {options.threads}; medians of {options.processes} processes")
    print("Errors: the largest of all rows, and the share of entries that are correctly rounded.")
    if options.output:
        write_json(options.output, document_of(peers, options, posenc))
    return 0


if __name__ == "__main__":
    run_main(main)
