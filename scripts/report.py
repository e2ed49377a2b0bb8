#!/usr/bin/env python3
"""One page from the measurements of one machine or of several: speed against error, throughput
from cache to memory, errors by position and by channel, threads, and all measurements.

DOCUMENTS are what posenc measure, posenc accuracy --format json and compare_torch.py --output
write, profiles among them. They are grouped by their CPU. Where two have the same row, the later
one counts.

Writes index.html, which needs nothing else, and each figure as SVG and PNG."""

import argparse

from reporting.command import ArgumentParser, run_main
from reporting.documents import read_machines
from reporting.failures import need_modules
from reporting.files import make_folder
from reporting.report import write_report


def parse_arguments() -> argparse.Namespace:
    example = "report.py build/results/*.json --output build/report"
    parser = ArgumentParser(example=example, description=__doc__)
    parser.add_argument("documents", nargs="+", metavar="DOCUMENT", help="JSON files")
    parser.add_argument("--output", required=True, metavar="DIR",
                        help="folder, made if it is missing")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    machines = read_machines(arguments.documents)
    need_modules("matplotlib", "numpy")
    make_folder(arguments.output)
    paths = write_report(machines, arguments.output)
    print(paths[0])
    print(f"{len(paths) - 1} figure files beside it")
    return 0


if __name__ == "__main__":
    run_main(main)
