"""Pictures of an encoding: the table, and single channels."""

from collections.abc import Sequence

from reporting.failures import BadInput
from reporting.figures import canvas, style
from reporting.figures.canvas import Figure
from reporting.posenc import Posenc

CHANNEL_LOOKS = (
    *(style.BACKENDS[name] for name in ("rotation", "rotation32", "xsimd", "div_term")),
    *map(style.other_style, range(4)),
)
MOST_CHANNELS = len(CHANNEL_LOOKS)


def draw_heat_map(posenc: Posenc) -> Figure:
    table = posenc.table(rows=100, d_model=128)
    rows, d_model = table.shape
    figure, (axes,) = canvas.panels(width=8, height=4.6)
    image = canvas.heat_map(axes, table, int(posenc.option("--first") or 0), vmin=-1, vmax=1)
    note = f"{rows} positions x {d_model} channels {' '.join(posenc.options)}"
    canvas.title(axes, "A sinusoidal positional encoding", note)
    axes.set(xlabel="channel", ylabel="position")
    ticks = [-1, -0.5, 0, 0.5, 1]
    bar = figure.colorbar(image, ax=axes, label="value", ticks=ticks, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    return figure


def draw_channels(posenc: Posenc, channels: Sequence[int]) -> Figure:
    """At most MOST_CHANNELS, ascending."""
    table = posenc.table(rows=100, d_model=20)
    (rows, d_model), first = table.shape, int(posenc.option("--first") or 0)
    if channels[-1] >= d_model:
        allowed = f"0 to {d_model - 1}, as d_model is {d_model}"
        raise BadInput(f"--channels names {channels[-1]}; allowed: {allowed}")
    figure, (axes,) = canvas.panels(width=8, height=3.9)
    for channel, look in zip(channels, CHANNEL_LOOKS):
        marks = {"markevery": max(1, rows // 12), "markersize": 4.5, "label": f"channel {channel}"}
        axes.plot(range(first, first + rows), table[:, channel], **look, **marks)
    canvas.title(axes, f"Channels of d_model {d_model} {' '.join(posenc.options)}")
    axes.set(xlabel="position", ylabel="value", ylim=(-1.08, 1.08), yticks=[-1, -0.5, 0, 0.5, 1])
    axes.margins(x=0.01)
    axes.grid(axis="y")
    canvas.legend_below(axes, min(4, len(channels)))
    return figure
