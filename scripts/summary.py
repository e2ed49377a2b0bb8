#!/usr/bin/env python3
"""One table of speed and accuracy, from the results of bench_encode and of posenc accuracy.

Speed: medians over the repetitions, of all processes if there are several. The smallest preset
comes first, and of each preset the fastest backend."""

import argparse
import glob
import itertools

from measuring.command import CHECK_FAILED, ArgumentParser, run_main
from measuring.errors import BadInput, reading
from measuring.files import read_json, write_whole
from measuring.results import Document
from measuring.results.accuracy import AccuracyReport, read_accuracy
from measuring.results.benchmarks import Benchmark, read_benchmarks
from measuring.speeds import HEADER, LEFT, noise_note, notes_of, presets_of, speeds_of, table_of
from measuring.tables import markdown_table


def parse_arguments() -> argparse.Namespace:
    parser = ArgumentParser(
        example="summary.py --benchmark build/results/benchmark.json "
        "--accuracy build/results/accuracy_tutorial.json",
        description=__doc__,
    )
    parser.add_argument("--benchmark", nargs="+", default=["build/results/benchmark.json"],
                        metavar="FILE",
                        help="of measure.py, bench_encode --benchmark_out=FILE or "
                        "compare_torch.py --output (default: build/results/benchmark.json)")
    parser.add_argument("--accuracy", nargs="+", metavar="FILE",
                        default=sorted(glob.glob("build/results/accuracy_*.json")),
                        help="of posenc accuracy --format json "
                        "(default: build/results/accuracy_*.json)")
    parser.add_argument("--markdown", metavar="FILE", help="also write the table as Markdown")
    parser.add_argument("files", nargs="*", metavar="RESULT",
                        help="further result files, to be named below the table")
    return parser.parse_args()


def read_reports(paths: list[str]) -> list[AccuracyReport]:
    reports = []
    for path in paths:
        document = read_json(path)
        with reading(path):
            reports += read_accuracy(document)
    return reports


def read_presets(path: str, document: Document) -> list[Benchmark]:
    with reading(path):
        found = presets_of(read_benchmarks(document))
    if not found:
        raise BadInput(f"{path}: no benchmark of a preset; allowed: results of bench_encode")
    return found


def main() -> int:
    arguments = parse_arguments()
    documents = {path: read_json(path) for path in arguments.benchmark}
    found = [read_presets(path, document) for path, document in documents.items()]
    speeds = speeds_of(itertools.chain(*found), read_reports(arguments.accuracy))
    print(table_of(speeds))
    notes = [noise_note(document.get("context", {})) for document in documents.values()]
    for note in [*filter(None, notes), *notes_of(speeds)]:
        print(f"\n{note}")
    written = [arguments.markdown] if arguments.markdown else []
    for path in written:
        write_whole(path, markdown_table(HEADER, [each.cells() for each in speeds], LEFT))
    print("\nresults")
    for path in [*arguments.benchmark, *arguments.accuracy, *written, *arguments.files]:
        print(f"  {path}")
    return CHECK_FAILED if any(each.benchmark.error for each in speeds) else 0


if __name__ == "__main__":
    run_main(main)
