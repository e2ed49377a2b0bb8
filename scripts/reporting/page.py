"""The page of documents: picks, figures and tables in one HTML file."""

import html
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path

from reporting import figures
from reporting.command import call_posenc
from reporting.documents import Document
from reporting.tables import ERROR_HEADINGS, Rows, facts, speeds

POINTS = (
    "Higher is faster, further left is more accurate. No method that stores plainly gets above "
    "the limit of the memory, and none left of half an ulp of 1 (dotted). Hollow marks are other "
    "libraries: a diamond has float32 phases, a square double ones."
)
THROUGHPUT = (
    "What each backend gives as tables outgrow the caches (dotted), beside what storing or "
    "copying as many bytes costs."
)


def figures_of(document: Document) -> Iterator[tuple[str, "figures.Figure | None", str]]:
    """The name, figure and caption of each figure of a document: speed against error of the
    tutorial's table (or the smallest table) and of the largest table, throughput, errors by
    position, and maps of the errors."""
    tables = list(dict.fromkeys(each.table for each in document.plain() if each.error))
    first = [table for table in tables if table.size == "5000 x 512"] or tables
    for number, table in enumerate(dict.fromkeys([*first[:1], *tables[-1:]])):
        caption = "The same for the largest table." if number else POINTS
        yield f"speed_error{number or ''}", figures.speed_against_error(document, table), caption
    yield "throughput", figures.throughput(document), THROUGHPUT
    caption = "Which methods drift as positions grow, and which stay at half an ulp (dotted)."
    yield "error_position", figures.error_by_position(document), caption
    caption = "The largest error in each part of the table: bright where a method fails."
    yield "error_map", figures.error_maps(document), caption


def _figure(name: str, svg: str, caption: str) -> str:
    text, data = html.escape(caption), b64encode(svg.encode()).decode()
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="{text}">'
    return f'<figure id="{name}">{image}<figcaption>{text}</figcaption></figure>\n'


def _table(rows: Rows) -> str:
    """A table with names at the left and numbers at the right. The errors stand beside the names,
    where scrolling does not hide them."""

    def line(row: Sequence[str], tag: str) -> str:
        count = len(ERROR_HEADINGS)
        ordered = (row[0], *row[-count:], *row[1:-count])
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}" for cell in ordered) + "\n"

    return f"<table>{line(rows[0], 'th')}{''.join(line(row, 'td') for row in rows[1:])}</table>"


def _part_of(document: Document, prefix: str, folder: Path) -> str:
    """The part of the page that shows one document. Writes its figures into the folder."""
    body = [f"<h2>{html.escape(document.design or document.cpu)}, {document.session}</h2>\n"]
    said = (f"{document.path.name}: {document.cpu}; {', '.join(document.isas)}; {facts(document)}; "
            f"measured at {document.measured_at}. {document.not_reliable}")  # fmt: skip
    body.append(f"<p>{html.escape(said)}</p>\n")
    if document.plain("backend"):
        picks, _ = call_posenc("pick", document.path)
        body.append(f"<h3>The fastest backends</h3>\n<pre>{html.escape(picks)}</pre>\n")
    body.append('<div class="figures">')
    for name, figure, caption in figures_of(document):
        if figure:
            svg = figures.svg_of(figure)
            (folder / f"{prefix}{name}.svg").write_text(svg, encoding="utf-8")
            body.append(_figure(prefix + name, svg, caption))
    body.append("</div>\n")
    if document.plain():
        sentence, rows = speeds(document, by_isa=True)
        body.append("<h3>Gfloat/s of every backend and library</h3>\n")
        body.append(f'<p>{html.escape(sentence)}</p>\n<div class="wide">{_table(rows)}</div>\n')
    return "".join(body)


def write_page(documents: Sequence[Document], folder: Path) -> Path:
    """Writes index.html and the figures. Returns the path of the page."""
    body = ""
    for number, document in enumerate(documents, 1):
        body += _part_of(document, f"{number}-" if len(documents) > 1 else "", folder)
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    page = folder / "index.html"
    page.write_text(template.replace("<!-- documents -->\n", body), encoding="utf-8")
    return page
