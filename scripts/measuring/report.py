"""The report of one machine or of several: figures as files, and a page with everything in it."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
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


Draw = Callable[[bool], "canvas.Figure | None"]  # from whether it is narrow


class Drawing(NamedTuple):
    """A figure that was drawn, for the page, and the paths of its files. Empty if the results for
    it are missing."""

    id: str
    content: str = ""
    paths: Sequence[str] = ()


def _draw(folder: str, id: str, draw: Draw, caption: str) -> Drawing:
    """Files of the wide drawing; the wide and the narrow one as a part of the page."""
    drawings, paths = {}, []
    for kind in ("wide", "narrow"):
        drawn = draw(kind == "narrow")
        if drawn is None:
            return Drawing(id)
        drawings[kind] = canvas.svg_text(drawn)
        if kind == "wide":
            paths = canvas.save(drawn, os.path.join(folder, id), ("svg", "png"))
        canvas.pyplot().close(drawn)
    return Drawing(id, page.figure(id, drawings, caption), paths)


class Report:
    """Draws figures into a folder, several at once, and keeps their ids and paths."""

    def __init__(self, folder: str, processes: Executor) -> None:
        self.folder, self.processes = folder, processes
        self.figures: list[str] = []
        self.paths: list[str] = []

    def draw(self, wanted: Iterable[tuple[str, Draw, str]]) -> str:
        """The figures of these ids and captions, one after another."""
        started = [self.processes.submit(_draw, self.folder, *each) for each in wanted]
        drawn = [each.result() for each in started]
        self.figures += [each.id for each in drawn if each.content]
        self.paths += [path for each in drawn for path in each.paths]
        return "".join(each.content for each in drawn)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "machine"


def _machine_content(report: Report, machine: Machine, prefix: str) -> str:
    wanted = [(prefix + each.id, partial(each.draw, machine), each.caption) for each in FIGURES]
    return (
        sections.facts(machine)
        + sections.picks(machine)
        + report.draw(wanted)
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
    content = []
    with ProcessPoolExecutor() as processes:
        report = Report(folder, processes)
        if len(machines) > 1:
            caption = "The same shape on every machine: how far apart the methods are on each."
            drawn = report.draw([("across_cpus", partial(speed.across_cpus, machines), caption)])
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
