"""Pictures of an encoding: the table, single channels, and how alike two rows are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from measuring.errors import BadInput, need_numpy
from measuring.figures import canvas, style
from measuring.figures.canvas import Axes, Figure
from measuring.posenc import Posenc, Shape

CHANNEL_LOOKS = (
    *(style.BACKENDS[name] for name in ("rotation", "rotation32", "xsimd", "div_term")),
    *map(style.other_style, range(4)),
)
MOST_CHANNELS = len(CHANNEL_LOOKS)
# From light and thin to dark and wide: the widest rows have the smoothest curve.
SIMILARITY_LOOKS = {
    32: {"color": "#e9a23b", "linewidth": 1.3},
    128: {"color": style.TEAL, "linewidth": 1.8, "linestyle": (0, (5, 1))},
    512: {"color": style.NAVY, "linewidth": 2.6},
}


def _canvas(height: float) -> tuple[Figure, Axes]:
    figure, axes = canvas.pyplot().subplots(figsize=(8, height), layout="constrained")
    return figure, axes


def draw_heat_map(posenc: Posenc, shape: Shape, backend: str | None) -> Figure:
    table = posenc.table(shape.or_else(rows=100, d_model=128), backend)
    (rows, d_model), first = table.shape, shape.first or 0
    figure, axes = _canvas(4.6)
    image = canvas.heat_map(axes, table, first, vmin=-1, vmax=1)
    note = f"{rows} positions x {d_model} channels{shape.convention()}"
    canvas.title(axes, "A sinusoidal positional encoding", note)
    axes.set(xlabel="channel", ylabel="position")
    ticks = [-1, -0.5, 0, 0.5, 1]
    bar = figure.colorbar(image, ax=axes, label="value", ticks=ticks, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    return figure


def _channels_text(channels: Sequence[int]) -> str:
    """ "Channels 4 to 7", "Channels 0, 1, 8" or "Channel 4", of ascending channels."""
    if len(channels) == 1:
        return f"Channel {channels[0]}"
    if len(channels) == channels[-1] - channels[0] + 1:
        return f"Channels {channels[0]} to {channels[-1]}"
    return f"Channels {', '.join(map(str, channels))}"


def draw_channels(
    posenc: Posenc, shape: Shape, backend: str | None, channels: Sequence[int]
) -> Figure:
    """At most MOST_CHANNELS, ascending."""
    table = posenc.table(shape.or_else(rows=100, d_model=20), backend)
    (rows, d_model), first = table.shape, shape.first or 0
    if channels[-1] >= d_model:
        allowed = f"0 to {d_model - 1}, as d_model is {d_model}"
        raise BadInput(f"--channels names {channels[-1]}; allowed: {allowed}")
    figure, axes = _canvas(3.9)
    positions = range(first, first + rows)
    for channel, look in zip(channels, CHANNEL_LOOKS):
        marks = {"markevery": max(1, rows // 12), "markersize": 4.5}
        axes.plot(positions, table[:, channel], label=f"channel {channel}", **look, **marks)
    canvas.title(axes, f"{_channels_text(channels)} of d_model {d_model}{shape.convention()}")
    axes.set(xlabel="position", ylabel="value", ylim=(-1.08, 1.08), yticks=[-1, -0.5, 0, 0.5, 1])
    axes.margins(x=0.01)
    axes.grid(axis="y")
    columns = min(4, len(channels))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncol=columns, handlelength=3.5)
    return figure


def similarity(table: Any, distances: int) -> tuple[Any, float]:
    """By distance: the mean over the starts of row . row', divided by that of a row with itself;
    and the largest deviation from the mean."""
    numpy = need_numpy()
    table = table.astype(numpy.float64)
    starts = len(table) - distances
    products = numpy.stack(
        [(table[:starts] * table[d : d + starts]).sum(axis=1) for d in range(distances)]
    )
    products /= table.shape[1] / 2
    means = products.mean(axis=1)
    return means, float(abs(products - means[:, None]).max())


def draw_similarity(posenc: Posenc, shape: Shape, backend: str | None) -> Figure:
    distances = shape.rows or 256
    # As many starts as distances, so that the mean is over different positions.
    longer = replace(shape, rows=2 * distances)
    is_fixed = shape.d_model is not None or shape.preset is not None
    shapes = [longer] if is_fixed else [replace(longer, d_model=d) for d in SIMILARITY_LOOKS]
    figure, axes = _canvas(3.9)
    deviation = 0.0
    for each, look in zip(shapes, list(SIMILARITY_LOOKS.values())[-len(shapes) :]):
        table = posenc.table(each, backend)
        means, largest = similarity(table, distances)
        deviation = max(deviation, largest)
        axes.plot(range(distances), means, label=f"d_model {table.shape[1]}", **look)
    note = f"mean over {distances} first positions, which differ by {deviation:.0e} at most"
    heading = "How alike two rows are depends on their distance alone"
    canvas.title(axes, heading, note + shape.convention())
    bottom = min(0, axes.get_ylim()[0])
    axes.set(xlabel="distance (positions)", ylabel="dot product / (d_model / 2)")
    axes.set_ylim(bottom, 1.05)
    axes.margins(x=0.01)
    axes.grid(axis="y")
    axes.legend(loc="upper right", handlelength=3.5)
    return figure
