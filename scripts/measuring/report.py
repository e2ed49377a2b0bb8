"""The report of one machine or of several: figures as files, and a page with everything in it."""

import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from measuring import page, sections
from measuring.errors import BadInput
from measuring.figures import canvas, errors, speed, time
from measuring.files import write_whole
from measuring.page import Section
from measuring.results.machines import Machine

TITLE = "Sinusoidal positional encodings: speed and error"


class MachineFigure(NamedTuple):
    """A figure of one machine. Drawing it gives None if the results for it are missing."""

    id: str
    heading: str
    draw: Callable[[Machine, bool], canvas.Figure | None]
    caption: str


FIGURES = (
    MachineFigure(
        "speed_error", "Speed against error", speed.speed_against_error,
        "The plot that decides: higher is faster, further left is more accurate, no method gets "
        "above the limit of the memory, and none left of half an ulp of 1 (dotted). Hollow: what "
        "is not part of the library."),
    MachineFigure(
        "throughput", "Throughput", speed.throughput_over_size,
        "What each method gives as tables outgrow the caches (dotted), beside what storing or "
        "copying as many bytes costs."),
    MachineFigure(
        "error_position", "Error by position", errors.error_along_position,
        "Which methods drift as positions grow, and which stay at half an ulp (dotted)."),
    MachineFigure(
        "error_channel", "Error by channel", errors.error_by_channel,
        "In which channels the largest errors are: a bright band is a channel where a method "
        "fails."),
    MachineFigure(
        "error_quantiles", "Error quantiles", errors.error_quantiles,
        "Whether the largest error is typical or a rare entry: the share of entries that have at "
        "most that error."),
    MachineFigure(
        "latency", "Latency", time.latency,
        "What one row costs in decoding, and what planning costs before the first."),
    MachineFigure(
        "threads", "Threads", time.thread_scaling,
        "What more threads gain over one thread; beyond the caches the memory is the limit."),
)  # fmt: skip


class Report:
    """Writes figures to a folder and keeps their ids and paths."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.figures: list[str] = []
        self.paths: list[str] = []

    def figure(self, id: str, draw: Callable[[bool], canvas.Figure | None], caption: str) -> str:
        """Files of the wide drawing; the wide and the narrow one as a part of the page. Empty if
        the results for it are missing."""
        drawings = {}
        for kind in ("wide", "narrow"):
            drawn = draw(kind == "narrow")
            if drawn is None:
                return ""
            drawings[kind] = canvas.svg_text(drawn)
            if kind == "wide":
                self.paths += canvas.save(drawn, os.path.join(self.folder, id), ("svg", "png"))
            canvas.pyplot().close(drawn)
        self.figures.append(id)
        return page.figure(id, drawings, caption)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "machine"


def _machine_content(report: Report, machine: Machine, prefix: str) -> str:
    def drawn(each: MachineFigure) -> str:
        return report.figure(prefix + each.id, partial(each.draw, machine), each.caption)

    return (
        sections.facts(machine)
        + sections.picks(machine)
        + "".join(map(drawn, FIGURES))
        + sections.speeds(machine)
        + sections.against_torch(machine)
    )


def _links(report: Report, machines: Sequence[Machine], content: list[Section]) -> dict[str, str]:
    """Texts of the page's contents, by id."""
    if len(machines) > 1:
        return {section.id: section.heading for section in content}
    links = {"pick": "The pick"} if machines[0].picks else {}
    links |= {each.id: each.heading for each in FIGURES if each.id in report.figures}
    return {**links, "speeds": "All speeds and errors"}


def write_report(machines: Sequence[Machine], folder: str) -> list[str]:
    """Writes index.html and the figures; returns their paths, the page's first."""
    report = Report(folder)
    content = []
    if len(machines) > 1:
        caption = "The same shape on every machine: how far apart the methods are on each."
        drawn = report.figure("across_cpus", partial(speed.across_cpus, machines), caption)
        content += [Section("across", "Across CPUs", drawn)] if drawn else []
    for number, machine in enumerate(machines, 1):
        prefix = "" if len(machines) == 1 else f"m{number}-{_slug(machine.cpu)}-"
        text = _machine_content(report, machine, prefix)
        content.append(Section(f"machine-{number}", machine.cpu, text))
    if not report.paths:
        allowed = "results of bench_encode or of posenc accuracy among them"
        raise BadInput(f"RESULTS have no figure in them; allowed: {allowed}")
    index = os.path.join(folder, "index.html")
    introduction = sections.introduction(machines)
    write_whole(index, page.page(TITLE, introduction, _links(report, machines, content), content))
    return [index, *report.paths]
