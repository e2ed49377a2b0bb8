#!/usr/bin/env python3
"""Compares a document of posenc measure with the newest document of its CPU in docs/measured.

posenc compare names what became slower or faster, and on which tables. The exit code is 1 on a
regression, on a broken bound, or if the times are not reliable. In the last two cases, the document
is never kept."""

import re
from collections.abc import Iterable
from pathlib import Path

from reporting.command import CHECK_FAILED, ROOT, call_posenc, parser_of, run_main
from reporting.documents import Document, read_document
from reporting.tables import Rows, facts, heading, markdown, speeds, wrapped

FOLDER = ROOT / "docs" / "measured"
PAGE = ROOT / "docs" / "measured.md"


def cpu_name(document: Document) -> str:
    """The name of the design, the CPU's own name and the best ISA:
    "zen-5-amd-epyc-family-26-model-2-stepping-1-avx512". posenc compare judges the times of two
    documents with the same name and ISA."""
    name = f"{document.design} {document.cpu} {document.isas[-1]}".lower()
    return re.sub(r"(\((r|tm)\)|[^a-z0-9])+", "-", name).strip("-")


def document_name(document: Document) -> str:
    """The CPU, the compiler and the digest of the kernels: "..._g++-12.2.0_670fae7886d8"."""
    return f"{cpu_name(document)}_{document.compiler.replace(' ', '-')}_{document.kernels}"


def in_order(documents: Iterable[Document]) -> dict[str, Document]:
    """The documents by name; for each CPU, the newest comes first."""
    newest_first = sorted(documents, key=lambda each: each.measured_at, reverse=True)
    return {document_name(each): each for each in sorted(newest_first, key=cpu_name)}


def read_kept() -> dict[str, Document]:
    return in_order(map(read_document, FOLDER.glob("*.json")))


def named(rows: Rows) -> str:
    """The rows in Markdown. Names of backends are code, but not the heading, the copy and the
    limit."""
    return markdown([rows[0], *([f"`{row[0]}`", *row[1:]] for row in rows[1:-2]), *rows[-2:]])


def page_of(document: Document) -> str:
    """The page of one document."""
    sentence, table = speeds(document, "backend", by_isa=True)
    text = wrapped(f"{heading(document)}. {facts(document)}. {sentence}")
    title = f"{document.design}: {document.cpu}" if document.design else document.cpu
    return f"# {title}, {document.isas[-1]}\n\n{text}\n\n{named(table)}\n"


def index_of(page: str, kept: dict[str, Document]) -> str:
    """The page of all documents: its first part stays, and the table is written anew."""
    rows = [["CPU", "shown as", "ISA", "compiler", "kernels", "date", ""]]
    for name, document in kept.items():
        rows.append([document.design or "not recognised", document.cpu, document.isas[-1],
                     document.compiler, document.kernels,
                     f"[{document.measured_at[:10]}](measured/{name}.md)",
                     f"[JSON](measured/{name}.json)"])  # fmt: skip
    return "".join([page.partition("| CPU |")[0], markdown(rows, left=range(7)), "\n"])


def keep(path: Path, document: Document) -> None:
    """Writes the document, its page and the index. Writes nothing if the index cannot be made.
    Older documents of the CPU stay."""
    index = index_of(PAGE.read_text(encoding="utf-8"), in_order([*read_kept().values(), document]))
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{document_name(document)}.json").write_bytes(path.read_bytes())
    (FOLDER / f"{document_name(document)}.md").write_text(page_of(document), encoding="utf-8")
    PAGE.write_text(index, encoding="utf-8")


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("document", type=Path, metavar="DOCUMENT", help="of posenc measure")
    parser.add_argument("--keep", action="store_true",
                        help="keep the document and its page, and write docs/measured.md anew")
    arguments = parser.parse_args()
    now, is_good = read_document(arguments.document), True
    is_broken = any(each.is_bound_broken for each in now.measurements)
    why_not = now.not_reliable or ("A bound is broken." if is_broken else "")

    name = document_name(now)
    of_this_cpu = [each for each in read_kept().values() if cpu_name(each) == cpu_name(now)]
    if of_this_cpu:
        text, is_good = call_posenc("compare", of_this_cpu[0].path, arguments.document)
        print(text, end="")
    else:
        print(f"No document of {now.cpu}, {now.isas[-1]} is kept yet.")
    if why_not:
        print(f"Never kept. {why_not}")
    elif arguments.keep:
        keep(arguments.document, now)
        print(f"Kept: docs/measured/{name}.json")
    return 0 if is_good and not why_not else CHECK_FAILED


if __name__ == "__main__":
    run_main(main)
