"""How far each backend's error drifts along the positions, to where no table of one run reaches."""

from collections.abc import Iterable, Sequence

from reporting.command import show_progress
from reporting.documents import Measurement
from reporting.figures import canvas, style
from reporting.figures.canvas import Figure
from reporting.figures.error import Curve, plot_error_curves
from reporting.posenc import Posenc

BACKENDS = "naive div_term xsimd rotation32 rotation"
# All positions up to here, and beyond it windows of consecutive positions at powers of two.
POWERS = range(14, 41)
WINDOW = 512


def measure_drift(posenc: Posenc) -> list[Measurement]:
    runs = [(0, 1 << POWERS[0]), *((1 << power, WINDOW) for power in POWERS)]
    found = []
    for done, (first, count) in enumerate(runs):
        show_progress(f"measuring errors: {100 * done // len(runs)} %")
        found += posenc.errors(first, count, 64, BACKENDS)
    show_progress()
    return found


def drift_of(measured: Iterable[Measurement]) -> dict[str, Curve]:
    """By backend, octave by octave; of each backend the ISA that errs most counts."""
    octaves: dict[str, dict[int, float]] = {}
    for each in measured:
        errors = octaves.setdefault(each.backend, {})
        for last, error in each.report.by_position if each.report else ():
            if last > 0:  # position 0 is exact in every backend
                errors[last] = max(errors.get(last, 0.0), error)
    return {name: sorted(errors.items()) for name, errors in octaves.items() if errors}


def draw_drift(measured: Sequence[Measurement], options: Sequence[str]) -> Figure:
    curves = drift_of(measured)
    figure, (axes,) = canvas.panels(width=8, height=4.6)
    best_first = sorted(curves, key=lambda name: curves[name][-1][1])
    plot_error_curves(axes, {name: curves[name] for name in reversed(best_first)})
    axes.set(ylim=(8e-9, 5))
    promise = "half an ulp of 1: no float32 table can promise less"
    canvas.small_text(axes, promise, (1, canvas.HALF_ULP), offset=(2, -11))
    labels: list[canvas.Label] = []
    for name in best_first:
        position, error = curves[name][-1]
        look = {"color": style.backend_style(name)["color"], "fontweight": "bold"}
        labels.append((name, position, max(error, canvas.LEAST_ERROR), look))
    canvas.label_beside(axes, labels)
    widths = ", ".join(map(str, sorted({each.table.d_model for each in measured})))
    note = f"float32, d_model {widths}; against the exact values {' '.join(options)}"
    canvas.title(axes, "How far the error drifts along the positions", note)
    return figure
