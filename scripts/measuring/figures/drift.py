"""How far each backend's error drifts along the positions, to where no table of one run reaches."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from measuring.command import show_progress
from measuring.errors import BadInput
from measuring.figures import canvas, style
from measuring.figures.canvas import Figure
from measuring.figures.errors import Curve, plot_error_curves
from measuring.posenc import Posenc, Shape
from measuring.results.accuracy import AccuracyReport

BACKENDS = ("naive", "div_term", "xsimd", "rotation32", "rotation")
# All positions up to here, and beyond it windows of consecutive positions at powers of two.
ROWS = 1 << 14
WINDOW = 512
LAST_POWER = 40


def measure_drift(posenc: Posenc, shape: Shape, backends: Sequence[str]) -> list[AccuracyReport]:
    """Reports over all positions up to ROWS (or the shape's rows), and over the windows beyond."""
    rows = shape.rows or ROWS
    powers = range((rows - 1).bit_length(), LAST_POWER + 1)
    runs = [(0, rows), *((1 << power, WINDOW) for power in powers)]
    reports = []
    for done, (first, count) in enumerate(runs):
        show_progress(f"measuring errors: {100 * done // len(runs)} %")
        place = replace(shape.or_else(d_model=64), first=first, rows=count)
        reports += posenc.accuracy(place, backends or BACKENDS)
    show_progress()
    return reports


def drift_of(reports: Iterable[AccuracyReport]) -> dict[str, Curve]:
    """By backend, octave by octave; of each backend the ISA that errs most counts."""
    octaves: dict[str, dict[int, float]] = {}
    for report in reports:
        errors = octaves.setdefault(report.backend, {})
        for last, error in report.by_position:
            if last > 0:  # position 0 is exact in every backend
                errors[last] = max(errors.get(last, 0.0), error)
    return {name: sorted(errors.items()) for name, errors in octaves.items() if errors}


def _label_of(backend: str, end: tuple[int, float]) -> canvas.Label:
    """Where the curve ends."""
    color = style.backend_style(backend)["color"]
    bold = {"color": color, "fontweight": "bold"}
    return backend, end[0], max(end[1], canvas.LEAST_ERROR), bold


def draw_drift(reports: Sequence[AccuracyReport], convention: str) -> Figure:
    curves = drift_of(reports)
    if not curves:
        raise BadInput(
            "no errors along positions above 0 in the accuracy reports; "
            "allowed: reports with by_position"
        )
    figure, axes = canvas.pyplot().subplots(figsize=(8, 4.6), layout="constrained")
    best_first = sorted(curves, key=lambda name: curves[name][-1][1])
    plot_error_curves(axes, {name: curves[name] for name in reversed(best_first)})
    axes.set(ylim=(8e-9, 5))
    promise = "half an ulp of 1: no float32 table can promise less"
    canvas.small_text(axes, promise, (1, canvas.HALF_ULP), offset=(2, -11))
    canvas.label_beside(axes, [_label_of(name, curves[name][-1]) for name in best_first])
    widths = ", ".join(map(str, sorted({report.spec.d_model for report in reports})))
    note = f"float32, d_model {widths}{convention}; against the exact values"
    canvas.title(axes, "How far the error drifts along the positions", note)
    return figure
