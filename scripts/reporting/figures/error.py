"""Figures of errors: along the positions, and by channel."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from reporting.documents import Machine, Measurement, Report, Table
from reporting.failures import need_module
from reporting.figures import canvas, style
from reporting.figures.canvas import Axes, Figure

Curve = Sequence[tuple[int, float]]  # last position of an octave, largest error
Reports = list[tuple[Measurement, Report]]


def _reports(machine: Machine, rank: Callable[[Report], int]) -> Reports:
    """Of each backend at its best ISA, the report of the table that ranks highest, of those from
    position 0 if there are some; the least accurate backend first."""
    measured = machine.best_isas(lambda each: each.report is not None)
    found = [(each, each.report) for each in measured if each.report]
    if not found:
        return []
    best = max(found, key=lambda pair: (pair[0].table.first == 0, rank(pair[1])))[0].table.encoded
    same = [pair for pair in found if pair[0].table.encoded == best]
    return sorted(same, key=lambda pair: -pair[0].error.max_abs if pair[0].error else 0.0)


def _note(table: Table) -> str:
    return f"positions {table.first} to {table.last}, d_model {table.d_model}"


def backend_line(backend: str) -> style.Look:
    """The look of a backend's line. The default backend's is wide and pale, so that those that
    coincide with it can be seen on it."""
    wide = {"linewidth": 4.5, "alpha": 0.55, "zorder": 1} if backend == "rotation" else {}
    return {**style.backend_style(backend), "label": backend, **wide}


def shown(errors: Iterable[float]) -> list[float]:
    """Errors on a logarithmic axis."""
    return [max(error, canvas.LEAST_ERROR) for error in errors]


def plot_error_curves(axes: Axes, curves: Mapping[str, Curve]) -> None:
    """The largest error of each backend along the positions, in the order of the curves."""
    in_color = style.colored(curves)
    for backend in [name for name in curves if name not in in_color]:
        positions, errors = zip(*curves[backend])
        axes.plot(positions, shown(errors), label=f"_{backend}", **style.PALE)
    if len(curves) > len(in_color):
        axes.plot([], [], label="others", **style.PALE)
    for index, backend in enumerate(name for name in curves if name in in_color):
        positions, errors = zip(*curves[backend])
        # Markers that coincide would hide each other.
        every = {"markevery": (index % 3, 3)}
        axes.plot(positions, shown(errors), **backend_line(backend), **every)
    canvas.half_ulp_line(axes, along="x")
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="position", ylabel="largest |error| in the octave")
    canvas.log_axis(axes.xaxis)
    axes.grid(True)


def error_along_position(machine: Machine) -> Figure | None:
    reports = _reports(machine, lambda report: len(report.by_position))
    # Position 0 is exact in every backend, and has no place on a logarithmic axis.
    octaves = {
        each.backend: [octave for octave in report.by_position if octave[0] > 0]
        for each, report in reports
    }
    curves = {backend: curve for backend, curve in octaves.items() if curve}
    if not curves:
        return None
    figure, (axes,) = canvas.panels()
    plot_error_curves(axes, curves)
    canvas.title(axes, "Error along the positions", _note(reports[0][0].table))
    canvas.legend_below(axes, 5)
    return figure


def error_by_channel(machine: Machine) -> Figure | None:
    numpy = need_module("numpy")
    reports = _reports(machine, lambda report: len(report.by_channel))
    if not reports or not reports[0][1].by_channel:
        return None
    figure, (axes,) = canvas.panels(height=1.6 + 0.22 * max(8, len(reports)))
    errors = numpy.log10([shown(report.by_channel) for _, report in reports])
    image = canvas.heat_map(axes, errors)
    axes.set_yticks(range(len(reports)), [each.backend for each, _ in reports])
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="channel")
    for boundary in range(1, len(reports)):
        axes.axhline(boundary - 0.5, color=style.PAPER, linewidth=2)
    bar = figure.colorbar(image, ax=axes, label="largest |error|", aspect=25, pad=0.02)
    powers = list(range(math.ceil(image.norm.vmin), math.floor(image.norm.vmax) + 1))
    bar.set_ticks(powers, labels=[f"$10^{{{power}}}$" for power in powers])
    bar.outline.set_visible(False)
    canvas.title(axes, "Error by channel", _note(reports[0][0].table))
    return figure
