"""Figures of speed: against error, over the size of the table, over threads, and across CPUs."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from reporting.documents import COPY, Machine, Measurement, Table
from reporting.figures import canvas, style
from reporting.figures.canvas import Axes, Figure, Label
from reporting.units import size_text

QUOTED = "5000 x 512"  # the tutorial's table
LOOPS = {
    "store": "limit: stores",
    "non_temporal_store": "limit: non-temporal stores",
    COPY: "copy of a finished table",
}


def _plain(machine: Machine) -> list[Measurement]:
    """Encoders of float32 by one thread, at their best ISA; the smallest table first."""
    found = (each for each in machine.timed() if each.table.threads == 1)
    plain = (each for each in found if each.table.dtype == "float32")
    return sorted(plain, key=lambda each: (each.table.entries, each.table.d_model, -each.speed))


def _two_tables(machine: Machine) -> dict[Table, list[Measurement]]:
    """Of the tutorial's table (else the smallest) and the largest, those that have an error."""
    found: dict[Table, list[Measurement]] = {}
    for each in _plain(machine):
        if each.error and not math.isnan(each.error.max_abs):
            found.setdefault(each.table, []).append(each)
    tables = list(found)
    first = next((table for table in tables if table.size == QUOTED), tables[0] if tables else None)
    return {table: found[table] for table in tables if table in (first, tables[-1])}


def _draw_point(axes: Axes, measured: Measurement, error: float, in_color: bool) -> Label:
    """The mark of a backend. Those that are not in colour are hollow, and their marks say how their
    phases are rounded."""
    point = [(error, measured.speed)]
    if in_color:
        look = style.backend_style(measured.backend)
        mark = {"marker": look["marker"], "color": look["color"], "zorder": 3}
        canvas.plot_markers(axes, point, {**mark, "label": measured.backend})
        bold = {"color": look["color"], "fontweight": "bold"}
        return measured.backend, error, measured.speed, bold
    marker = style.PHASES.get(measured.phases.partition(",")[0], "X")
    mark = {"marker": marker, "color": style.MUTED, "label": f"_{measured.backend}"}
    mark |= {"markerfacecolor": style.PAPER, "markeredgewidth": 1.2, "markersize": 7, "zorder": 2}
    canvas.plot_markers(axes, point, mark)
    return measured.backend, error, measured.speed, {"color": style.MUTED}


def speed_against_error(machine: Machine) -> Figure | None:
    tables = _two_tables(machine)
    if not tables:
        return None
    most = 1 + max(map(len, tables.values()))
    figure, panels = canvas.panels(len(tables), height=max(4.6, 1.4 + 0.24 * most))
    for axes, (table, measured) in zip(panels, tables.items()):
        errors = [max(each.error.max_abs, canvas.LEAST_ERROR) for each in measured if each.error]
        ours = style.colored(each.backend for each in measured if each.role == "backend")
        # The fastest last, so that no other mark covers it.
        points = reversed(list(zip(measured, errors)))
        labels = [_draw_point(axes, *point, point[0].backend in ours) for point in points]
        limit = machine.limit(table)
        if limit:
            axes.axhline(limit, color=style.INK, linewidth=1.2)
        canvas.half_ulp_line(axes, along="y")
        axes.set(xscale="log", yscale="log", xlabel="largest |error|", ylabel="Gfloat/s")
        axes.set_xlim(1e-8, max(2e-6, 4 * max(errors)))
        speeds = [each.speed for each in measured]
        axes.set_ylim(min(speeds) / 2.6, 2.2 * max([limit, *speeds]))
        canvas.log_axis(axes.xaxis)
        canvas.log_axis(axes.yaxis)
        canvas.label_beside(axes, labels)
        # In the note, since a text at the line would cover the lines to the labels.
        note = "one thread" + (f"; line: limit of the memory, {limit:.3g}" if limit else "")
        canvas.title(axes, table.name, note)
        axes.grid(True)
    return figure


def _name_caches(axes: Axes, machine: Machine, low: float, high: float) -> None:
    """A dotted line at the size of each cache between two sizes in bytes."""
    for level, size in machine.caches.items():
        if low < size < high:
            axes.axvline(size, color=style.MUTED, linewidth=0.9, linestyle=":")
            place = {"xycoords": ("data", "axes fraction"), "ha": "right", "va": "top"}
            canvas.small_text(axes, level, (size, 1), offset=(-3, -3), **place)


def _size_axis(axes: Axes, sizes: Sequence[int]) -> tuple[float, float]:
    """A logarithmic axis of sizes in bytes, with a label at each second power of two. Its ends."""
    axes.set_xscale("log", base=2)
    powers = range(int(math.log2(min(sizes))), int(math.log2(max(sizes))) + 2, 2)
    axes.set_xticks([2.0**power for power in powers], [size_text(2**power) for power in powers])
    axes.minorticks_off()
    ends = min(sizes) / 1.6, max(sizes) * 1.6
    axes.set_xlim(*ends)
    return ends


def throughput_over_size(machine: Machine) -> Figure | None:
    """The library's backends: other libraries would hide them, and stand against their errors."""
    ours = [each for each in _plain(machine) if each.role == "backend"]
    tables = list(dict.fromkeys(each.table for each in ours))
    if not tables:
        return None
    figure, (axes,) = canvas.panels(height=5.0)
    loops = [(table, machine.loops(table)) for table in tables]
    for loop, text in LOOPS.items():
        points = [(table.bytes, speeds[loop]) for table, speeds in loops if loop in speeds]
        if points:
            axes.plot(*zip(*points), **style.LINES[loop], linewidth=1.2, label=text)
    speeds: dict[str, dict[int, list[float]]] = {}
    for each in ours:
        speeds.setdefault(each.backend, {}).setdefault(each.table.bytes, []).append(each.speed)
    curves = {name: [(size, median(all)) for size, all in of_size.items()]
              for name, of_size in speeds.items()}  # fmt: skip
    in_color = style.colored(curves)
    for name in sorted(curves, key=lambda name: -max(speed for _, speed in curves[name])):
        pale = {**style.PALE, "label": f"_{name}"}
        axes.plot(*zip(*curves[name]),
                  **({**style.backend_style(name), "label": name} if name in in_color else pale))
    axes.set(yscale="log", xlabel="size of the table", ylabel="Gfloat/s")
    ends = _size_axis(axes, [table.bytes for table in tables])
    axes.set_ylim(top=1.7 * axes.get_ylim()[1])  # room for the names of the caches
    canvas.log_axis(axes.yaxis)
    _name_caches(axes, machine, *ends)
    axes.grid(axis="y")
    canvas.title(axes, "Throughput by size of the table", "float32, warm memory, one thread")
    canvas.legend_below(axes, 4)
    return figure


def speed_ups(machine: Machine) -> dict[Table, dict[str, dict[int, float]]]:
    """{table: {backend: {threads: speed-up over one thread}}} of the library's backends."""
    ours = [each for each in machine.timed() if each.role == "backend"]
    one = {(each.backend, each.table): each.speed for each in ours if each.table.threads == 1}
    found: dict[Table, dict[str, dict[int, float]]] = {}
    for each in sorted(ours, key=lambda each: (each.table.entries, each.table.threads)):
        alone = replace(each.table, threads=1)
        if each.table.threads > 1 and (each.backend, alone) in one:
            curve = found.setdefault(alone, {}).setdefault(each.backend, {1: 1.0})
            curve[each.table.threads] = each.speed / one[each.backend, alone]
    return found


def thread_scaling(machine: Machine) -> Figure | None:
    """Of the smallest table, one between, and the largest."""
    found = list(speed_ups(machine).items())
    if not found:
        return None
    shown = dict([found[0], found[len(found) // 2], found[-1]])
    figure, panels = canvas.panels(len(shown), height=3.6)
    most = max(max(curve) for backends in shown.values() for curve in backends.values())
    best = max(max(c.values()) for backends in shown.values() for c in backends.values())
    for axes, (table, backends) in zip(panels, shown.items()):
        axes.plot([1, most], [1, most], **style.LINES["ideal"], linewidth=1, label="ideal")
        in_color = style.colored(backends)
        for backend, curve in sorted(backends.items()):
            pale = {**style.PALE, "label": f"_{backend}"}
            look = {**style.backend_style(backend), "label": backend}
            axes.plot(*zip(*sorted(curve.items())), **(look if backend in in_color else pale))
        axes.set(xlabel="threads", ylabel="speed-up", ylim=(0, 1.1 * max(most, best)))
        axes.set_xticks(sorted({threads for curve in backends.values() for threads in curve}))
        axes.grid(axis="y")
        canvas.title(axes, table.size, table.further)
    canvas.legend_below(panels[len(panels) // 2], 3)
    return figure


def across_cpus(machines: Sequence[Machine]) -> Figure | None:
    """Speed of each backend on each machine, for the tutorial's table."""
    found = [[each for each in _plain(m) if each.table.name == QUOTED] for m in machines]
    if not any(found):
        return None
    points: dict[str, list[tuple[float, float]]] = {}
    for place, measured in enumerate(found):
        for each in measured:
            points.setdefault(each.backend, []).append((each.speed, place))
    figure, (axes,) = canvas.panels(height=1.8 + 0.55 * len(machines))
    in_color = style.colored(points)
    for backend in sorted(points, key=lambda backend: -max(points[backend])[0]):
        look = {**style.backend_style(backend), "linestyle": "none", "label": backend}
        pale: style.Look = {"marker": "o", "color": style.PALE_GREY, "zorder": 1}
        pale["label"] = f"_{backend}"
        canvas.plot_markers(axes, points[backend], look if backend in in_color else pale)
    labels = ["\n".join(textwrap.wrap(machine.cpu, 30)) for machine in machines]
    axes.set_yticks(range(len(machines)), labels, fontsize=9)
    axes.set_ylim(len(machines) - 0.5, -0.5)
    axes.set(xscale="log", xlabel="Gfloat/s")
    canvas.log_axis(axes.xaxis)
    axes.grid(True)
    canvas.title(axes, "Across CPUs", f"{QUOTED}, best ISA of each, one thread")
    canvas.legend_below(axes, 5)
    return figure
