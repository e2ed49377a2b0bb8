#!/usr/bin/env python3
"""Shows documents of measurements: what posenc measure, posenc accuracy and posenc pick write with
--format json, and compare_torch.py with --output. They are grouped by their CPU. Where two have the
same row, the later one counts.

Prints Gfloat/s of one thread for each table and backend at its best ISA, beside a copy of a
finished table and the limit of the memory; then what posenc pick has found. With --page, it writes
index.html, which has the figures in it, and each figure as SVG."""

import argparse

from reporting.command import ArgumentParser, BadInput, make_folder, need_modules, run_main
from reporting.documents import Machine, read_machines
from reporting.page import write_page
from reporting.summary import (
    ANSWER_LEFT, answer, columns_of, heading, not_reliable, speeds,
)  # fmt: skip
from reporting.text import aligned, markdown, wrapped


def parse_arguments() -> argparse.Namespace:
    example = "report.py build/results/*.json --page build/report"
    parser = ArgumentParser(example=example, description=__doc__)
    parser.add_argument("documents", nargs="+", metavar="DOCUMENT", help="JSON files")
    parser.add_argument("--peers", action="store_true",
                        help="print a row for each backend and each other library, as Markdown")
    parser.add_argument("--page", metavar="FOLDER", help="made if it is missing")
    return parser.parse_args()


def text_of(machine: Machine, has_peers: bool) -> str:
    parts = []
    if plain := machine.plain():
        has_peers = has_peers or not machine.plain("backend")
        roles = ("backend", "peer") if has_peers else ("backend",)
        sentence, rows = speeds(columns_of(machine, *roles), roles)
        table = markdown(rows) if has_peers else aligned([list(row) for row in zip(*rows)])
        parts += [wrapped(heading(machine)), not_reliable(plain), table, sentence]
    if machine.verdicts:
        sentence, tables = answer(machine)
        parts += [wrapped(sentence), *(aligned(rows, ANSWER_LEFT) for rows in tables)]
    return "\n\n".join(filter(None, parts))


def main() -> int:
    arguments = parse_arguments()
    machines = read_machines(arguments.documents)
    if arguments.page:
        need_modules("matplotlib", "numpy")
        make_folder(arguments.page, "--page")
        paths = write_page(machines, arguments.page)
        print(f"{paths[0]}, and {len(paths) - 1} figures beside it")
        return 0
    texts = list(filter(None, (text_of(machine, arguments.peers) for machine in machines)))
    if not texts:
        raise BadInput("DOCUMENT has no times of float32 by one thread, and no verdict; allowed: "
                       "documents of posenc measure and posenc pick")  # fmt: skip
    print("\n\n".join(texts))
    return 0


if __name__ == "__main__":
    run_main(main)
