"""What figures have in common: panels, axes, titles, legends, labels, and files."""

import io
import math
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from reporting.failures import need_module
from reporting.figures import style
from reporting.files import write_whole

# matplotlib is imported when a figure is drawn, so that scripts can say that it is missing.
Axes = Any
Figure = Any

WIDTH, HEIGHT = 9.4, 4.5  # inches
LEGEND_LINE = 0.2  # inches
HALF_ULP = 2.0**-25  # of 1, the largest value: no float32 table can promise less
LEAST_ERROR = 1e-9  # an error of 0 has no place on a logarithmic axis


def pyplot() -> Any:
    need_module("matplotlib").use("Agg")
    found = need_module("matplotlib.pyplot")
    found.rcParams.update(style.RC)
    return found


def panels(count: int = 1, height: float = HEIGHT, width: float = WIDTH) -> tuple[Figure, Any]:
    """Panels beside each other. Sizes in inches."""
    size = {"figsize": (width, height), "layout": "constrained"}
    figure, axes = pyplot().subplots(1, count, squeeze=False, **size)
    return figure, list(axes.flat)


def plain_number(value: float) -> str:
    """0.01, 0.5, 1, 20, 131072."""
    return f"{value:.0f}" if value >= 1 else f"{value:g}"


def log_axis(axis: Any) -> None:
    """A logarithmic axis with labels at powers of ten, as plain numbers if all are from 0.001 to
    1000000, and at 2 and 5 between them if there are few. Call it when everything is drawn."""
    ticker = need_module("matplotlib.ticker")
    low, high = sorted(axis.get_view_interval())
    axis.set_minor_formatter(ticker.NullFormatter())
    if low < 1e-3 or high > 2e6:
        return
    between = (1.0, 2.0, 5.0) if math.log10(high / low) < 2.5 else (1.0,)
    axis.set_major_locator(ticker.LogLocator(subs=between, numticks=99))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, place: plain_number(value)))


def half_ulp_line(axes: Axes, along: str) -> None:
    """A dotted line at half an ulp of 1: of the y axis if `along` is "x", and the reverse."""
    look = {"color": style.MUTED, "linewidth": 0.9, "linestyle": ":", "zorder": 0}
    (axes.axhline if along == "x" else axes.axvline)(HALF_ULP, **look)


def small_text(
    axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], **further: Any
) -> None:
    """A note beside a place, at an offset in points."""
    look = {"fontsize": 9, "color": style.MUTED, "textcoords": "offset points"}
    axes.annotate(text, place, xytext=offset, **look, **further)


def heat_map(axes: Axes, values: Any, first: int = 0, **further: Any) -> Any:
    """An image of an array, its rows counted from `first`. Its lightness rises with the values: it
    says the same in greyscale."""
    rows, columns = values.shape
    extent = (-0.5, columns - 0.5, first + rows - 0.5, first - 0.5)
    axes.spines[:].set_visible(False)
    # "none" keeps the pixels of the array: a small picture, which the viewer scales.
    look = {"cmap": "cividis", "aspect": "auto", "interpolation": "none"}
    return axes.imshow(values, extent=extent, **look, **further)


def title(axes: Axes, text: str, note: str = "") -> None:
    """A title at the left, and below it a smaller line that says what was drawn."""
    axes.set_title(text, pad=24 if note else 10)
    if note:
        small_text(axes, note, (0, 1), offset=(0, 9), xycoords="axes fraction")


def legend_below(axes: Axes, columns: int) -> None:
    """As far below the axes as tick labels and the axis label need, whatever the axes' height. The
    figure grows by the lines of the legend beyond the second, so that the axes keep their size."""
    lines = math.ceil(len(axes.get_legend_handles_labels()[0]) / columns)
    figure = axes.figure
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE * max(0, lines - 2))
    transforms = need_module("matplotlib.transforms")
    down = transforms.ScaledTranslation(0, -38 / 72, figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0)}
    look = {"ncol": columns, "columnspacing": 1.2, "handlelength": 3}
    axes.legend(bbox_transform=axes.transAxes + down, **place, **look)


def spread_labels(wanted: Iterable[float], least_gap: float) -> list[float]:
    """Heights in ascending order, moved apart until each has least_gap to the next, and close to
    those wanted."""
    placed = sorted(wanted)
    for _ in range(100):
        moved = False
        for low in range(len(placed) - 1):
            missing = least_gap - (placed[low + 1] - placed[low])
            if missing > 1e-9:
                placed[low] -= missing / 2
                placed[low + 1] += missing / 2
                moved = True
        if not moved:
            break
    return placed


Label = tuple[str, float, float, style.Look]  # text, x, y, properties of the text


def label_beside(axes: Axes, labels: Iterable[Label]) -> None:
    """Texts in a column right of the axes, each with a line to its point: no text covers another,
    however close the points are, and no line meets a text, since all texts are right of all
    points."""
    line_points = 12.5
    low, high = (math.log10(edge) for edge in axes.get_ylim())
    gap = (high - low) * line_points / (72 * axes.figure.get_figheight() * 0.72)
    labels = sorted(labels, key=lambda label: label[2])
    heights = spread_labels((math.log10(label[2]) for label in labels), gap)
    shift = min(0.0, high - heights[-1]) + max(0.0, low - heights[0])
    leader = {"arrowstyle": "-", "color": style.MUTED, "linewidth": 0.5}
    leader |= {"shrinkA": 1, "shrinkB": 5, "relpos": (0, 0.5)}
    common = {"textcoords": ("axes fraction", "data"), "va": "center", "fontsize": 9}
    for (text, x, y, look), height in zip(labels, heights):
        place = (1.03, 10 ** (height + shift))
        axes.annotate(text, (x, y), xytext=place, arrowprops=leader, **common, **look)


def plot_markers(axes: Axes, points: Sequence[tuple[float, float]], look: style.Look) -> None:
    """Points without lines between them."""
    axes.plot(*zip(*points), **{"linestyle": "none", "markersize": 9, **look})


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


def svg_text(figure: Figure, transparent: bool = False) -> str:
    """Without a date, so that the same picture has the same bytes."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=transparent)
    return compact_svg(buffer.getvalue())


def save(figure: Figure, folder: str, name: str, formats: Iterable[str]) -> list[str]:
    """Writes name.png, name.svg ...; returns the paths."""
    paths = []
    for kind in formats:
        paths.append(os.path.join(folder, f"{name}.{kind}"))
        if kind == "svg":
            write_whole(paths[-1], svg_text(figure))
            continue
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=150, metadata={"Software": None})
        write_whole(paths[-1], buffer.getvalue())
    return paths
