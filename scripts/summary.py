#!/usr/bin/env python3
"""Tables like the README's: Gfloat/s of one thread for each table and backend at its best
ISA, beside a copy of a finished table and the limit of the memory, and the largest error.

DOCUMENTS are those of posenc measure. Each CPU has tables of its own."""

import argparse
import re

from reporting.command import ArgumentParser, run_main
from reporting.documents import read_machines
from reporting.failures import BadInput
from reporting.files import write_whole
from reporting.summary import FORMATS, summary_of


def parse_size(text: str) -> str:
    """ "5000x512" as "5000 x 512"."""
    if not re.fullmatch(r"\d+x\d+", text):
        raise argparse.ArgumentTypeError(f"is '{text}'; allowed: ROWSxD, such as 5000x512")
    return text.replace("x", " x ")


def parse_arguments() -> argparse.Namespace:
    example = "summary.py build/results/measurements.json --tables 8x512 5000x512"
    parser = ArgumentParser(example=example, description=__doc__)
    parser.add_argument("documents", nargs="+", metavar="DOCUMENT", help="JSON files")
    parser.add_argument("--tables", nargs="+", type=parse_size, default=[], metavar="SIZE",
                        help="ROWSxD (default: all that were measured)")
    parser.add_argument("--peers", action="store_true",
                        help="also a table with a row for each backend and each other library")
    parser.add_argument("--format", choices=FORMATS, default="markdown",
                        help="markdown, or text with aligned columns (default: %(default)s)")
    parser.add_argument("--output", metavar="FILE", help="write there instead of printing")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    machines = read_machines(arguments.documents)
    text = summary_of(machines, arguments.tables, arguments.peers, arguments.format)
    if not text:
        wanted = ", ".join(arguments.tables) or "float32 of one thread"
        raise BadInput(f"DOCUMENT has no times of {wanted}; allowed: documents of posenc measure")
    if arguments.output:
        write_whole(arguments.output, text + "\n")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    run_main(main)
