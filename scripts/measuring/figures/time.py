"""Figures of time: planning and single rows, and what more threads gain."""

from collections.abc import Mapping

from measuring.figures import canvas, style
from measuring.figures.canvas import Axes, Figure
from measuring.results.benchmarks import Benchmark
from measuring.results.machines import Machine
from measuring.units import seconds_text

LATENCIES = {  # kind of benchmark: what it times, the look of its marks
    "row_cursor": ("next row, from a cursor", {"marker": "o", "color": style.NAVY}),
    "row_next": ("next row, encoded alone", {"marker": "s", "color": style.TEAL}),
    "row_random": ("row at a random position", {"marker": "^", "color": style.ORANGE}),
    "plan": ("planning", {"marker": "D", "color": style.CRIMSON}),
}

Seconds = dict[str, dict[str, float]]  # of a row or a plan, by backend, by kind


def _latencies_of(machine: Machine) -> tuple[Seconds, int]:
    """At the d_model at which most kinds were measured, the widest of them; and that d_model."""
    found: dict[int, Seconds] = {}
    for kind in LATENCIES:
        for each in machine.of_kind(kind):
            parts = each.name.parts
            if parts.get("spacing", "paper") == "paper" and parts.get("bits", "20") == "20":
                of_kind = found.setdefault(int(parts["d"]), {}).setdefault(kind, {})
                of_kind[each.name.backend] = each.seconds / int(parts.get("rows", 1))
    if not found:
        return {}, 0
    width = max(found, key=lambda d: (len(found[d]), d))
    return found[width], width


def _time_axis(axes: Axes) -> None:
    """A logarithmic axis of seconds, with a label at each power of ten."""
    canvas.log_x_axis(axes)
    axes.set(xlabel="time")
    low, high = axes.get_xlim()
    ticks = [10.0**power for power in range(-9, 1) if low <= 10.0**power <= high]
    axes.set_xticks(ticks, [seconds_text(tick, significant=1) for tick in ticks])


def latency(machine: Machine, narrow: bool) -> Figure | None:
    values, width = _latencies_of(machine)
    if not values:
        return None
    least: dict[str, float] = {}
    for name, seconds in (pair for of_kind in values.values() for pair in of_kind.items()):
        least[name] = min(seconds, least.get(name, seconds))
    backends = sorted(least, key=least.__getitem__)
    height = max(4.4 if narrow else 3.8, 2.0 + 0.2 * len(backends))
    figure, (axes,) = canvas.panels(narrow, height=height)
    for kind, of_kind in values.items():
        places = [(of_kind[name], row) for row, name in enumerate(backends) if name in of_kind]
        text, look = LATENCIES[kind]
        canvas.plot_markers(axes, places, {**look, "markersize": 8, "label": text})
    axes.set_yticks(range(len(backends)), backends)
    axes.set_ylim(len(backends) - 0.5, -0.5)
    _time_axis(axes)
    axes.grid(True)
    canvas.title(axes, "Planning, and single rows", f"d_model {width}, one thread")
    canvas.legend_below(axes, 1 if narrow else 4)
    return figure


def _speed_ups_of(by_threads: Mapping[int, Benchmark]) -> dict[int, float]:
    """Over the time of one thread in the same run; if that was not timed, what the binary itself
    measured."""
    one = by_threads.get(1)
    if one:
        return {threads: one.seconds / each.seconds for threads, each in by_threads.items()}
    return {
        threads: each.counters["speed_up"]
        for threads, each in by_threads.items()
        if "speed_up" in each.counters
    }


def speed_ups(machine: Machine) -> dict[str, dict[str, dict[int, float]]]:
    """{shape: {backend: {threads: speed-up}}}, the smallest shape first. 1 for one thread."""
    found: dict[str, dict[str, dict[int, Benchmark]]] = {}
    threaded = (each for each in machine.of_kind("encode") if "threads" in each.name.parts)
    for each in sorted(threaded, key=lambda each: each.name.entries):
        of_shape = found.setdefault(each.name.table_size, {})
        of_shape.setdefault(each.name.backend, {})[int(each.name.parts["threads"])] = each
    curves: dict[str, dict[str, dict[int, float]]] = {}
    for shape, backends in found.items():
        for name, by_threads in backends.items():
            if values := _speed_ups_of(by_threads):
                curves.setdefault(shape, {})[name] = values
    return curves


def thread_scaling(machine: Machine, narrow: bool) -> Figure | None:
    curves = speed_ups(machine)
    if not curves:
        return None
    figure, panels = canvas.panels(narrow, len(curves), height=3.2 if narrow else 3.6)
    points = [
        point
        for backends in curves.values()
        for values in backends.values()
        for point in values.items()
    ]
    most = max(threads for threads, _ in points)
    top = 1.1 * max(most, *(value for _, value in points))
    for axes, (shape, backends) in zip(panels, curves.items()):
        axes.plot([1, most], [1, most], **style.LINES["ideal"], linewidth=1, label="ideal")
        for name, values in sorted(backends.items()):
            axes.plot(*zip(*sorted(values.items())), label=name, **style.backend_style(name))
        axes.set(xlabel="threads", ylabel="speed-up", ylim=(0, top))
        axes.set_xticks(sorted({threads for values in backends.values() for threads in values}))
        axes.grid(axis="y")
        canvas.title(axes, shape)
    canvas.legend_below(panels[-1 if narrow else len(panels) // 2], 2 if narrow else 3)
    return figure
