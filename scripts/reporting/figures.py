"""All figures, drawn with matplotlib and narrow enough for a phone. A backend looks the same in
every figure, and can be recognised without its colour."""

import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib
import numpy
from matplotlib import pyplot, ticker
from matplotlib.colors import LogNorm

from reporting.documents import COPY, Document, Measurement, Table, number
from reporting.tables import checked_rows, size_text

Axes = Any  # matplotlib before 3.8 has no types
Figure = Any
Look = dict[str, Any]  # keyword arguments of matplotlib's Axes.plot

WIDTH, HEIGHT = 5.6, 4.2  # inches
HALF_ULP = 2.0**-25  # half an ulp of 1, the largest value: no float32 table can promise less
LEAST_ERROR = 1e-9  # stands for smaller errors: 0 has no place on a logarithmic axis

MUTED = "#5b6875"
# Dark and light alternate; no two share a dash pattern or a marker.
BACKENDS: dict[str, Look] = {
    "rotation": {"color": "#0f4c81", "linestyle": "-", "marker": "o"},
    "rotation32": {"color": "#e07b00", "linestyle": (0, (6, 2)), "marker": "s"},
    "xsimd": {"color": "#2a9d8f", "linestyle": (0, (2, 2)), "marker": "^"},
    "naive": {"color": "#7b838c", "linestyle": (0, (8, 2, 2, 2)), "marker": "D"},
    "div_term": {"color": "#b0175b", "linestyle": (0, (4, 1, 1, 1, 1, 1)), "marker": "v"},
}
# Looks of the first backends that a user has added. Further backends are pale.
ADDED: tuple[Look, ...] = (
    {"color": "#5e3c99", "linestyle": (0, (5, 1, 1, 1)), "marker": "P"},
    {"color": "#d9a400", "linestyle": (0, (1, 1)), "marker": "X"},
    {"color": "#3d7a2a", "linestyle": (0, (9, 3)), "marker": "p"},
)
PALE: Look = {"color": "#a9b1b9", "linestyle": "-", "linewidth": 0.9, "zorder": 1}
# Limits are wide, pale lines below the others: a backend at the limit stays visible, and so does
# the limit.
LOOPS: dict[str, Look] = {
    "store": {"color": "#c3ccd5", "linewidth": 6, "label": "limit: stores", "zorder": 1},
    "non_temporal_store": {"color": "#e3c9a8", "linewidth": 6, "zorder": 1,
                           "label": "limit: non-temporal stores"},
    COPY: {"color": MUTED, "linewidth": 1.2, "linestyle": "--", "label": "copy of a table"},
}  # fmt: skip
PHASES = {"exact": "o", "double": "s", "float32": "D"}  # markers of other libraries
REFERENCE: Look = {"color": MUTED, "linewidth": 0.9, "linestyle": ":", "zorder": 0}
matplotlib.use("Agg")
pyplot.rcParams.update({
    "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "xtick.labelsize": 9, "ytick.labelsize": 9, "grid.color": "#d9dee3", "legend.frameon": False,
    "legend.fontsize": 9, "lines.linewidth": 1.9, "lines.markersize": 5,
    "text.parse_math": False,  # names may have dollar signs
    "svg.hashsalt": "posenc",  # the same picture has the same bytes
})  # fmt: skip


def panel(title: str, note: str, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """A figure with a title at the left, and below it a smaller line that describes the data."""
    figure, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
    axes.set_title(title, pad=24)
    axes.annotate(note, (0, 1), xycoords="axes fraction", xytext=(0, 9), fontsize=9, color=MUTED,
                  textcoords="offset points")  # fmt: skip
    return figure, axes


def looks_of(measured: Iterable[Measurement]) -> dict[str, Look]:
    """The looks of the library's backends, which are shown in colour, by name."""
    ours = dict.fromkeys(each.backend for each in measured if each.role == "backend")
    looks = {**BACKENDS, **dict(zip(sorted(ours.keys() - BACKENDS), ADDED))}
    return {name: {**look, "label": name} for name, look in looks.items() if name in ours}


def log_axis(axis: Any) -> None:
    """Labels a logarithmic axis at powers of ten, and also at 2 and 5 if there are few powers. All
    labels of an axis have the same form. Call this when everything is drawn."""
    low, high = sorted(axis.get_view_interval())
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high / low < 300 else (1,)))
    axis.set_major_formatter("{x:g}" if 1e-3 <= low and high <= 1e5 else "{x:.0e}")
    axis.set_minor_formatter(ticker.NullFormatter())


def legend_below(axes: Axes, columns: int = 3) -> None:
    """Puts the legend below the axes. The figure grows by the lines of the legend, so that the axes
    keep their size."""
    figure, lines = axes.figure, math.ceil(len(axes.get_legend_handles_labels()[0]) / columns)
    figure.set_figheight(figure.get_figheight() + 0.19 * lines)
    axes.legend(bbox_to_anchor=(0.5, -0.16), loc="upper center", ncol=columns, columnspacing=1.2,
                handlelength=2.8)  # fmt: skip


def label_beside(axes: Axes, points: Sequence[tuple[str, float, float, Look]]) -> None:
    """Puts names in a column right of the axes, in the order of their points and evenly spaced. A
    line joins each name to its point. No text covers another, however close the points are."""
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


def speed_against_error(document: Document, table: Table) -> Figure:
    """Speed against error of the encoders of one table. Other libraries have hollow markers, which
    show how their phases are rounded."""
    measured = [each for each in document.plain() if each.table == table and each.error]
    limit, looks = document.limit(table), looks_of(measured)
    note = "one thread" + (f"; line: limit of the memory, {limit:.3g}" if limit else "")
    figure, axes = panel(table.name, note, max(HEIGHT, 1.2 + 0.24 * len(measured)))
    points: list[tuple[str, float, float, Look]] = []
    for each in sorted(measured, key=lambda each: each.speed):  # no marker covers the fastest
        mark: Look = {"marker": PHASES.get(each.phases.partition(",")[0], "X"), "color": MUTED,
                      "markerfacecolor": "white", "markersize": 7}  # fmt: skip
        if look := looks.get(each.backend):
            mark = {**look, "markersize": 9, "zorder": 3}
        points.append((each.backend, max(each.max_abs, LEAST_ERROR), each.speed, mark))
        axes.plot([points[-1][1]], [each.speed], **{**mark, "linestyle": "none"})
    if limit:
        axes.axhline(limit, color="black", linewidth=1.2)
    axes.axvline(HALF_ULP, **REFERENCE)
    speeds = [each.speed for each in measured]
    axes.set(xscale="log", yscale="log", ylabel="Gfloat/s",
             xlabel=f"largest |error| of {checked_rows(measured[0])}",
             xlim=(1e-8, max(2e-6, 4 * max(error for _, error, _, _ in points))),
             ylim=(min(speeds) / 2.6, 2.2 * max([limit, *speeds])))  # fmt: skip
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    label_beside(axes, points)
    axes.grid(True)
    return figure


def throughput(document: Document) -> Figure | None:
    """Throughput of the library's backends by size of the table. Other libraries would hide them,
    and are in speed_against_error(). If tables have the same size, the narrowest one is shown."""
    ours = document.plain("backend")
    if not ours:
        return None
    figure, axes = panel("Throughput by size of the table", "float32, warm memory, one thread")
    series: dict[str, dict[int, float]] = {}
    for each in ours:
        series.setdefault(each.backend, {}).setdefault(each.table.bytes, each.speed)
        for name, speed in document.loops(each.table).items():
            series.setdefault(name, {})[each.table.bytes] = speed
    looks = {**LOOPS, **looks_of(ours)}
    for name, speeds in series.items():
        axes.plot(*zip(*speeds.items()), **looks.get(name, PALE))
    smallest, largest = ours[0].table.bytes, ours[-1].table.bytes
    axes.set(xscale="log", yscale="log", xlabel="size of the table", ylabel="Gfloat/s",
             xlim=(smallest / 1.6, largest * 1.6))  # fmt: skip
    powers = range(int(math.log2(smallest)), int(math.log2(largest)) + 2, 4)
    axes.set_xticks([2**power for power in powers], [size_text(2**power) for power in powers])
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set(ylim=(None, 1.7 * axes.get_ylim()[1]))  # room for the names of the caches
    log_axis(axes.yaxis)
    for level, size in document.caches.items():
        if smallest < size < largest:
            axes.axvline(size, **REFERENCE)
            axes.annotate(f"{level} ", (size, 0.98), xycoords=("data", "axes fraction"), ha="right",
                          va="top", fontsize=9, color=MUTED)  # fmt: skip
    axes.grid(axis="y")
    legend_below(axes)
    return figure


def error_by_position(document: Document) -> Figure | None:
    """The largest error of each backend in each octave of positions, over the document's tables. A
    line joins only consecutive octaves: between other octaves, nothing was measured."""
    found = document.best_isas(lambda each: each.report.get("by_position"))
    by_backend: dict[str, dict[int, tuple[int, float]]] = {}
    for each in found:
        for part in each.report["by_position"]:
            last, error = part["first"] + part["count"] - 1, number(part["max_abs"])
            if last > 0:  # position 0 is exact, and has no place on a logarithmic axis
                octaves = by_backend.setdefault(each.backend, {})
                before = octaves.get(last.bit_length(), (0, LEAST_ERROR))
                octaves[last.bit_length()] = max(before[0], last), max(before[1], error)
    if not any(len(octaves) > 1 for octaves in by_backend.values()):
        return None
    looks, sizes = looks_of(found), dict.fromkeys(str(each.table.d_model) for each in found)
    note = f"d_model {', '.join(sizes)}; best ISAs; no line where nothing was measured"
    figure, axes = panel("Error along the positions", note)
    for place, (name, octaves) in enumerate(by_backend.items()):
        every = range(min(octaves), max(octaves) + 1)
        look = PALE
        if name in looks:
            # Coinciding markers would hide each other, and the default backend's line would hide
            # other lines.
            has_gaps = len(every) > len(octaves)
            look = {**looks[name], "markevery": 1 if has_gaps else (place % 3, 3)}
            look |= {"linewidth": 4.5, "alpha": 0.55, "zorder": 1} if name == "rotation" else {}
        axes.plot(*zip(*(octaves.get(each, (math.nan, math.nan)) for each in every)), **look)
    if len(by_backend) > len(looks):
        axes.plot([], [], **PALE, label="other libraries")
    axes.axhline(HALF_ULP, **REFERENCE, label="half an ulp of 1")
    axes.set(xscale="log", yscale="log", xlabel="position", ylabel="largest |error| of the octave")
    axes.set(ylim=(axes.get_ylim()[0] / 1.5, 1.5 * axes.get_ylim()[1]))  # lines at limits are seen
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.grid(True)
    legend_below(axes)
    return figure


def error_maps(document: Document) -> Figure | None:
    """A map of the errors, positions by channels, with a panel for each backend and library at its
    best ISA. It shows the table that reaches furthest, and prefers tables from position 0."""
    found = document.best_isas(lambda each: each.report.get("map"))
    if not found:
        return None
    table = max((each.table for each in found), key=lambda table: (table.first == 0, table.reach))
    found = sorted((each for each in found if each.table == table), key=lambda each: each.max_abs)
    down = math.ceil(len(found) / 3)
    figure, grid = pyplot.subplots(
        down, 3, squeeze=False, sharex=True, sharey=True, layout="constrained",
        figsize=(WIDTH, 1.3 + 1.5 * down))  # fmt: skip
    last = table.first + table.rows - 1
    figure.suptitle(f"Where the errors are: {table.name}, positions {table.first} to {last}",
                    x=0.01, ha="left", fontsize=11, fontweight="bold")  # fmt: skip
    # Lightness rises with the values, so that the picture can be read in greyscale.
    norm = LogNorm(LEAST_ERROR, max(each.max_abs for each in found))
    for axes in grid.flat[len(found):]:
        axes.set_visible(False)
    for axes, each in zip(grid.flat, found):
        axes.set_title(each.backend, fontsize=9, fontweight="normal")
        cells = each.report["map"]
        values = numpy.reshape(cells["largest"], (cells["rows"], cells["columns"])).astype(float)
        # "none" keeps the pixels of the array: a small picture, which the viewer scales.
        image = axes.imshow(numpy.maximum(values, LEAST_ERROR), aspect="auto", norm=norm,
                            interpolation="none", cmap="cividis",
                            extent=(0, table.d_model, last + 1, table.first))  # fmt: skip
        axes.spines[:].set_visible(False)
        axes.locator_params(nbins=4)
    figure.supxlabel("channel", fontsize=10)
    figure.supylabel("position", fontsize=10)
    bar = figure.colorbar(image, ax=grid, label="largest |error|", format="{x:.0e}", pad=0.02,
                          aspect=30)  # fmt: skip
    bar.outline.set_visible(False)
    return figure


def data_of(figure: Figure) -> str:
    """The points of each named series, so that a picture can be compared with a document."""
    return "; ".join(
        f"{line.get_label()}: " + " ".join(f"{x:.4g},{y:.4g}" for x, y in line.get_xydata())
        for axes in figure.axes for line in axes.get_lines() if not line.get_label().startswith("_")
    )  # fmt: skip


def svg_of(figure: Figure) -> str:
    """The figure as SVG. It has no date, so that the same picture has the same bytes."""
    buffer = io.StringIO()
    said: dict[str, Any] = {"Date": None, "Creator": None, "Description": data_of(figure)}
    figure.savefig(buffer, format="svg", metadata=said)
    pyplot.close(figure)
    return buffer.getvalue()
