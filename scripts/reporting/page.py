"""The page of one machine or of several: figures and tables in one file of HTML."""

import html
from base64 import b64encode
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from reporting import figures, summary
from reporting.command import BadInput, write_whole
from reporting.documents import Machine, Measurement, Table
from reporting.summary import ANSWER_LEFT
from reporting.text import Rows, error_text, percent, size_text

TITLE = "Sinusoidal positional encodings: speed and error"
INTRODUCTION = (
    "Times are medians over processes of posenc measure, in Gfloat/s (10⁹ float32 values a "
    "second) of one thread and into warm memory unless a table says otherwise. Errors are against "
    "exact values: the largest that was found, or “at most” what is proven. * is not "
    "part of the library, and cannot be picked. Figures and tables show the best instruction set "
    "of each backend; “All measurements” has the others."
)
POINTS = (
    "Higher is faster, further left is more accurate. No method that stores plainly gets above "
    "the limit of the memory, and none left of half an ulp of 1 (dotted). Hollow: what is not part "
    "of the library; a diamond has float32 phases, a square double ones."
)


class Drawn(NamedTuple):
    """A figure, what its caption says, and the times that it shows."""

    id: str
    draw: Callable[[], "figures.Figure | None"]
    caption: str
    timed: Sequence[Measurement] = ()


def figures_of(machine: Machine) -> list[Drawn]:
    plain = machine.plain()
    found = []
    for number, table in enumerate(_two_tables(machine)):
        draw = partial(figures.speed_against_error, machine, table)
        of_table = [each for each in plain if each.table == table]
        caption = "The same of the largest table." if number else POINTS
        found.append(Drawn(f"speed_error{number or ''}", draw, caption, of_table))
    ours = [each for each in plain if each.role == "backend"]
    return found + [
        Drawn("throughput", partial(figures.throughput, machine),
              "What each backend gives as tables outgrow the caches (dotted), beside what storing "
              "or copying as many bytes costs.", ours),
        Drawn("error_position", partial(figures.error_by_position, machine),
              "Which methods drift as positions grow, and which stay at half an ulp (dotted)."),
        Drawn("error_channel", partial(figures.error_by_channel, machine),
              "In which channels the largest errors are: a bright band is a channel where a method "
              "fails."),
    ]  # fmt: skip


def _two_tables(machine: Machine) -> list[Table]:
    """The tutorial's table (else the smallest), and the largest."""
    tables = figures.tables_of_errors(machine)
    first = [table for table in tables if table.size == "5000 x 512"] or tables
    return list(dict.fromkeys([*first[:1], *tables[-1:]]))


def _figure(drawn: Drawn, svg: str) -> str:
    caption = f"{drawn.caption} {summary.not_reliable(drawn.timed)}".rstrip()
    text = html.escape(caption)
    source = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
    return (
        f'<figure id="{drawn.id}"><img src="{source}" alt="{text}">'
        f"<figcaption>{text}</figcaption></figure>\n"
    )


def _table(rows: Rows, left: Collection[int] = (0,)) -> str:
    """Numbers at the right, and the columns in `left` at the left. It scrolls where it is wider
    than the page."""

    def line(row: Sequence[str], tag: str) -> str:
        cells = (f'<{tag}{"" if column in left else " class=number"}>{html.escape(cell)}</{tag}>'
                 for column, cell in enumerate(row))  # fmt: skip
        return f"<tr>{''.join(cells)}</tr>\n"

    head = line([cell.replace(" x ", "\u00a0x\u00a0") for cell in rows[0]], "th")
    body = "".join(line(row, "td") for row in rows[1:])
    return (
        f'<div class="wide" tabindex="0"><table><thead>{head}</thead>'
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>\n" if text else ""


def _facts(machine: Machine) -> str:
    facts = machine.facts
    caches = (f"{level} {size_text(size)}" for level, size in machine.caches.items())
    pairs = {
        "instruction sets": ", ".join(machine.isas),
        "caches": ", ".join(caches),
        "logical cores": facts["logical_cores"],
        "compiler": facts["compiler"],
        "posenc": f"{facts['library_version']} (kernels {facts['kernels']})",
        "measured": facts["measured_at"],
        "documents": ", ".join(machine.files),
        "not reliable": "; ".join(f"{file}: {why}" for file, why in machine.disturbed.items()),
    }
    items = (f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>"
             for name, value in pairs.items() if value)  # fmt: skip
    return f"<dl>{''.join(items)}</dl>\n"


def _row_of(machine: Machine, each: Measurement) -> list[str]:
    limit = machine.limit(each.table)
    name = {"peer": f"{each.name}*", "limit": f"{each.name} (memory)"}.get(each.role, each.name)
    speed = f"{each.speed:.3f}{', disturbed' if each.disturbed else ''}" if each.seconds else ""
    row = [name, speed, percent(each.speed / limit) if limit and each.seconds else ""]
    if each.error is None:
        return [*row, "", "", "", ""]
    largest = each.largest_text + ("" if each.is_whole else f" {each.rows_text}")
    at_most = error_text(each.bound) if each.bound == each.bound else ""
    return [*row, largest, at_most, f"{each.error.max_ulp:.3g}", each.rounded_text]


def _all_measurements(machine: Machine) -> str:
    """Of each table a list that opens, of which the fastest is the first."""
    header = ["", "10⁹ elements/s", "of limit", "largest |error|", "at most, proven", "largest ulp",
              "correctly rounded"]  # fmt: skip
    parts = []
    for table in sorted({each.table for each in machine.measurements}, key=summary.order_of):
        found = [each for each in machine.measurements if each.table == table]
        rows = [_row_of(machine, each) for each in sorted(found, key=lambda each: -each.speed)]
        title = f"<summary>{html.escape(table.name)}: {len(rows)} rows</summary>"
        parts.append(f"<details>{title}{_table([header, *rows])}</details>\n")
    return "".join(parts)


def _section(machine: Machine, drawn: str) -> str:
    parts = [f"<h2>{html.escape(machine.cpu)}</h2>\n"]
    if machine.verdicts:
        sentence, rows = summary.answer(machine)
        parts += ["<h3>The answer</h3>\n", _paragraph(sentence), _table(rows, ANSWER_LEFT)]
    parts += [_facts(machine), f'<div class="figures">{drawn}</div>\n']
    if plain := machine.plain():
        sentence, rows = summary.by_backend(machine)
        sentence = f"{sentence} {summary.not_reliable(plain)}".strip()
        title = "<h3>Gfloat/s of every backend and library</h3>\n"
        parts += [title, _paragraph(sentence), _table(rows, left=(0, 1))]
    types = summary.by_type(machine)
    if len(types) > 1:
        others = machine.timed(lambda each: each.table.dtype != "float32")
        title = "<h3>Other element types, in 10⁹ elements/s</h3>\n"
        parts += [title, _paragraph(summary.not_reliable(others)), _table(types)]
    return "".join([*parts, "<h3>All measurements</h3>\n", _all_measurements(machine)])


def write_page(machines: Sequence[Machine], folder: str) -> list[Path]:
    """Writes index.html and the figures; returns their paths, the page's first."""
    paths, sections = [Path(folder, "index.html")], []
    for number, machine in enumerate(machines, 1):
        parts = []
        for each in figures_of(machine):
            if (figure := each.draw()) is None:
                continue
            svg = figures.svg_of(figure)
            prefix = f"{number}-" if len(machines) > 1 else ""
            paths.append(Path(folder, f"{prefix}{each.id}.svg"))
            write_whole(paths[-1], svg)
            parts.append(_figure(each._replace(id=prefix + each.id), svg))
        sections.append(_section(machine, "".join(parts)))
    if len(paths) == 1:
        allowed = "documents with times or with reports of errors"
        raise BadInput(f"DOCUMENT has nothing to draw; allowed: {allowed}")
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    write_whole(paths[0], f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{TITLE}</title>
<style>
{style}</style>
</head>
<body>
<h1>{TITLE}</h1>
{_paragraph(INTRODUCTION)}{"".join(sections)}</body>
</html>
""")
    return paths
