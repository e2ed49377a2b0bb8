"""The report of one machine or of several: figures as files, and a page with everything in it."""

import math
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

from reporting import page
from reporting.documents import Machine, Measurement
from reporting.failures import BadInput
from reporting.figures import bars, canvas, error, speed
from reporting.files import write_whole
from reporting.peers import WORDS
from reporting.summary import is_float32_of_one_thread
from reporting.tables import Cell
from reporting.units import error_text, percent, share_text, size_text, speed_text

TITLE = "Sinusoidal positional encodings: speed and error"
INTRODUCTION = (
    "Times are medians over processes of posenc measure, of one thread and into warm memory unless "
    "a table says otherwise. Errors are against exact values. posenc pick decides from the same "
    "documents which backend is the fastest."
)
HEADER = (
    "table", "backend", "phases", "Gelements/s", "of limit", "max |error|", "max ulp",
    "correctly rounded",
)  # fmt: skip
LEFT = (0, 1, 2)
DEFAULT = "rotation"

Draw = Callable[[], "canvas.Figure | None"]


class MachineFigure(NamedTuple):
    """A figure of one machine. Drawing it gives None if the measurements for it are missing."""

    id: str
    heading: str
    draw: Callable[[Machine], canvas.Figure | None]
    caption: str


FIGURES = (
    MachineFigure(
        "speed_error", "Speed against error", speed.speed_against_error,
        "The plot that decides: higher is faster, further left is more accurate. No method that "
        "stores plainly gets above the limit of the memory, and none left of half an ulp of 1 "
        "(dotted). Hollow: what is not part of the library; a diamond has float32 phases, a square "
        "double ones."),
    MachineFigure(
        "throughput", "Throughput", speed.throughput_over_size,
        "What each backend gives as tables outgrow the caches (dotted), beside what storing or "
        "copying as many bytes costs."),
    MachineFigure(
        "element_types", "Element types", bars.element_types,
        "What narrower and wider elements cost. Entries are rounded once, from exact phases."),
    MachineFigure(
        "fresh_memory", "Fresh memory", bars.fresh_memory,
        "What it costs that the system gives memory only when it is first written: new pages of "
        "4 KiB; a std::vector, which also fills itself with zeros; and posenc's Matrix, which asks "
        "for huge pages. Giving the memory back is included."),
    MachineFigure(
        "error_position", "Error by position", error.error_along_position,
        "Which methods drift as positions grow, and which stay at half an ulp (dotted)."),
    MachineFigure(
        "error_channel", "Error by channel", error.error_by_channel,
        "In which channels the largest errors are: a bright band is a channel where a method "
        "fails."),
    MachineFigure(
        "threads", "Threads", speed.thread_scaling,
        "What more threads gain over one thread; beyond the caches the memory is the limit."),
)  # fmt: skip


def _draw(folder: str, id: str, draw: Draw, caption: str) -> tuple[str, list[str]]:
    """The drawing as a part of the page, and the paths of its files; empty if there is none."""
    drawn = draw()
    if drawn is None:
        return "", []
    part = page.figure(id, canvas.svg_text(drawn, transparent=True), caption)
    drawn.set_layout_engine("none")  # keeps what the constrained layout found
    paths = canvas.save(drawn, folder, id, ("svg", "png"))
    canvas.pyplot().close(drawn)
    return part, paths


def _facts(machine: Machine) -> str:
    facts = machine.facts
    caches = [f"{level} {size_text(size)}" for level, size in machine.caches.items()]
    return page.facts({
        "CPU": machine.cpu,
        "instruction sets": ", ".join(machine.isas),
        "caches": ", ".join(caches),
        "logical cores": facts["logical_cores"],
        "compiler": facts["compiler"],
        "posenc": f"{facts['library_version']} (kernels {facts['kernels']})",
        "measured": facts["measured_at"],
        "not reliable": facts["disturbed"],
        "documents": ", ".join(map(os.path.basename, machine.files)),
    })  # fmt: skip


def _headline(machine: Machine) -> str:
    """What the default backend reaches on the table of the first figure."""
    plain = machine.timed(lambda each: each.backend == DEFAULT and each.error is not None
                          and is_float32_of_one_thread(each))  # fmt: skip
    found = min(plain, key=lambda each: (each.table.size != speed.QUOTED, each.table.entries),
                default=None)  # fmt: skip
    if found is None or found.error is None:
        return ""
    limit = machine.limit(found.table)
    share = f", {percent(found.speed / limit, 0)} of what the memory allows" if limit else ""
    rounded = share_text(found.error.correctly_rounded)
    return page.headline(
        f"{DEFAULT}, the default, with {found.isa}: {speed_text(found.speed)} Gfloat/s on "
        f"{found.table.size}{share}; correctly rounded: {rounded}."
    )


def _who_is_who(machine: Machine) -> str:
    """Each encoder in a few words, with the error on the table that reaches furthest."""
    furthest: dict[str, Measurement] = {}
    for each in machine.measurements:
        other = furthest.get(each.backend)
        if each.role != "limit" and each.error and (
            other is None or each.table.last < 10**9 and other.table.last < each.table.last
        ):
            furthest[each.backend] = each
    rows: list[list[Cell]] = []
    for name, each in sorted(furthest.items(), key=lambda pair: pair[1].role):
        mark = "*" if each.role == "peer" else ""
        largest = error_text(each.error.max_abs) if each.error else ""
        rows.append([name + mark, WORDS.get(name, ""), each.phases, largest, each.table.name])
    caption = (
        "Phases: how position times frequency is rounded before the sine, which decides the error. "
        "* is not part of the library."
    )
    header = ("backend", "what it is", "phases", "max |error|", "over")
    return page.table(caption, header, rows, (0, 1, 2, 4)) if rows else ""


def _row_of(machine: Machine, each: Measurement) -> list[Cell]:
    """See HEADER."""
    limit, found = machine.limit(each.table), each.error
    name = {"peer": f"{each.name}*", "limit": f"{each.name} (memory)"}.get(each.role, each.name)
    row = [each.table.name, name, each.phases, f"{each.speed:.3f}" if each.seconds else ""]
    row.append(percent(each.speed / limit) if limit and each.seconds else "")
    if found is None:
        return [*row, "", "", ""]
    if math.isnan(found.max_abs):
        return [*row, "not a number", "", share_text(found.correctly_rounded)]
    ulp = f"{found.max_ulp:.3g}"
    return [*row, error_text(found.max_abs), ulp, share_text(found.correctly_rounded)]


def _table_of(machine: Machine) -> str:
    """The smallest table first, and of each the fastest."""

    def order(each: Measurement) -> tuple[int, str, float]:
        return each.table.entries, each.table.name, -each.speed

    rows = [_row_of(machine, each) for each in sorted(machine.measurements, key=order)]
    caption = "Every measurement. * is not part of the library, and cannot be picked."
    return page.table(caption, HEADER, rows, LEFT)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "machine"


def write_report(machines: Sequence[Machine], folder: str) -> list[str]:
    """Writes index.html and the figures, several at once; returns their paths, the page's first."""
    jobs: dict[str, tuple[Draw, str]] = {}  # what draws a figure and its caption, by its id
    prefixes = [f"m{number}-{_slug(each.cpu)}-" for number, each in enumerate(machines, 1)]
    if len(machines) == 1:
        prefixes = [""]
    else:
        caption = "The same table on every machine: how far apart the methods are on each."
        jobs["across_cpus"] = (partial(speed.across_cpus, machines), caption)
    for machine, prefix in zip(machines, prefixes):
        for each in FIGURES:
            jobs[prefix + each.id] = (partial(each.draw, machine), each.caption)
    with ProcessPoolExecutor() as processes:
        started = {id: processes.submit(_draw, folder, id, *job) for id, job in jobs.items()}
        drawn = {id: each.result() for id, each in started.items()}
    paths = [path for _, of_figure in drawn.values() for path in of_figure]
    if not paths:
        allowed = "documents with times or with reports of errors"
        raise BadInput(f"DOCUMENT has nothing to draw; allowed: {allowed}")
    parts = {id: part for id, (part, _) in drawn.items() if part}
    links = {id: "Across CPUs" for id in parts if id == "across_cpus"}
    body = page.section("across", "Across CPUs", parts["across_cpus"]) if links else ""
    for machine, prefix in zip(machines, prefixes):
        table, anchor = prefix + "measurements", prefix + "machine"
        figures = "".join(parts.get(prefix + each.id, "") for each in FIGURES)
        heading = f'<h3 id="{table}">All measurements</h3>\n'
        who = f'<h3 id="{prefix}who">Who is compared</h3>\n{_who_is_who(machine)}'
        content = _headline(machine) + _facts(machine) + figures + who
        content += heading + _table_of(machine)
        body += page.section(anchor, machine.cpu, content)
        of_machine = {each.id: each.heading for each in FIGURES if each.id in parts}
        one = {**of_machine, f"{prefix}who": "Who is compared", table: "All measurements"}
        links |= one if len(machines) == 1 else {anchor: machine.cpu}
    index = os.path.join(folder, "index.html")
    write_whole(index, page.page(TITLE, INTRODUCTION, links, body))
    return [index, *paths]
