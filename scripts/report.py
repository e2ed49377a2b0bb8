#!/usr/bin/env python3
"""Shows documents of measurements: what posenc measure and accuracy write with --format json,
and compare_torch.py with --output. They are grouped by their CPU. Where two have the same row, the
later one counts.

Prints Gfloat/s of one thread for each table and backend at its best ISA, beside a copy of a
finished table and the limit of the memory. With --page, it writes index.html, which has the figures
in it, and each figure as SVG."""

from pathlib import Path

from reporting.command import (
    ArgumentParser, BadInput, make_folder, need_modules, reading, run_main,
)  # fmt: skip
from reporting.documents import Machine, read_machines
from reporting.page import write_page
from reporting.summary import columns_of, heading, not_reliable, speeds
from reporting.text import aligned, markdown, wrapped


def text_of(machine: Machine, has_peers: bool) -> str:
    if not (plain := machine.plain()):
        return ""
    has_peers = has_peers or not machine.plain("backend")
    roles = ("backend", "peer") if has_peers else ("backend",)
    sentence, rows = speeds(columns_of(machine, *roles), roles)
    table = markdown(rows) if has_peers else aligned([list(row) for row in zip(*rows)])
    parts = [wrapped(heading(machine)), not_reliable(plain), table, sentence]
    return "\n\n".join(filter(None, parts))


def main() -> int:
    parser = ArgumentParser("report.py build/results/*.json --page build/report", __doc__)
    parser.add_argument("documents", nargs="+", metavar="DOCUMENT", help="JSON files")
    parser.add_argument("--peers", action="store_true",
                        help="print a row for each backend and each other library, as Markdown")
    parser.add_argument("--page", metavar="FOLDER", help="made if it is missing")
    parser.add_argument("--answer", metavar="FILE", type=Path,
                        help="of posenc pick, as text: what the page begins with")
    arguments = parser.parse_args()
    if arguments.answer and not arguments.page:
        parser.error("--answer is given without --page; allowed: with it")
    machines = read_machines(arguments.documents)
    if arguments.page:
        need_modules("matplotlib", "numpy")
        with reading(arguments.answer):
            answer = arguments.answer.read_text(encoding="utf-8") if arguments.answer else ""
        make_folder(arguments.page, "--page")
        paths = write_page(machines, answer, arguments.page)
        print(f"{paths[0]}, and {len(paths) - 1} figures beside it")
        return 0
    texts = list(filter(None, (text_of(machine, arguments.peers) for machine in machines)))
    if not texts:
        allowed = "documents of posenc measure"
        raise BadInput(f"DOCUMENT has no times of float32 by one thread; allowed: {allowed}")
    print("\n\n".join(texts))
    return 0


if __name__ == "__main__":
    run_main(main)
