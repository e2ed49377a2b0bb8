"""Everything that is drawn, with matplotlib: one panel a figure, narrow enough for a phone. A
backend looks the same in every figure, and none needs its colour to be told apart."""

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from reporting.command import need_module
from reporting.documents import COPY, Machine, Measurement, Table
from reporting.text import size_text

# matplotlib is imported when a figure is drawn, so that scripts can say that it is missing.
Axes = Any
Figure = Any
Look = dict[str, Any]  # keyword arguments of matplotlib's Axes.plot
Label = tuple[str, float, float, Look]  # text, x, y, and the look of the series
Curve = Sequence[tuple[int, float]]  # last position of an octave, largest error

WIDTH, HEIGHT = 5.6, 4.2  # inches
LINE = 0.19  # inches, of a legend
HALF_ULP = 2.0**-25  # of 1, the largest value: no float32 table can promise less
LEAST_ERROR = 1e-9  # an error of 0 has no place on a logarithmic axis

INK, MUTED, GRID, PALE_GREY = "#1c2733", "#5b6875", "#d9dee3", "#a9b1b9"
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
PALE: Look = {"color": PALE_GREY, "linestyle": "-", "linewidth": 0.9, "zorder": 1}
LOOPS: dict[str, Look] = {
    "store": {"color": INK, "linestyle": "-", "label": "limit: stores"},
    "non_temporal_store": {"color": MUTED, "label": "limit: non-temporal stores"},
    COPY: {"color": MUTED, "linestyle": (0, (4, 3)), "label": "copy of a table"},
}
PHASES = {"exact": "o", "double": "s", "float32": "D"}  # marks of other libraries
RC = {
    "font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK,
    "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.edgecolor": MUTED, "axes.axisbelow": True, "axes.spines.top": False,
    "axes.spines.right": False, "xtick.color": MUTED, "ytick.color": MUTED,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "xtick.labelsize": 9, "ytick.labelsize": 9,
    "grid.color": GRID, "grid.linewidth": 0.7, "legend.frameon": False, "legend.fontsize": 9,
    "lines.linewidth": 1.9, "lines.markersize": 5,
    "svg.fonttype": "path", "svg.hashsalt": "posenc",  # the same picture has the same bytes
}  # fmt: skip


def panel(title: str, note: str, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """A title at the left, and below it a smaller line that says what was drawn."""
    need_module("matplotlib").use("Agg")
    pyplot = need_module("matplotlib.pyplot")
    pyplot.rcParams.update(RC)
    figure, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
    axes.set_title(title, pad=24)
    small_text(axes, note, (0, 1), (0, 9), xycoords="axes fraction")
    return figure, axes


def small_text(
    axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], **further: Any
) -> None:
    """A note beside a place, at an offset in points."""
    look = {"fontsize": 9, "color": MUTED, "textcoords": "offset points"}
    axes.annotate(text, place, xytext=offset, **look, **further)


def looks_of(measured: Iterable[Measurement]) -> dict[str, Look]:
    """Of those that are shown in colour, the library's backends, the look by name."""
    ours = dict.fromkeys(each.backend for each in measured if each.role == "backend")
    looks = {**BACKENDS, **dict(zip(sorted(ours.keys() - BACKENDS), ADDED))}
    return {name: {**look, "label": name} for name, look in looks.items() if name in ours}


def shown(error: float) -> float:
    """On a logarithmic axis."""
    return max(error, LEAST_ERROR)


def log_axis(axis: Any) -> None:
    """Labels of a logarithmic axis at powers of ten, as plain numbers if all are from 0.001 to
    1000000, and at 2 and 5 between them if there are few. Call it when everything is drawn."""
    ticker = need_module("matplotlib.ticker")
    low, high = sorted(axis.get_view_interval())
    axis.set_minor_formatter(ticker.NullFormatter())
    if low >= 1e-3 and high <= 2e6:
        between = (1.0, 2.0, 5.0) if math.log10(high / low) < 2.5 else (1.0,)
        axis.set_major_locator(ticker.LogLocator(subs=between, numticks=99))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, place: f"{value:.7g}"))


def legend_below(axes: Axes) -> None:
    """As far below the axes as tick labels and the axis label need, whatever the axes' height. The
    figure grows by its lines, so that the axes keep their size."""
    figure, lines = axes.figure, math.ceil(len(axes.get_legend_handles_labels()[0]) / 3)
    figure.set_figheight(figure.get_figheight() + LINE * lines)
    translation = need_module("matplotlib.transforms").ScaledTranslation
    below = axes.transAxes + translation(0, -38 / 72, figure.dpi_scale_trans)
    look = {"ncol": 3, "columnspacing": 1.2, "handlelength": 2.8, "loc": "upper center"}
    axes.legend(bbox_transform=below, bbox_to_anchor=(0.5, 0), **look)


def spread_labels(wanted: Iterable[float], least_gap: float) -> list[float]:
    """Heights in ascending order, moved apart until each has least_gap to the next, and close to
    those wanted."""
    placed = sorted(wanted)
    for _ in range(100):
        for low in range(len(placed) - 1):
            missing = max(0.0, least_gap - (placed[low + 1] - placed[low]))
            placed[low] -= missing / 2
            placed[low + 1] += missing / 2
    return placed


def label_beside(axes: Axes, labels: Sequence[Label]) -> None:
    """Texts in a column right of the axes, each with a line to its point: no text covers another,
    however close the points are, and no line meets a text, since all texts are right of all
    points."""
    line_points = 12.5
    low, high = (math.log10(edge) for edge in axes.get_ylim())
    gap = (high - low) * line_points / (72 * axes.figure.get_figheight() * 0.72)
    labels = sorted(labels, key=lambda label: label[2])
    heights = spread_labels((math.log10(label[2]) for label in labels), gap)
    shift = min(0.0, high - heights[-1]) + max(0.0, low - heights[0])
    leader = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.5}
    leader |= {"shrinkA": 1, "shrinkB": 5, "relpos": (0, 0.5)}
    common = {"textcoords": ("axes fraction", "data"), "va": "center", "fontsize": 9}
    for (text, x, y, look), height in zip(labels, heights):
        look = {"color": look["color"], "fontweight": "bold" if "label" in look else "normal"}
        place = (1.03, 10 ** (height + shift))
        axes.annotate(text, (x, y), xytext=place, arrowprops=leader, **common, **look)


def half_ulp_line(line: Any) -> None:
    line(HALF_ULP, color=MUTED, linewidth=0.9, linestyle=":", zorder=0)


def heat_map(axes: Axes, values: Any, label: str, **further: Any) -> Any:
    """An image of an array, and its scale. Its lightness rises with the values: it says the same in
    greyscale."""
    axes.spines[:].set_visible(False)
    # "none" keeps the pixels of the array: a small picture, which the viewer scales.
    look = {"cmap": "cividis", "aspect": "auto", "interpolation": "none"}
    image = axes.imshow(values, **look, **further)
    bar = axes.figure.colorbar(image, ax=axes, label=label, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    return bar


def speed_against_error(machine: Machine, table: Table) -> Figure:
    """The encoders of one table. Other libraries are hollow, and their marks say how their phases
    are rounded."""
    measured = [each for each in machine.plain()
                if each.table == table and not math.isnan(each.max_abs)]  # fmt: skip
    limit, looks = machine.limit(table), looks_of(measured)
    note = "one thread" + (f"; line: limit of the memory, {limit:.3g}" if limit else "")
    figure, axes = panel(table.name, note, max(HEIGHT, 1.2 + 0.24 * len(measured)))
    labels: list[Label] = []
    for each in sorted(measured, key=lambda each: each.speed):  # no mark covers the fastest
        mark: Look = {"marker": PHASES.get(each.phases.partition(",")[0], "X"), "color": MUTED}
        mark |= {"markerfacecolor": "white", "markersize": 7}
        if look := looks.get(each.backend):
            mark = {**look, "markersize": 9, "zorder": 3}
        axes.plot([shown(each.max_abs)], [each.speed], **{**mark, "linestyle": "none"})
        labels.append((each.backend, shown(each.max_abs), each.speed, mark))
    if limit:
        axes.axhline(limit, color=INK, linewidth=1.2)
    half_ulp_line(axes.axvline)
    speeds = [each.speed for each in measured]
    of_rows = " or ".join(sorted({each.rows_text for each in measured}))
    axes.set(xscale="log", yscale="log", xlabel=f"largest |error| {of_rows}", ylabel="Gfloat/s",
             xlim=(1e-8, max(2e-6, 4 * max(label[1] for label in labels))),
             ylim=(min(speeds) / 2.6, 2.2 * max([limit, *speeds])))  # fmt: skip
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    label_beside(axes, labels)
    axes.grid(True)
    return figure


def throughput(machine: Machine) -> Figure | None:
    """The library's backends: other libraries would hide them, and stand against their errors."""
    ours = machine.plain("backend")
    if not ours:
        return None
    figure, axes = panel("Throughput by size of the table", "float32, warm memory, one thread")
    series: dict[str, dict[int, list[float]]] = {}
    for table in dict.fromkeys(each.table for each in ours):
        for name, speed in machine.loops(table).items():
            series.setdefault(name, {})[table.bytes] = [speed]
    for each in ours:
        series.setdefault(each.backend, {}).setdefault(each.table.bytes, []).append(each.speed)
    looks = {**{name: {"linewidth": 1.2, **look} for name, look in LOOPS.items()}, **looks_of(ours)}
    for name, of_size in series.items():
        points = [(size, median(speeds)) for size, speeds in of_size.items()]
        axes.plot(*zip(*points), **looks.get(name, PALE))
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
            axes.axvline(size, color=MUTED, linewidth=0.9, linestyle=":")
            place = {"xycoords": ("data", "axes fraction"), "ha": "right", "va": "top"}
            small_text(axes, level, (size, 1), (-3, -3), **place)
    axes.grid(axis="y")
    legend_below(axes)
    return figure


def furthest(machine: Machine) -> dict[str, Measurement]:
    """By backend, at its best ISA, those with errors by position and by channel on the table that
    reaches furthest, of those from position 0 if there are some; the least accurate first."""
    found = machine.best_isas(lambda each: each.error and each.error.by_position)
    far = max(found, key=lambda each: (each.table.first == 0, each.table.reach), default=None)
    same = [each for each in found if far and each.table.encoded == far.table.encoded]
    return {each.backend: each for each in sorted(same, key=lambda each: -each.max_abs)}


def plot_error_curves(axes: Axes, curves: Mapping[str, Curve], looks: Mapping[str, Look]) -> None:
    """The largest error of each backend along the positions. Position 0 is exact in every backend,
    and has no place on a logarithmic axis."""
    for place, (name, curve) in enumerate(curves.items()):
        look = PALE
        if name in looks:
            # Markers that coincide would hide each other; so would the default backend's line.
            look = {**looks[name], "markevery": (place % 3, 3)}
            look |= {"linewidth": 4.5, "alpha": 0.55, "zorder": 1} if name == "rotation" else {}
        axes.plot(*zip(*((at, shown(error)) for at, error in curve if at > 0)), **look)
    if len(curves) > len(looks):
        axes.plot([], [], **PALE, label="other libraries")
    half_ulp_line(axes.axhline)
    axes.set(xscale="log", yscale="log", xlabel="position", ylabel="largest |error| of the octave")
    log_axis(axes.xaxis)
    axes.grid(True)


def error_by_position(machine: Machine) -> Figure | None:
    found = furthest(machine)
    curves = {name: each.error.by_position for name, each in found.items() if each.error}
    if not any(len(curve) > 1 for curve in curves.values()):
        return None
    table = next(iter(found.values())).table
    figure, axes = panel("Error along the positions", f"{table.name}, best ISAs")
    plot_error_curves(axes, curves, looks_of(found.values()))
    legend_below(axes)
    return figure


def error_by_channel(machine: Machine) -> Figure | None:
    numpy, found = need_module("numpy"), furthest(machine)
    if not found:
        return None
    note = f"{next(iter(found.values())).table.name}, best ISAs"
    figure, axes = panel("Error by channel", note, 1.6 + 0.22 * max(8, len(found)))
    errors = [each.error.by_channel for each in found.values() if each.error]
    powers = numpy.log10(numpy.maximum(errors, LEAST_ERROR))
    bar = heat_map(axes, powers, "largest |error|")
    ticks = list(range(math.ceil(powers.min()), math.floor(powers.max()) + 1))
    bar.set_ticks(ticks, labels=[f"$10^{{{power}}}$" for power in ticks])
    axes.set_yticks(range(len(found)), list(found))
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="channel")
    for boundary in range(1, len(found)):
        axes.axhline(boundary - 0.5, color="white", linewidth=2)
    return figure


def drift(measured: Sequence[Measurement], options: Sequence[str]) -> Figure:
    """The largest error of each backend, octave by octave; of each the ISA that errs most."""
    octaves: dict[str, dict[int, float]] = {}
    for each in measured:
        errors = octaves.setdefault(each.backend, {})
        for last, error in each.error.by_position if each.error else ():
            errors[last] = max(errors.get(last, 0.0), error)
    curves = {name: sorted(errors.items()) for name, errors in octaves.items()}
    worst_first = sorted(curves, key=lambda name: -curves[name][-1][1])
    d_model, looks = measured[0].table.d_model, looks_of(measured)
    note = " ".join([f"float32, d_model {d_model}, of each the ISA that errs most", *options])
    figure, axes = panel("How far the error drifts along the positions", note)
    plot_error_curves(axes, {name: curves[name] for name in worst_first}, looks)
    axes.set(ylim=(8e-9, 5))
    small_text(axes, "half an ulp of 1: no float32 table can promise less", (1, HALF_ULP), (2, -11))
    ends = [(name, *curves[name][-1]) for name in worst_first]
    label_beside(axes, [(name, at, shown(error), looks.get(name, PALE)) for name, at, error in ends])
    return figure


def encoding(table: Any, options: Sequence[str]) -> Figure:
    """The picture of an encoding: its table."""
    note = f"{table.shape[0]} rows x {table.shape[1]} channels {' '.join(options)}"
    figure, axes = panel("A sinusoidal positional encoding", note)
    heat_map(axes, table, "value", vmin=-1, vmax=1)
    axes.set(xlabel="channel", ylabel="row")
    return figure


def compact_svg(text: str) -> str:
    """matplotlib's SVG in few lines: a line for each group of elements, coordinates to a hundredth
    of a point, and neither comments nor metadata."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'base64,\s*([^"]*)', lambda data: "base64," + "".join(data[1].split()), text)
    text = re.sub(r"> <", "><", re.sub(r"\s+", " ", text).replace(' "', '"'))
    text = re.sub(r"(?<![\w.#])([1-9]\d*\.\d\d)\d+", r"\1", text)  # scales are below 1
    groups = "axes|matplotlib|line2d|text|legend|patch"
    return re.sub(f'(?=<g id="(?:{groups}))', "\n", text.rstrip()) + "\n"


def svg_of(figure: Figure) -> str:
    """Without a date, so that the same picture has the same bytes."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    need_module("matplotlib.pyplot").close(figure)
    return compact_svg(buffer.getvalue())
