"""Everything that is drawn, with matplotlib: one panel a figure, narrow enough for a phone. A
backend looks the same in every figure, and none needs its colour to be told apart."""

import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from reporting.command import need_modules

need_modules("matplotlib", "numpy")
import matplotlib
import numpy
from matplotlib import pyplot, ticker

from reporting.documents import COPY, Machine, Measurement, Table
from reporting.tables import of_which_rows, size_text

Axes = Any  # matplotlib before 3.8 has no types
Figure = Any
Look = dict[str, Any]  # keyword arguments of matplotlib's Axes.plot

WIDTH, HEIGHT = 5.6, 4.2  # inches
HALF_ULP = 2.0**-25  # of 1, the largest value: no float32 table can promise less
LEAST_ERROR = 1e-9  # an error of 0 has no place on a logarithmic axis

INK, MUTED = "#1c2733", "#5b6875"
# Dark and light alternate; no two share a dash pattern or a marker.
BACKENDS: dict[str, Look] = {
    "rotation": {"color": "#0f4c81", "linestyle": "-", "marker": "o"},
    "rotation32": {"color": "#e07b00", "linestyle": (0, (6, 2)), "marker": "s"},
    "xsimd": {"color": "#2a9d8f", "linestyle": (0, (2, 2)), "marker": "^"},
    "naive": {"color": "#7b838c", "linestyle": (0, (8, 2, 2, 2)), "marker": "D"},
    "div_term": {"color": "#b0175b", "linestyle": (0, (4, 1, 1, 1, 1, 1)), "marker": "v"},
}
# Of the first backends that a user has added; the others are pale.
ADDED: tuple[Look, ...] = (
    {"color": "#5e3c99", "linestyle": (0, (5, 1, 1, 1)), "marker": "P"},
    {"color": "#d9a400", "linestyle": (0, (1, 1)), "marker": "X"},
    {"color": "#3d7a2a", "linestyle": (0, (9, 3)), "marker": "p"},
)
PALE: Look = {"color": "#a9b1b9", "linestyle": "-", "linewidth": 0.9, "zorder": 1}
LOOPS: dict[str, Look] = {
    "store": {"color": INK, "linewidth": 1.2, "label": "limit: stores"},
    "non_temporal_store": {"color": MUTED, "linewidth": 1.2, "label": "limit: non-temporal stores"},
    COPY: {"color": MUTED, "linewidth": 1.2, "linestyle": "--", "label": "copy of a table"},
}
PHASES = {"exact": "o", "double": "s", "float32": "D"}  # marks of other libraries
REFERENCE: Look = {"color": MUTED, "linewidth": 0.9, "linestyle": ":", "zorder": 0}
matplotlib.use("Agg")
pyplot.rcParams.update({
    "font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK,
    "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.edgecolor": MUTED, "axes.axisbelow": True, "axes.spines.top": False,
    "axes.spines.right": False, "xtick.color": MUTED, "ytick.color": MUTED,
    "xtick.labelsize": 9, "ytick.labelsize": 9, "grid.color": "#d9dee3", "legend.frameon": False,
    "legend.fontsize": 9, "lines.linewidth": 1.9, "lines.markersize": 5,
    "svg.hashsalt": "posenc",  # the same picture has the same bytes
})  # fmt: skip


def panel(title: str, note: str, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """A title at the left, and below it a smaller line that says what was drawn."""
    figure, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
    axes.set_title(title, pad=24)
    axes.annotate(note, (0, 1), xycoords="axes fraction", xytext=(0, 9), fontsize=9, color=MUTED,
                  textcoords="offset points")  # fmt: skip
    return figure, axes


def looks_of(measured: Iterable[Measurement]) -> dict[str, Look]:
    """Of those that are shown in colour, the library's backends, the look by name."""
    ours = dict.fromkeys(each.backend for each in measured if each.role == "backend")
    looks = {**BACKENDS, **dict(zip(sorted(ours.keys() - BACKENDS), ADDED))}
    return {name: {**look, "label": name} for name, look in looks.items() if name in ours}


def log_axis(axis: Any) -> None:
    """Labels of a logarithmic axis at powers of ten, and at 2 and 5 between them if there are few.
    Call it when everything is drawn."""
    low, high = sorted(axis.get_view_interval())
    between = (1.0, 2.0, 5.0) if high / low < 300 else (1.0,)
    axis.set_major_locator(ticker.LogLocator(subs=between))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def legend_below(axes: Axes) -> None:
    """The figure grows by its lines, so that the axes keep their size."""
    figure, lines = axes.figure, math.ceil(len(axes.get_legend_handles_labels()[0]) / 3)
    figure.set_figheight(figure.get_figheight() + 0.19 * lines)
    axes.legend(bbox_to_anchor=(0.5, -0.16), loc="upper center", ncol=3, columnspacing=1.2,
                handlelength=2.8)  # fmt: skip


def label_beside(axes: Axes, points: Sequence[tuple[str, float, float, Look]]) -> None:
    """Names in a column right of the axes, in the order of their points and evenly apart, each with
    a line to its point: no text covers another, however close the points are."""
    low, high = (math.log10(edge) for edge in axes.get_ylim())
    points = sorted(points, key=lambda point: point[2])
    leader: Look = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.5, "relpos": (0, 0.5)}
    for place, (text, x, y, look) in enumerate(points):
        at = 10 ** (low + (high - low) * (place + 0.5) / len(points))
        axes.annotate(
            text, (x, y), xytext=(1.03, at), textcoords=("axes fraction", "data"), va="center",
            fontsize=9, color=look["color"], fontweight="bold" if "label" in look else "normal",
            arrowprops={**leader, "shrinkA": 1, "shrinkB": 5},
        )  # fmt: skip


def speed_against_error(machine: Machine, table: Table) -> Figure:
    """The encoders of one table. Other libraries are hollow, and their marks say how their phases
    are rounded."""
    measured = [each for each in machine.plain() if each.table == table and each.max_abs >= 0]
    limit, looks = machine.limit(table), looks_of(measured)
    note = "one thread" + (f"; line: limit of the memory, {limit:.3g}" if limit else "")
    figure, axes = panel(table.name, note, max(HEIGHT, 1.2 + 0.24 * len(measured)))
    points: list[tuple[str, float, float, Look]] = []
    for each in sorted(measured, key=lambda each: each.speed):  # no mark covers the fastest
        mark: Look = {"marker": PHASES.get(each.phases.partition(",")[0], "X"), "color": MUTED}
        mark |= {"markerfacecolor": "white", "markersize": 7}
        if look := looks.get(each.backend):
            mark = {**look, "markersize": 9, "zorder": 3}
        points.append((each.backend, max(each.max_abs, LEAST_ERROR), each.speed, mark))
        axes.plot([points[-1][1]], [each.speed], **{**mark, "linestyle": "none"})
    if limit:
        axes.axhline(limit, color=INK, linewidth=1.2)
    axes.axvline(HALF_ULP, **REFERENCE)
    speeds = [each.speed for each in measured]
    of_rows = " or ".join(sorted({of_which_rows(each) for each in measured}))
    axes.set(xscale="log", yscale="log", xlabel=f"largest |error| {of_rows}", ylabel="Gfloat/s",
             xlim=(1e-8, max(2e-6, 4 * max(error for _, error, _, _ in points))),
             ylim=(min(speeds) / 2.6, 2.2 * max([limit, *speeds])))  # fmt: skip
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    label_beside(axes, points)
    axes.grid(True)
    return figure


def throughput(machine: Machine) -> Figure | None:
    """The library's backends: other libraries would hide them, and stand against their errors. Of
    tables of one size, the fastest."""
    ours = machine.plain("backend")
    if not ours:
        return None
    figure, axes = panel("Throughput by size of the table", "float32, warm memory, one thread")
    series: dict[str, dict[int, float]] = {}
    for each in ours:
        series.setdefault(each.backend, {}).setdefault(each.table.bytes, each.speed)
        for name, speed in machine.loops(each.table).items():
            series.setdefault(name, {})[each.table.bytes] = speed
    looks = {**LOOPS, **looks_of(ours)}
    for name, speeds in series.items():
        axes.plot(*zip(*speeds.items()), **looks.get(name, PALE))
    sizes = [each.table.bytes for each in ours]
    axes.set(xscale="log", yscale="log", xlabel="size of the table", ylabel="Gfloat/s")
    powers = range(int(math.log2(min(sizes))), int(math.log2(max(sizes))) + 2, 4)
    axes.set_xticks([2.0**power for power in powers], [size_text(2**power) for power in powers])
    axes.minorticks_off()
    # Above, there is room for the names of the caches.
    axes.set(xlim=(min(sizes) / 1.6, max(sizes) * 1.6), ylim=(None, 1.7 * axes.get_ylim()[1]))
    log_axis(axes.yaxis)
    for level, size in machine.caches.items():
        if min(sizes) < size < max(sizes):
            axes.axvline(size, **REFERENCE)
            axes.annotate(f"{level} ", (size, 0.98), xycoords=("data", "axes fraction"), ha="right",
                          va="top", fontsize=9, color=MUTED)  # fmt: skip
    axes.grid(axis="y")
    legend_below(axes)
    return figure


def across_cpus(machines: Sequence[Machine], backend: str = "rotation") -> Figure | None:
    """One backend at the best ISA of each CPU, on the float32 tables that all of them have. A line
    joins tables of neighbouring sizes."""
    speeds = [{each.table: each.speed for each in machine.plain("backend")
               if each.backend == backend} for machine in machines]  # fmt: skip
    common = [table for table in speeds[0] if all(table in each for each in speeds)]
    if len(machines) < 2 or not common:
        return None
    figure, axes = panel(f"{backend} on several CPUs", "float32, warm memory, one thread")
    looks = [*BACKENDS.values(), *ADDED]
    for place, (machine, of_table) in enumerate(zip(machines, speeds)):
        fastest: dict[int, float] = {}  # of tables of one size
        for table in common:
            fastest[table.bytes] = max(fastest.get(table.bytes, 0), of_table[table])
        label = f"{machine.design or machine.cpu}, {machine.isas[-1]}"
        look = {**looks[place % len(looks)], "label": label}
        axes.plot(*zip(*sorted(fastest.items())), **look)
    sizes = [table.bytes for table in common]
    axes.set(xscale="log", yscale="log", xlabel="size of the table", ylabel="Gfloat/s")
    powers = range(int(math.log2(min(sizes))), int(math.log2(max(sizes))) + 2, 4)
    axes.set_xticks([2.0**power for power in powers], [size_text(2**power) for power in powers])
    axes.minorticks_off()
    log_axis(axes.yaxis)
    axes.grid(axis="y")
    legend_below(axes)
    return figure


def error_by_position(machine: Machine) -> Figure | None:
    """The largest error of each backend in each octave, over every table with a report: one of a
    few rows far away adds its octave. Position 0 is exact in every backend, and has no place on a
    logarithmic axis."""
    found = machine.best_isas(lambda each: each.error and each.error.by_position)
    octaves: dict[str, dict[int, float]] = {}
    for each in found:
        errors = octaves.setdefault(each.backend, {})
        for last, error in each.error.by_position if each.error else ():
            errors[last] = max(errors.get(last, LEAST_ERROR), error)
    if not any(len(errors) > 1 for errors in octaves.values()):
        return None
    looks, sizes = looks_of(found), dict.fromkeys(str(each.table.d_model) for each in found)
    figure, axes = panel("Error along the positions", f"d_model {', '.join(sizes)}; best ISAs")
    for place, (name, errors) in enumerate(octaves.items()):
        look = PALE
        if name in looks:
            # Markers that coincide would hide each other; so would the default backend's line.
            look = {**looks[name], "markevery": (place % 3, 3)}
            look |= {"linewidth": 4.5, "alpha": 0.55, "zorder": 1} if name == "rotation" else {}
        axes.plot(*zip(*sorted(point for point in errors.items() if point[0] > 0)), **look)
    if len(octaves) > len(looks):
        axes.plot([], [], **PALE, label="other libraries")
    axes.axhline(HALF_ULP, **REFERENCE, label="half an ulp of 1")
    axes.set(xscale="log", yscale="log", xlabel="position", ylabel="largest |error| of the octave")
    log_axis(axes.xaxis)
    axes.grid(True)
    legend_below(axes)
    return figure


def error_by_channel(machine: Machine) -> Figure | None:
    """Of the table that reaches furthest, of those from position 0 if there are some; the least
    accurate backend first."""
    found = machine.best_isas(lambda each: each.error and each.error.by_channel)
    if not found:
        return None
    table = max((each.table for each in found), key=lambda table: (table.first == 0, table.reach))
    found = sorted((each for each in found if each.table == table), key=lambda each: -each.max_abs)
    note = f"{found[0].table.name}, best ISAs"
    figure, axes = panel("Error by channel", note, 1.6 + 0.22 * max(8, len(found)))
    errors = [each.error.by_channel for each in found if each.error]
    powers = numpy.log10(numpy.maximum(errors, LEAST_ERROR))
    axes.spines[:].set_visible(False)
    # Lightness rises with the values: the picture says the same in greyscale. "none" keeps the
    # pixels of the array: a small picture, which the viewer scales.
    image = axes.imshow(powers, cmap="cividis", aspect="auto", interpolation="none")
    bar = figure.colorbar(image, ax=axes, label="largest |error|", pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    ticks = list(range(math.ceil(powers.min()), math.floor(powers.max()) + 1))
    bar.set_ticks(ticks, labels=[f"$10^{{{power}}}$" for power in ticks])
    axes.set_yticks(range(len(found)), [each.backend for each in found])
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="channel")
    for boundary in range(1, len(found)):
        axes.axhline(boundary - 0.5, color="white", linewidth=2)
    return figure


def svg_of(figure: Figure) -> str:
    """Without a date, so that the same picture has the same bytes, and small: without metadata, and
    with coordinates to a hundredth of a point."""
    buffer = io.StringIO()
    unsaid = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(buffer, format="svg", metadata=unsaid)
    pyplot.close(figure)
    text = re.sub(r"<!--.*?-->", "", buffer.getvalue(), flags=re.DOTALL)
    text = re.sub(r"(?<![\w.#])([1-9]\d*\.\d\d)\d+", r"\1", text)  # scales are below 1
    text = re.sub(r"\s*\n\s*", "\n", text[text.index("<svg") :].rstrip())
    return re.sub(r"\n(?!<g id)", " ", text) + "\n"  # a line for each element
