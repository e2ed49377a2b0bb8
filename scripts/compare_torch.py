#!/usr/bin/env python3
"""Compares this library with PyTorch on the CPU: the tutorial's modules, the table itself, and
x + pe.

Works (float32, the paper's convention):
  table, from nothing   the module's constructor; here planning, allocating and encoding
  table, kept memory    sin and cos into a table that is there; here encode
  x + pe                torch.add into memory that is there
  forward, batch first  the module in evaluation, x of shape (batch, rows, d_model); torch allocates
                        its result
  forward, seq first    the same for x of shape (rows, batch, d_model)
The last three are PositionalEncoding's forward here, once with each source: fused, which keeps no
table, and cached.

The kept table also comes from NumPy, by the textbook's formula in double, rounded once. If it is of
one thread, what each program's table gets wrong is measured against the formula in long double.

posenc is called by its Python package. Both sides run warm and with the same number of threads,
and take turns: every repetition times all of them in random order. Times are medians; the relative
IQR is half the interquartile range over the median. Values must agree within the tolerance: what
torch's float32 phases can be off by, 4 units of 2^-24 times the last position, and a few
roundings."""

import argparse
import importlib
import os
import re
import sys
from typing import Any

from measuring.command import CHECK_FAILED, ArgumentParser, integer, run_main, warn
from measuring.comparison.bench import Bench, Comparison
from measuring.comparison.document import document_of
from measuring.comparison.programs import Library, Shape
from measuring.comparison.tables import errors_text, noise_note, times_text
from measuring.errors import BadInput, Skipped, need_module
from measuring.files import ROOT, check_writable, write_json
from measuring.results.benchmarks import read_benchmarks

DEFAULT_SHAPES = ((1, 512, 512), (8, 512, 512), (1, 5000, 512), (1, 32768, 1024))


def parse_shape(text: str) -> Shape:
    """ "5000x512" or "8x512x512"."""
    numbers = [int(part) for part in text.split("x") if re.fullmatch(r"\d{1,8}", part)]
    batch, rows, d_model = [1, *numbers][-3:] if len(numbers) in (2, 3) else (0, 0, 0)
    is_shape = len(numbers) == text.count("x") + 1 and min(batch, rows, d_model) > 0
    if not is_shape or d_model % 2 or batch * rows * d_model > 1 << 28:
        allowed = "ROWSxD or BATCHxROWSxD, each at least 1, D even, 2^28 values at most"
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: {allowed}")
    return batch, rows, d_model


def parse_seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 10:
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: above 0, at most 10")
    return value


def core_count() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_arguments() -> argparse.Namespace:
    example = "compare_torch.py --threads 1 --shapes 5000x512 8x512x512"
    parser = ArgumentParser(example=example, description=__doc__)
    shapes = " ".join("x".join(map(str, shape)) for shape in DEFAULT_SHAPES)
    parser.add_argument("--shapes", nargs="+", type=parse_shape, default=list(DEFAULT_SHAPES),
                        metavar="SHAPE", help=f"ROWSxD or BATCHxROWSxD (default: {shapes})")
    parser.add_argument("--threads", nargs="+", type=integer(1, 1024),
                        default=sorted({1, core_count()}), metavar="N",
                        help="threads of both sides (default: 1 and all cores)")
    parser.add_argument("--backend", metavar="NAME",
                        help="backend, or backend:isa (default: the library's selection)")
    parser.add_argument("--repetitions", type=integer(1, 1000), default=9, metavar="N",
                        help="samples of each (default: %(default)s)")
    parser.add_argument("--seconds-per-sample", type=parse_seconds, default=0.02, metavar="S",
                        help="default: %(default)s")
    parser.add_argument("--kept-table-only", action="store_true",
                        help="only the table in memory that is there")
    parser.add_argument("--output", metavar="FILE",
                        help="also write every sample, as JSON in Google Benchmark's format; the "
                        "kept tables of one thread as encode/pytorch/... and encode/numpy/..., "
                        "which summary.py and report.py show beside the backends")
    parser.add_argument("--package", metavar="FOLDER",
                        help="folder of the Python package posenc (default: build/release/python, "
                        "else the installed one)")
    return parser.parse_args()


def need_posenc(options: argparse.Namespace) -> Any:
    """Imports the package, for the backend of the options. Throws BadInput if --package has none,
    and Skipped if it is not for this Python."""
    if options.package and not os.path.isdir(os.path.join(options.package, "posenc")):
        allowed = "a folder that holds the Python package posenc"
        raise BadInput(f"--package is '{options.package}'; allowed: {allowed}")
    if options.backend:
        os.environ["POSENC_BACKEND"] = options.backend  # read once, by the layers too
    sys.path.insert(0, options.package or os.path.join(ROOT, "build", "release", "python"))
    try:
        return importlib.import_module("posenc")
    except ImportError as error:
        built = "built with python3-dev and pybind11-dev"
        raise Skipped(f"{sys.executable} has no posenc ({built}; {error})") from error


def compare(options: argparse.Namespace, torch: Any, posenc: Any) -> list[Comparison]:
    bench = Bench(
        torch=torch,
        library=Library(posenc, options.backend),
        shapes=options.shapes,
        threads=options.threads,
        repetitions=options.repetitions,
        seconds_per_sample=options.seconds_per_sample,
        kept_table_only=options.kept_table_only,
    )
    try:
        with torch.no_grad():
            return list(bench.run())
    except ValueError as error:  # one line of the library
        raise BadInput(str(error)) from error


def main() -> int:
    options = parse_arguments()
    if options.output:
        check_writable(options.output)
    torch = need_module("torch", "python3-torch")
    torch.manual_seed(1)
    posenc = need_posenc(options)
    cpu = posenc.cpu()
    print(
        f"torch {torch.__version__} and posenc ({options.backend or 'the selected backend'}) "
        f"on {cpu}\nfloat32, medians of {options.repetitions} interleaved repetitions\n",
        flush=True,
    )
    comparisons = compare(options, torch, posenc)
    backend = options.backend or "selected"
    document = document_of(comparisons, torch.__version__, cpu, backend)
    benchmarks = read_benchmarks(document)
    parts = [times_text(benchmarks), errors_text(benchmarks), noise_note(benchmarks)]
    print(*filter(None, parts), sep="\n\n")
    if options.output:
        write_json(options.output, document)
        print(f"Samples: {options.output}")
    wrong = [each for each in comparisons if not each.agrees]
    for each in wrong:
        warn(
            f"{each.title}: values differ by {max(each.differences):.1e}, "
            f"more than {each.tolerance:.1e}"
        )
    return CHECK_FAILED if wrong else 0


if __name__ == "__main__":
    run_main(main)
