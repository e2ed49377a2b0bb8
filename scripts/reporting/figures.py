"""All figures, drawn with matplotlib and narrow enough for a phone. A backend looks the same in
every figure, and can be recognised without its colour."""

import html
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

from reporting.documents import COPY, Document, Measurement, Table
from reporting.tables import of_which_rows, size_text

Axes = Any  # matplotlib before 3.8 has no types
Figure = Any
Look = dict[str, Any]  # keyword arguments of matplotlib's Axes.plot

WIDTH, HEIGHT = 5.6, 4.2  # inches
HALF_ULP = 2.0**-25  # half an ulp of 1, the largest value: no float32 table can promise less
LEAST_ERROR = 1e-9  # stands for smaller errors: 0 has no place on a logarithmic axis

INK, MUTED = "#1c2733", "#5b6875"
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
# The colours on dark pages. Each colour keeps its hue and its contrast.
IN_THE_DARK = {
    "#ffffff": "#12171d", INK: "#e6edf3", MUTED: "#9aa7b4", "#d9dee3": "#2c3640",
    "#0f4c81": "#6cb2f0", "#e07b00": "#ffa94d", "#2a9d8f": "#4fd1c1", "#7b838c": "#b4bcc5",
    "#b0175b": "#ff7ab5", "#5e3c99": "#b79cf0", "#d9a400": "#f2c84b", "#3d7a2a": "#86cf6f",
    "#a9b1b9": "#5f6973", "#c3ccd5": "#4a5663", "#e3c9a8": "#6b5636",
}  # fmt: skip
matplotlib.use("Agg")
pyplot.rcParams.update({
    "font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK,
    "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.edgecolor": MUTED, "axes.axisbelow": True, "axes.spines.top": False,
    "axes.spines.right": False, "xtick.color": MUTED, "ytick.color": MUTED,
    "xtick.labelsize": 9, "ytick.labelsize": 9, "grid.color": "#d9dee3", "legend.frameon": False,
    "text.parse_math": False,  # names may have dollar signs
    "legend.fontsize": 9, "lines.linewidth": 1.9, "lines.markersize": 5,
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


def power_text(power: int) -> str:
    """A power of ten, without mathematical markup: 10⁻⁷."""
    superscripts = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "10" + str(power).translate(superscripts)


def log_axis(axis: Any) -> None:
    """Labels a logarithmic axis at powers of ten, and also at 2 and 5 if there are few powers. All
    labels of an axis have the same form. Call this when everything is drawn."""
    low, high = sorted(axis.get_view_interval())
    between = (1.0, 2.0, 5.0) if high / low < 300 else (1.0,)

    def label(value: float, _: int) -> str:
        if 1e-3 <= low and high <= 1e5:
            return f"{value:g}"
        power = math.floor(math.log10(value * (1 + 1e-9)))
        factor = round(value / 10.0**power)
        return power_text(power) if factor == 1 else f"{factor}·{power_text(power)}"

    axis.set_major_locator(ticker.LogLocator(subs=between))
    axis.set_major_formatter(ticker.FuncFormatter(label))
    axis.set_minor_formatter(ticker.NullFormatter())


def size_axis(axes: Axes, sizes: Sequence[int]) -> None:
    """Makes a logarithmic axis of sizes in bytes, with room beside the first and last points."""
    axes.set(xscale="log", xlabel="size of the table",
             xlim=(min(sizes) / 1.6, max(sizes) * 1.6))  # fmt: skip
    powers = range(int(math.log2(min(sizes))), int(math.log2(max(sizes))) + 2, 4)
    axes.set_xticks([2.0**power for power in powers], [size_text(2**power) for power in powers])
    axes.minorticks_off()


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
    measured = [each for each in document.plain() if each.table == table and each.max_abs >= 0]
    limit, looks = document.limit(table), looks_of(measured)
    note = "one thread" + (f"; line: limit of the memory, {limit:.3g}" if limit else "")
    figure, axes = panel(table.name, note, max(HEIGHT, 1.2 + 0.24 * len(measured)))
    points: list[tuple[str, float, float, Look]] = []
    for each in sorted(measured, key=lambda each: each.speed):  # no marker covers the fastest
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
    sizes = [each.table.bytes for each in ours]
    axes.set(yscale="log", ylabel="Gfloat/s")
    size_axis(axes, sizes)
    axes.set(ylim=(None, 1.7 * axes.get_ylim()[1]))  # room for the names of the caches
    log_axis(axes.yaxis)
    for level, size in document.caches.items():
        if min(sizes) < size < max(sizes):
            axes.axvline(size, **REFERENCE)
            axes.annotate(f"{level} ", (size, 0.98), xycoords=("data", "axes fraction"), ha="right",
                          va="top", fontsize=9, color=MUTED)  # fmt: skip
    axes.grid(axis="y")
    legend_below(axes)
    return figure


def across_cpus(documents: Sequence[Document], backend: str = "rotation") -> Figure | None:
    """One backend at the best ISA of each CPU, on the float32 tables that all documents have. A
    line joins tables of neighbouring sizes."""
    speeds = [{each.table: each.speed for each in document.plain("backend")
               if each.backend == backend} for document in documents]  # fmt: skip
    common = [table for table in speeds[0] if all(table in each for each in speeds)]
    if len(documents) < 2 or not common:
        return None
    figure, axes = panel(f"{backend} on several CPUs", "float32, warm memory, one thread")
    looks = [*BACKENDS.values(), *ADDED]
    for place, (document, of_table) in enumerate(zip(documents, speeds)):
        fastest: dict[int, float] = {}  # the highest speed by size of the table
        for table in common:
            fastest[table.bytes] = max(fastest.get(table.bytes, 0), of_table[table])
        look = {**looks[place % len(looks)], "label": document.label}
        axes.plot(*zip(*sorted(fastest.items())), **look)
    axes.set(yscale="log", ylabel="Gfloat/s")
    size_axis(axes, [table.bytes for table in common])
    log_axis(axes.yaxis)
    axes.grid(axis="y")
    legend_below(axes, columns=1)
    return figure


def error_by_position(document: Document) -> Figure | None:
    """The largest error of each backend in each octave of positions, over the document's tables. A
    line joins only consecutive octaves: between other octaves, nothing was measured."""
    found = document.best_isas(lambda each: each.error and each.error.by_position)
    by_backend: dict[str, dict[int, tuple[int, float]]] = {}
    for each in found:
        octaves = by_backend.setdefault(each.backend, {})
        for last, error in each.error.by_position if each.error else ():
            if last > 0:  # position 0 is exact, and has no place on a logarithmic axis
                before = octaves.get(last.bit_length(), (0, LEAST_ERROR))
                octaves[last.bit_length()] = max(before[0], last), max(before[1], error)
    by_backend = {name: octaves for name, octaves in by_backend.items() if octaves}
    if not any(len(octaves) > 1 for octaves in by_backend.values()):
        return None
    looks, sizes = looks_of(found), dict.fromkeys(str(each.table.d_model) for each in found)
    note = f"d_model {', '.join(sizes)}; best ISAs; no line where nothing was measured"
    figure, axes = panel("Error along the positions", note)
    for place, (name, octaves) in enumerate(by_backend.items()):
        every = range(min(octaves), max(octaves) + 1)
        points = [octaves[each] if each in octaves else (math.nan, math.nan) for each in every
                  if each in octaves or each - 1 in octaves]  # fmt: skip
        look = PALE
        if name in looks:
            # Coinciding markers would hide each other, and the default backend's line would hide
            # other lines.
            has_gaps = len(every) > len(octaves)
            look = {**looks[name], "markevery": 1 if has_gaps else (place % 3, 3)}
            look |= {"linewidth": 4.5, "alpha": 0.55, "zorder": 1} if name == "rotation" else {}
        axes.plot(*zip(*points), **look)
    if len(by_backend) > len(looks):
        axes.plot([], [], **PALE, label="other libraries")
    axes.axhline(HALF_ULP, **REFERENCE, label="half an ulp of 1")
    axes.set(xscale="log", yscale="log", xlabel="position", ylabel="largest |error| of the octave")
    smallest = min(error for octaves in by_backend.values() for _, error in octaves.values())
    axes.set(ylim=(smallest / 2, 1.5 * axes.get_ylim()[1]))  # a line at a limit stays visible
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.grid(True)
    legend_below(axes)
    return figure


def error_maps(document: Document) -> Figure | None:
    """A map of the errors, positions by channels, with a panel for each backend and library at its
    best ISA. It shows the table that reaches furthest, and prefers tables from position 0."""
    found = document.best_isas(lambda each: each.error and each.error.map)
    if not found:
        return None
    table = max((each.table for each in found), key=lambda table: (table.first == 0, table.reach))
    found = sorted((each for each in found if each.table == table), key=lambda each: each.max_abs)
    across = min(3, len(found))
    down = math.ceil(len(found) / across)
    figure, grid = pyplot.subplots(
        down, across, squeeze=False, sharex=True, sharey=True, layout="constrained",
        figsize=(WIDTH, 1.3 + 1.5 * down))  # fmt: skip
    note = f"{table.name}, positions {table.first} to {table.first + table.rows - 1}"
    figure.suptitle(f"Where the errors are: {note}", x=0.01, ha="left", fontsize=11,
                    fontweight="bold")  # fmt: skip
    largest = max(each.max_abs for each in found)
    # Lightness rises with the values, so that the picture can be read in greyscale.
    scale: Look = {"cmap": "cividis", "vmin": math.log10(LEAST_ERROR), "vmax": math.log10(largest)}
    panels = list(grid.flat)
    for axes in panels[len(found):]:
        axes.set_visible(False)
    for axes, each in zip(panels, found):
        axes.set_title(each.backend, fontsize=9, fontweight="normal")
        cells = each.error.map if each.error else None
        if cells is None:
            continue
        values = numpy.reshape(cells.largest, (cells.rows, cells.columns))
        extent = (0, table.d_model, table.first + table.rows, table.first)
        # "none" keeps the pixels of the array: a small picture, which the viewer scales.
        image = axes.imshow(numpy.log10(numpy.maximum(values, LEAST_ERROR)), aspect="auto",
                            interpolation="none", extent=extent, **scale)  # fmt: skip
        axes.spines[:].set_visible(False)
        axes.locator_params(nbins=4)
    figure.supxlabel("channel", fontsize=10)
    figure.supylabel("position", fontsize=10)
    bar = figure.colorbar(image, ax=panels[: len(found)], label="largest |error|", pad=0.02,
                          aspect=30)  # fmt: skip
    bar.outline.set_visible(False)
    powers = range(math.ceil(scale["vmin"]), math.floor(scale["vmax"]) + 1)
    bar.set_ticks(list(powers), labels=[power_text(power) for power in powers])
    return figure


def table_map(values: Any) -> Figure:
    """The table itself, rows by channels: sines in the even channels, cosines in the odd ones."""
    rows, d_model = values.shape
    figure, axes = panel("The table", f"{rows} rows x {d_model} channels, from position 0")
    image = axes.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto", interpolation="none")
    bar = figure.colorbar(image, ax=axes, label="entry", pad=0.02, aspect=30, ticks=(-1, 0, 1))
    bar.outline.set_visible(False)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="channel", ylabel="position")
    return figure


def some_channels(values: Any, channels: Sequence[int] = (4, 5, 6, 7)) -> Figure:
    """A few channels over the positions, as many explanations of the encoding show them."""
    rows, d_model = values.shape
    note = f"d_model {d_model}, {rows} positions"
    figure, axes = panel("Positional encoding", note)
    for channel, look in zip(channels, BACKENDS.values()):
        plain = {"color": look["color"], "linestyle": look["linestyle"]}
        axes.plot(range(rows), values[:, channel], **plain, label=f"dim {channel}")
    axes.set(xlabel="position", ylabel="entry", xlim=(0, rows - 1), ylim=(-1.08, 1.08))
    axes.grid(True)
    legend_below(axes, columns=4)
    return figure


def shift_error(errors: dict[str, Any], shift: int, d_model: int) -> Figure:
    """Errors of the shifts that make relative positions linear: row p + k should be row p with each
    pair of channels rotated by k times its frequency. Shows the largest difference over all
    channels, by backend and position."""
    note = f"d_model {d_model}, k = {shift}; the largest over all channels"
    figure, axes = panel("PE[p + k] as a rotation of PE[p]", note)
    for name, by_position in errors.items():
        edges = numpy.unique(numpy.geomspace(1, len(by_position), 90).astype(int))
        largest = [by_position[low:high].max() for low, high in zip(edges, edges[1:])]
        plain = {**BACKENDS[name], "marker": ""}
        axes.plot(edges[1:] - 1, numpy.maximum(largest, LEAST_ERROR), **plain, label=name)
    axes.set(xscale="log", yscale="log", xlabel="position p", ylabel="|PE[p + k] - rotated PE[p]|")
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.grid(True)
    legend_below(axes)
    return figure


def data_of(figure: Figure) -> str:
    """The points of each named series, so that a picture can be compared with a document."""
    return "; ".join(
        f"{line.get_label()}: " + " ".join(f"{x:.4g},{y:.4g}" for x, y in line.get_xydata())
        for axes in figure.axes for line in axes.get_lines() if not line.get_label().startswith("_")
    )  # fmt: skip


def _dark_style() -> str:
    """Rules that replace the colours if the reader prefers dark pages. They are `!important`,
    because matplotlib styles each element itself."""
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark in IN_THE_DARK.items() for what in ("fill", "stroke")
    )  # fmt: skip
    return f"@media(prefers-color-scheme:dark){{{rules}}}"


def svg_of(figure: Figure) -> str:
    """The figure as SVG. It has no date, so that the same picture has the same bytes. To stay
    small, it has no metadata, and coordinates to a hundredth of a point."""
    buffer, data = io.StringIO(), f"<desc>{html.escape(data_of(figure))}</desc>"
    unsaid = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(buffer, format="svg", metadata=unsaid)
    pyplot.close(figure)
    text = re.sub(r"<!--.*?-->", "", buffer.getvalue(), flags=re.DOTALL)
    text = re.sub(r"(?<![\w.#])([1-9]\d*\.\d\d)\d+", r"\1", text)  # scales are below 1
    text = re.sub(r"\s*\n\s*", "\n", text[text.index("<svg") :].rstrip())
    text = text.replace("<defs>", f"{data}<style>{_dark_style()}</style><defs>", 1)
    return re.sub(r"\n(?!<g id)", " ", text) + "\n"  # a line for each element
