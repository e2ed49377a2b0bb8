"""The page of one machine or of several: figures and tables in one file of HTML."""

import html
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from reporting import figures
from reporting.command import BadInput, write_file
from reporting.documents import Machine
from reporting.tables import Rows, columns_of, facts, speeds

POINTS = (
    "Higher is faster, further left is more accurate. No method that stores plainly gets above "
    "the limit of the memory, and none left of half an ulp of 1 (dotted). Hollow: what is not part "
    "of the library; a diamond has float32 phases, a square double ones."
)
ACROSS = (
    "The default backend on each CPU, on the tables that all documents have. Compilers and days "
    "differ: the speeds are shown, and not judged."
)
# Of a figure its name, what draws it, and its caption.
Drawn = tuple[str, Callable[[], "figures.Figure | None"], str]


def figures_of(machine: Machine) -> Iterator[Drawn]:
    """Speed against error of the tutorial's table (else the smallest) and of the largest, ..."""
    tables = list(dict.fromkeys(each.table for each in machine.plain() if each.error))
    first = [table for table in tables if table.size == "5000 x 512"] or tables
    for number, table in enumerate(dict.fromkeys([*first[:1], *tables[-1:]])):
        caption = "The same of the largest table." if number else POINTS
        draw = partial(figures.speed_against_error, machine, table)
        yield f"speed_error{number or ''}", draw, caption
    caption = "What each backend gives as tables outgrow the caches (dotted), beside what storing "
    caption += "or copying as many bytes costs."
    yield "throughput", partial(figures.throughput, machine), caption
    caption = "Which methods drift as positions grow, and which stay at half an ulp (dotted)."
    yield "error_position", partial(figures.error_by_position, machine), caption
    caption = "In which channels the largest errors are: in a bright band, a method fails."
    yield "error_channel", partial(figures.error_by_channel, machine), caption


def _figure(name: str, svg: str, caption: str) -> str:
    text, data = html.escape(caption), b64encode(svg.encode()).decode()
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="{text}">'
    return f'<figure id="{name}">{image}<figcaption>{text}</figcaption></figure>\n'


def _table(rows: Rows) -> str:
    """Names at the left, numbers at the right. It scrolls where it is wider than the page."""

    def line(row: Sequence[str], tag: str) -> str:
        cells = (f"<{tag}>{html.escape(cell).replace(' x ', '&nbsp;x&nbsp;')}</{tag}>"
                 for cell in row)  # fmt: skip
        return f"<tr>{''.join(cells)}</tr>\n"

    body = "".join(line(row, "td") for row in rows[1:])
    table = f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0">{table}</div>\n'


def write_page(machines: Sequence[Machine], folder: str) -> list[Path]:
    """Writes index.html and the figures; returns their paths, the page's first."""
    paths, body = [Path(folder, "index.html")], []

    def add(name: str, figure: "figures.Figure | None", caption: str) -> None:
        if figure:
            paths.append(Path(folder, f"{name}.svg"))
            svg = figures.svg_of(figure)
            write_file(paths[-1], svg)
            body.append(_figure(name, svg, caption))

    add("across_cpus", figures.across_cpus(machines), ACROSS)
    for number, machine in enumerate(machines, 1):
        said = (f"{', '.join(machine.isas)}; {facts(machine)}; {machine.facts['compiler']}, "
                f"{machine.facts['measured_at']}. {machine.not_reliable}")  # fmt: skip
        body.append(f"<h2>{html.escape(machine.cpu)}</h2>\n<p>{html.escape(said.rstrip())}</p>\n")
        body.append('<div class="figures">')
        for name, draw, caption in figures_of(machine):
            add(f"{number}-{name}" if len(machines) > 1 else name, draw(), caption)
        body.append("</div>\n")
        if machine.plain():
            sentence, rows = speeds(columns_of(machine), ("backend", "peer"), by_isa=True)
            body.append("<h3>Gfloat/s of every backend and library</h3>\n")
            body += [f"<p>{html.escape(sentence)}</p>\n", _table(rows)]
    if len(paths) == 1:
        allowed = "documents with times or with reports of errors"
        raise BadInput(f"DOCUMENT has nothing to draw; allowed: {allowed}")
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    write_file(paths[0], template.replace("<!-- of each CPU a section -->\n", "".join(body)))
    return paths
