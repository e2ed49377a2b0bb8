"""Figures of errors: along the positions, by channel, and their quantiles."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from measuring.errors import need_numpy
from measuring.figures import canvas, style
from measuring.figures.canvas import Axes, Figure
from measuring.results.accuracy import AccuracyReport
from measuring.results.machines import Machine, best_isa_only

Curve = Sequence[tuple[int, float]]  # last position of an octave, largest error


def is_tutorial(report: AccuracyReport) -> bool:
    """The tutorial's table: 5000 rows of 512 channels."""
    return report.spec.d_model == 512 and report.rows.count == 5000


def best_reports(machine: Machine, rank: Callable[[AccuracyReport], Any]) -> list[AccuracyReport]:
    """Of each backend at its best ISA, the report that ranks highest: all over the same rows and
    spec, the least accurate first."""
    if not machine.accuracy:
        return []
    best = max(machine.accuracy, key=rank)
    same = [each for each in machine.accuracy if (each.spec, each.rows) == (best.spec, best.rows)]
    found = best_isa_only(same, lambda each: each.backend, lambda each: each.isa)
    return sorted(found, key=lambda each: -each.max_abs)


def _shape_note(report: AccuracyReport) -> str:
    rows = report.rows
    return f"positions {rows.first} to {rows.last}, d_model {report.spec.d_model}"


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
    for index, (backend, curve) in enumerate(curves.items()):
        positions, errors = zip(*curve)
        # Markers that coincide would hide each other.
        every = {"markevery": (index % 3, 3)}
        axes.plot(positions, shown(errors), **backend_line(backend), **every)
    canvas.half_ulp_line(axes, along="x")
    canvas.log_x_axis(axes)
    axes.set(yscale="log", xlabel="position", ylabel="largest |error| in the octave")
    axes.grid(True)


def error_along_position(machine: Machine, narrow: bool) -> Figure | None:
    reports = best_reports(machine, lambda report: report.rows.last)
    curves = {
        # Position 0 is exact in every backend, and has no place on a logarithmic axis.
        report.backend: [octave for octave in report.by_position if octave[0] > 0]
        for report in reports
    }
    curves = {backend: curve for backend, curve in curves.items() if curve}
    if not curves:
        return None
    figure, (axes,) = canvas.panels(narrow)
    plot_error_curves(axes, curves)
    canvas.title(axes, "Error along the positions", _shape_note(reports[0]))
    canvas.legend_below(axes, 2 if narrow else 5)
    return figure


def error_by_channel(machine: Machine, narrow: bool) -> Figure | None:
    numpy = need_numpy()
    has_tutorial = any(map(is_tutorial, machine.accuracy))
    by_size = (lambda report: report.rows.count) if not has_tutorial else is_tutorial
    reports = [report for report in best_reports(machine, by_size) if report.by_channel]
    if not reports:
        return None
    figure, (axes,) = canvas.panels(narrow, height=3.6 if narrow else 3.4)
    errors = numpy.log10([shown(report.by_channel) for report in reports])
    image = canvas.heat_map(axes, errors)
    axes.set_yticks(range(len(reports)), [report.backend for report in reports])
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="channel")
    for boundary in range(1, len(reports)):
        axes.axhline(boundary - 0.5, color=style.PAPER, linewidth=2)
    _add_color_bar(figure, axes, image, "horizontal" if narrow else "vertical")
    canvas.title(axes, "Error by channel", _shape_note(reports[0]))
    return figure


def _add_color_bar(figure: Figure, axes: Axes, image: Any, orientation: str) -> None:
    """A bar of powers of ten, for an image of logarithms."""
    low, high = image.norm.vmin, image.norm.vmax
    bar = figure.colorbar(
        image, ax=axes, label="largest |error|", orientation=orientation, aspect=25, pad=0.02
    )
    ticks = range(math.ceil(low), math.floor(high) + 1)
    bar.set_ticks(list(ticks), labels=[f"$10^{{{power}}}$" for power in ticks])
    bar.outline.set_visible(False)


def error_quantiles(machine: Machine, narrow: bool) -> Figure | None:
    reports = [report for report in best_reports(machine, is_tutorial) if report.quantiles]
    if not reports:
        return None
    figure, (axes,) = canvas.panels(narrow)
    shares = [share for share, _ in reports[0].quantiles]
    for report in reports:
        errors = shown(error for _, error in report.quantiles)
        axes.plot(range(len(shares)), errors, **backend_line(report.backend))
    canvas.half_ulp_line(axes, along="x")
    names = [f"{100 * share:g} %" for share in shares]
    axes.set_xticks(range(len(shares)), names, fontsize=8 if narrow else 9)
    axes.set(yscale="log", xlabel="share of the entries", ylabel="|error| at most")
    axes.grid(True)
    canvas.title(axes, "How errors are distributed", _shape_note(reports[0]))
    canvas.legend_below(axes, 2 if narrow else 5)
    return figure
