"""The picture of an encoding: its table."""

from reporting.figures import canvas
from reporting.figures.canvas import Figure
from reporting.posenc import Posenc


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
