#!/usr/bin/env python3
"""Shows documents of measurements, which posenc measure and posenc accuracy write with --format
json, and compare_torch.py with --output. Each document has a table of its own, under its CPU,
compiler and date. Figures of two documents are never mixed.

Prints Gfloat/s of one thread for each table and each backend at its best ISA, beside a copy of a
finished table and the limit of the memory. With --page, it writes index.html, which contains the
figures and the picks of posenc, and each figure as SVG."""

from pathlib import Path

from reporting.command import BadInput, parser_of, run_main
from reporting.documents import read_document
from reporting.tables import aligned, heading, markdown, speeds, wrapped


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("documents", nargs="+", metavar="DOCUMENT", help="JSON files")
    parser.add_argument("--peers", action="store_true",
                        help="print a row for each backend and each other library, as Markdown")
    parser.add_argument("--page", type=Path, metavar="FOLDER", help="made if it is missing")
    arguments = parser.parse_args()
    documents = list(map(read_document, arguments.documents))
    if arguments.page:
        from reporting.page import write_page  # needs matplotlib

        arguments.page.mkdir(parents=True, exist_ok=True)
        print(write_page(documents, arguments.page))
        return 0
    texts = []
    roles = ("backend", "peer") if arguments.peers else ("backend",)
    for document in (each for each in documents if each.plain(*roles)):
        sentence, rows = speeds(document, *roles)
        table = markdown(rows) if arguments.peers else aligned([list(row) for row in zip(*rows)])
        name = f"{document.path}\n" if len(documents) > 1 else ""
        parts = [name + wrapped(heading(document)), document.not_reliable, table, sentence]
        texts.append("\n\n".join(filter(None, parts)))
    if not texts:
        allowed = "documents of posenc measure"
        raise BadInput(f"DOCUMENT has no times of float32 by one thread; allowed: {allowed}")
    print("\n\n".join(texts))
    return 0


if __name__ == "__main__":
    run_main(main)
