"""The page of one machine or of several: figures and tables in one file of HTML."""

import html
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from reporting import figures, summary
from reporting.command import BadInput, write_whole
from reporting.documents import Machine, Measurement
from reporting.text import Rows, percent, size_text

POINTS = (
    "Higher is faster, further left is more accurate. No method that stores plainly gets above "
    "the limit of the memory, and none left of half an ulp of 1 (dotted). Hollow: what is not part "
    "of the library; a diamond has float32 phases, a square double ones."
)
# Of a figure its name, what draws it, and its caption.
Drawn = tuple[str, Callable[[], "figures.Figure | None"], str]


def figures_of(machine: Machine) -> Iterator[Drawn]:
    """Speed against error of the tutorial's table (else the smallest) and of the largest, ..."""
    plain = machine.plain()
    tables = list(dict.fromkeys(each.table for each in plain if each.error))
    first = [table for table in tables if table.size == "5000 x 512"] or tables
    for number, table in enumerate(dict.fromkeys([*first[:1], *tables[-1:]])):
        caption = "The same of the largest table." if number else POINTS
        caption += f" {summary.not_reliable(each for each in plain if each.table == table)}"
        draw = partial(figures.speed_against_error, machine, table)
        yield f"speed_error{number or ''}", draw, caption
    caption = "What each backend gives as tables outgrow the caches (dotted), beside what storing "
    caption += f"or copying as many bytes costs. {summary.not_reliable(machine.plain('backend'))}"
    yield "throughput", partial(figures.throughput, machine), caption
    caption = "Which methods drift as positions grow, and which stay at half an ulp (dotted)."
    yield "error_position", partial(figures.error_by_position, machine), caption
    caption = "In which channels the largest errors are: in a bright band, a method fails."
    yield "error_channel", partial(figures.error_by_channel, machine), caption


def _figure(name: str, svg: str, caption: str) -> str:
    text, data = html.escape(caption.strip()), b64encode(svg.encode()).decode()
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="{text}">'
    return f'<figure id="{name}">{image}<figcaption>{text}</figcaption></figure>\n'


def _table(rows: Rows) -> str:
    """Names at the left, numbers at the right. It scrolls where it is wider than the page."""

    def line(row: Sequence[str], tag: str) -> str:
        cells = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        return f"<tr>{cells}</tr>\n"

    head = line([cell.replace(" x ", "\u00a0x\u00a0") for cell in rows[0]], "th")
    body = "".join(line(row, "td") for row in rows[1:])
    return (
        f'<div class="wide" tabindex="0"><table><thead>{head}</thead>'
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _part(title: str, text: str, table: str) -> str:
    return f"<h3>{title}</h3>\n" + (f"<p>{html.escape(text)}</p>\n" if text else "") + table


def _facts(machine: Machine) -> str:
    facts = machine.facts
    pairs = {
        "instruction sets": ", ".join(machine.isas),
        "caches": ", ".join(f"{level} {size_text(size)}" for level, size in machine.caches.items()),
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
    limit, is_timed = machine.limit(each.table), bool(each.seconds)
    name = each.name + {"peer": "*", "limit": " (memory)"}.get(each.role, "")
    speed = f"{each.speed:.3f}{', disturbed' if each.disturbed else ''}" if is_timed else ""
    share = percent(each.speed / limit) if limit and is_timed else ""
    largest, at_most, rounded = each.error_cells
    largest += f" {each.rows_text}" if each.error and not each.is_whole else ""
    ulp = f"{each.error.max_ulp:.3g}" if each.error else ""
    return [name, speed, share, largest, at_most, ulp, rounded]


def _all_measurements(machine: Machine) -> str:
    """Of each table a list that opens, of which the fastest is the first."""
    header = ["", "10⁹ elements/s", "of limit", "largest |error|", "at most", "largest ulp",
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
    parts += [_facts(machine), f'<div class="figures">{drawn}</div>\n']
    if plain := machine.plain():
        sentence, rows = summary.speeds(summary.columns_of(machine), ("backend", "peer"))
        sentence = f"{sentence} {summary.not_reliable(plain)}".strip()
        parts.append(_part("Gfloat/s of every backend and library", sentence, _table(rows)))
    return "".join([*parts, _part("All measurements", "", _all_measurements(machine))])


def write_page(machines: Sequence[Machine], answer: str, folder: str) -> list[Path]:
    """Writes index.html and the figures; returns their paths, the page's first. The answer is what
    posenc pick prints, or empty."""
    paths, body = [Path(folder, "index.html")], ""
    if answer:
        body += f'<h3>The answer</h3>\n<pre class="wide">{html.escape(answer)}</pre>\n'
    for number, machine in enumerate(machines, 1):
        prefix, parts = f"{number}-" if len(machines) > 1 else "", []
        for name, draw, caption in figures_of(machine):
            if figure := draw():
                svg = figures.svg_of(figure)
                paths.append(Path(folder, f"{prefix}{name}.svg"))
                write_whole(paths[-1], svg)
                parts.append(_figure(f"{prefix}{name}", svg, caption))
        body += _section(machine, "".join(parts))
    if len(paths) == 1:
        allowed = "documents with times or with reports of errors"
        raise BadInput(f"DOCUMENT has nothing to draw; allowed: {allowed}")
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    write_whole(paths[0], template.replace("<!-- of each CPU a section -->\n", body))
    return paths
