#!/usr/bin/env python3
"""Shows documents of measurements: what posenc measure and accuracy write with --format json,
and compare_torch.py with --output. They are grouped by their CPU. Where two have the same row, the
later one counts.

Prints Gfloat/s of one thread for each table and backend at its best ISA, beside a copy of a
finished table and the limit of the memory. With --page, it writes index.html, which has the figures
in it, and each figure as SVG."""

from pathlib import Path

from reporting.command import ArgumentParser, BadInput, run_main
from reporting.documents import read_machines
from reporting.tables import aligned, columns_of, heading, markdown, speeds, wrapped


def main() -> int:
    parser = ArgumentParser("report.py build/results/*.json --page build/report", __doc__)
    parser.add_argument("documents", nargs="+", metavar="DOCUMENT", help="JSON files")
    parser.add_argument("--peers", action="store_true",
                        help="print a row for each backend and each other library, as Markdown")
    parser.add_argument("--page", metavar="FOLDER", help="made if it is missing")
    arguments = parser.parse_args()
    machines = read_machines(arguments.documents)
    if arguments.page:
        from reporting.page import write_page  # needs matplotlib

        Path(arguments.page).mkdir(parents=True, exist_ok=True)
        paths = write_page(machines, arguments.page)
        print(f"{paths[0]}, and {len(paths) - 1} figures beside it")
        return 0
    texts = []
    roles = ("backend", "peer") if arguments.peers else ("backend",)
    for machine in (each for each in machines if each.plain(*roles)):
        sentence, rows = speeds(columns_of(machine, *roles), roles)
        table = markdown(rows) if arguments.peers else aligned([list(row) for row in zip(*rows)])
        parts = [wrapped(heading(machine)), machine.not_reliable, table, sentence]
        texts.append("\n\n".join(filter(None, parts)))
    if not texts:
        allowed = "documents of posenc measure"
        raise BadInput(f"DOCUMENT has no times of float32 by one thread; allowed: {allowed}")
    print("\n\n".join(texts))
    return 0


if __name__ == "__main__":
    run_main(main)
