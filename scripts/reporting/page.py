"""The page of documents: verdicts, figures and tables in one HTML file."""

import html
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from reporting import computed, figures
from reporting.command import BadInput, write_file
from reporting.documents import Document
from reporting.tables import ERROR_HEADINGS, Rows, bound_text, columns_of, facts, speed_text, speeds

POINTS = (
    "Higher is faster, further left is more accurate. No method that stores plainly gets above "
    "the limit of the memory, and none left of half an ulp of 1 (dotted). Hollow marks are other "
    "libraries: a diamond has float32 phases, a square double ones."
)
ACROSS = (
    "The default backend on each CPU, on the tables that all documents have. Compilers and days "
    "differ: the speeds are shown, and not judged."
)
SHIFT = (
    "A shift by k turns each pair of channels by a fixed angle, so that relative positions are a "
    "linear map. For correctly rounded entries, this holds at every position, but for the rounding "
    "of the entries. div_term rounds its phases to float32, and is off by more at every octave."
)
LEVELS = {"l1": "in L1", "l2": "in L2", "l3": "in L3", "memory": "beyond the caches"}
PICK_HEADINGS = ["", "picked", "Gfloat/s", "bound", "next", "times as long", "tied with"]
LARGER_ERROR = "1e-6"  # the second accuracy that posenc pick shows
# The name of a figure, the function that draws it, and its caption.
Drawn = tuple[str, Callable[[], "figures.Figure | None"], str]


def figures_of(document: Document) -> Iterator[Drawn]:
    """The figures of a document: speed against error of the tutorial's table (or the smallest
    table) and of the largest table, throughput, errors by position, and maps of the errors."""
    tables = list(dict.fromkeys(each.table for each in document.plain() if each.error))
    first = [table for table in tables if table.size == "5000 x 512"] or tables
    for number, table in enumerate(dict.fromkeys([*first[:1], *tables[-1:]])):
        caption = "The same for the largest table." if number else POINTS
        draw = partial(figures.speed_against_error, document, table)
        yield f"speed_error{number or ''}", draw, caption
    caption = "What each backend gives as tables outgrow the caches (dotted), beside what storing "
    caption += "or copying as many bytes costs."
    yield "throughput", partial(figures.throughput, document), caption
    caption = "Which methods drift as positions grow, and which stay at half an ulp (dotted)."
    yield "error_position", partial(figures.error_by_position, document), caption
    caption = "The largest error in each part of the table: bright where a method fails."
    yield "error_map", partial(figures.error_maps, document), caption


def computed_figures(posenc: str | Path) -> Iterator[Drawn]:
    """Pictures of the table itself."""
    caption = "Every row is another pattern of waves, fast at the left and slow at the right."
    yield "table", lambda: figures.table_map(computed.table(posenc, 200, 128)), caption
    caption = "Even channels are sines, odd ones the cosines of the same phase."
    yield "channels", lambda: figures.some_channels(computed.table(posenc, 100, 20)), caption
    rows, d_model, shift = 1 << 16, 64, 100

    def draw_shift() -> figures.Figure:
        backends = ("rotation", "div_term")
        errors = computed.shift_errors(posenc, rows, d_model, shift, backends)
        return figures.shift_error(errors, shift, d_model)

    yield "shift", draw_shift, SHIFT


def _pick_row(verdict: dict[str, Any]) -> list[str]:
    """The row of one class of tables: the pick, the next backend, and backends that are as fast."""

    def name(of: dict[str, Any]) -> str:
        return f"{of['backend']}:{of['isa']}"

    pick, threads = verdict["pick"], verdict["threads"]
    where = f"{verdict['dtype']} {LEVELS[verdict['shape_class']]}"
    where += "" if threads == 1 else f", {threads} threads"
    if not pick:
        return [where, "none", "", "", "", "", ""]
    compared = [other for other in verdict["others"] if other["compared"]]
    slower = next((other for other in compared if not other["tied"]), None)
    tied = ", ".join(name(other) for other in compared if other["tied"])
    behind = [name(slower), f"{slower['ratio']:.3f}"] if slower else ["", ""]
    return [where, name(pick), speed_text(pick["gfloats_per_second"]),
            bound_text(pick["error_bound"]), *behind, tied]  # fmt: skip


def verdicts(posenc: str | Path, document: Document) -> tuple[list[str], dict[str, Rows]]:
    """Sentences that name the fastest correctly rounded backends, and a table of picks for each
    accuracy that posenc pick shows."""
    tables = {}
    for title, options in (("Correctly rounded", ()),
                           (f"Within {LARGER_ERROR}", ("--max-error", LARGER_ERROR))):  # fmt: skip
        found = computed.picks(posenc, document.path, *options)
        tables[title] = [PICK_HEADINGS, *map(_pick_row, found)]
    by_pick: dict[str, list[str]] = {}
    for where, name, *_ in tables["Correctly rounded"][1:]:
        by_pick.setdefault(name, []).append(where)
    sentences = []
    for name, classes in by_pick.items():
        of_which = ", ".join(classes) if len(by_pick) > 1 else "tables of every size"
        fastest = "No backend is correctly rounded" if name == "none" else (
            f"{name} is the fastest correctly rounded backend")  # fmt: skip
        sentences.append(f"{fastest} for {of_which}.")
    return sentences, tables


def _figure(name: str, svg: str, caption: str) -> str:
    text, data = html.escape(caption), b64encode(svg.encode()).decode()
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="{text}">'
    return f'<figure id="{name}">{image}<figcaption>{text}</figcaption></figure>\n'


def _table(rows: Rows, kind: str = "speeds") -> str:
    """A table with names at the left and numbers at the right. If it is wider than the page, it
    scrolls beside its first column, and a hint says so."""

    def line(row: Sequence[str], tag: str) -> str:
        cells = (f"<{tag}>{html.escape(cell).replace(' x ', '&nbsp;x&nbsp;')}</{tag}>"
                 for cell in row)  # fmt: skip
        return f"<tr>{''.join(cells)}</tr>\n"

    body = "".join(line(row, "td") for row in rows[1:])
    table = f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"
    return f'<div class="wide {kind}" tabindex="0">{table}</div>\n'


def _errors_first(rows: Rows) -> Rows:
    """Puts the errors beside the names, where scrolling does not hide them."""
    count = len(ERROR_HEADINGS)
    return [[row[0], *row[-count:], *row[1:-count]] for row in rows]


def _origin(document: Document, is_one_of_many: bool) -> str:
    """The CPU, compiler and day of a document, and its file."""
    said = (f"{document.cpu}; {', '.join(document.isas)}; {facts(document)}; "
            f"{document.facts['compiler']}, {document.facts['measured_at']}")  # fmt: skip
    file = f"{document.path.name}: " if is_one_of_many else ""
    return html.escape(f"{file}{said}. {document.not_reliable}".rstrip())


def write_page(documents: Sequence[Document], folder: str, posenc: str | Path) -> list[Path]:
    """Writes index.html and the figures. Returns their paths; the path of the page comes first."""
    paths, body = [Path(folder, "index.html")], []

    def add(name: str, figure: "figures.Figure | None", caption: str) -> None:
        if figure:
            paths.append(Path(folder, f"{name}.svg"))
            svg = figures.svg_of(figure)
            write_file(paths[-1], svg)
            body.append(_figure(name, svg, caption))

    def add_all(drawings: Iterator[Drawn], prefix: str = "") -> None:
        body.append('<div class="figures">')
        for name, draw, caption in drawings:
            add(prefix + name, draw(), caption)
        body.append("</div>\n")

    is_many = len(documents) > 1
    for document in (each for each in documents if each.plain("backend")):
        sentences, tables = verdicts(posenc, document)
        body.append(f"<h2>The pick for {html.escape(document.label)}</h2>\n")
        body += [f'<p class="verdict">{html.escape(each)}</p>\n' for each in sentences]
        body.append(f"<p>{html.escape(document.not_reliable)}</p>\n")
        for title, rows in tables.items():
            body += [f"<h3>{title}</h3>\n", _table(rows, "picks")]
    add("across_cpus", figures.across_cpus(documents), ACROSS)
    for number, document in enumerate(documents, 1):
        kind = "Times and errors" if document.plain() else "Errors"
        body.append(f"<h2>{kind}: {html.escape(document.label)}</h2>\n")
        body.append(f"<p>{_origin(document, is_many)}</p>\n")
        add_all(figures_of(document), f"{number}-" if is_many else "")
        if document.plain():
            columns = columns_of(document)
            sentence, rows = speeds(document, columns, ("backend", "peer"), by_isa=True)
            body.append("<h3>Gfloat/s of every backend and library</h3>\n")
            body += [f"<p>{html.escape(sentence)}</p>\n", _table(_errors_first(rows))]
    if len(paths) == 1:
        allowed = "documents with times or with reports of errors"
        raise BadInput(f"DOCUMENT has nothing to draw; allowed: {allowed}")
    body.append("<h2>What is computed</h2>\n")
    add_all(computed_figures(posenc))
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    write_file(paths[0], template.replace("<!-- verdicts, documents, tables -->\n", "".join(body)))
    return paths
