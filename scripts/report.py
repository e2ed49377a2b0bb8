#!/usr/bin/env python3
"""One page from the results of one machine or of several: speed against error, throughput, errors,
latency, threads, the pick.

RESULTS are JSON files, or folders of them: of the benchmarks (--benchmark_out), posenc accuracy
--format json, posenc pick --format json, and compare_torch.py --output. Results are grouped by
their CPU. A profile among them adds nothing to its pick.

Writes index.html, which needs nothing else, and each figure as SVG and PNG."""

import argparse

from measuring.command import ArgumentParser, run_main
from measuring.errors import need_module, reading
from measuring.files import make_folder
from measuring.report import write_report
from measuring.results.machines import read_machines


def parse_arguments() -> argparse.Namespace:
    example = "report.py build/results --output build/report"
    parser = ArgumentParser(example=example, description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULTS",
                        help="JSON files, or folders of them")
    parser.add_argument("--output", required=True, metavar="DIR",
                        help="folder, made if it is missing")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    machines = read_machines(arguments.results)
    need_module("matplotlib", "python3-matplotlib")
    make_folder(arguments.output)
    with reading("RESULTS"):
        paths = write_report(machines, arguments.output)
    print(paths[0])
    print(f"{len(paths) - 1} figure files beside it")
    return 0


if __name__ == "__main__":
    run_main(main)
