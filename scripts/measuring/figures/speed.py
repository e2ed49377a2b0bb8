"""Figures of speed: against error, over the size of the table, and across CPUs."""

import math
import textwrap
from collections.abc import Mapping, Sequence

from measuring.figures import canvas, style
from measuring.figures.canvas import Axes, Figure, Label
from measuring.results.benchmarks import Benchmark
from measuring.results.machines import Machine
from measuring.speeds import Speed, speeds_of
from measuring.units import size_text

TUTORIAL = "tutorial"
LIMITS = {
    "copy": "copy of a finished table",
    "non_temporal_store": "limit: non-temporal stores",
    "store": "limit: stores",
}


def _quoted_presets(machine: Machine) -> dict[str, list[tuple[Benchmark, float]]]:
    """Of two presets that have speeds and errors, the tutorial's (else the smallest) and the
    largest, their benchmarks and largest errors."""
    points: dict[str, list[tuple[Benchmark, float]]] = {}
    speeds: list[Speed] = speeds_of(machine.presets(), machine.accuracy)
    for each in speeds:  # the smallest preset first
        if each.accuracy:
            error = max(each.accuracy.max_abs, canvas.LEAST_ERROR)
            points.setdefault(each.preset, []).append((each.benchmark, error))
    order = list(points)
    first = TUTORIAL if TUTORIAL in points else (order or [""])[0]
    return {preset: points[preset] for preset in dict.fromkeys([first, *order[-1:]]) if preset}


def _draw_point(axes: Axes, benchmark: Benchmark, error: float) -> Label:
    """The mark of a backend, filled if it is of the library."""
    backend, gfloats = benchmark.name.backend, benchmark.gfloats
    look, is_ours = style.backend_style(backend), backend in style.BACKENDS
    hollow = {"markerfacecolor": style.PAPER, "markeredgewidth": 1.4, "markersize": 8}
    mark = {"marker": look["marker"], "color": look["color"], "zorder": 3, "label": backend}
    canvas.plot_markers(axes, [(error, gfloats)], mark if is_ours else {**mark, **hollow})
    bold = {"color": look["color"], "fontweight": "bold"}
    return backend, error, gfloats, bold if is_ours else {"color": style.INK}


def speed_against_error(machine: Machine, narrow: bool) -> Figure | None:
    presets = _quoted_presets(machine)
    if not presets:
        return None
    most = 1 + max(len(points) for points in presets.values())
    figure, panels = canvas.panels(narrow, len(presets), height=max(4.6, 1.4 + 0.24 * most))
    for axes, (preset, points) in zip(panels, presets.items()):
        # The fastest last, so that no other mark covers it.
        labels = [_draw_point(axes, *point) for point in reversed(points)]
        limit = max(benchmark.limit_gfloats for benchmark, _ in points)
        if limit:
            axes.axhline(limit, color=style.INK, linewidth=1.2)
        canvas.half_ulp_line(axes, along="y")
        canvas.log_x_axis(axes)
        axes.set(yscale="log", xlabel="largest |error|", ylabel="Gfloat/s")
        axes.set_xlim(1e-8, max(2e-6, 4 * max(error for _, error in points)))
        speeds = [benchmark.gfloats for benchmark, _ in points]
        axes.set_ylim(min(speeds) / 2.6, 2.2 * max([limit, *speeds]))
        canvas.label_beside(axes, labels)
        # In the note, since a text at the line would cover the lines to the labels.
        note = f"{points[0][0].name.table_size}, one thread"
        if limit:
            note += f"; line: {'limit' if narrow else 'limit of the memory,'} {limit:.3g}"
        canvas.title(axes, preset, note)
        axes.grid(True)
    return figure


Curves = dict[str, dict[int, float]]  # 10^9 entries a second by bytes of the table, by name


def _swept_curves(machine: Machine) -> Curves:
    """Of each backend over the sizes; of the presets, if no sweep over sizes was measured."""
    found = machine.of_kind("encode")
    swept = [each for each in found if each.name.parts.keys() == {"rows", "d"}]
    curves: Curves = {}
    for each in swept or machine.presets():
        size = 4 * each.name.entries
        curves.setdefault(each.name.backend, {}).setdefault(size, each.gfloats)
    return curves


def _limit_curves(machine: Machine) -> Curves:
    curves: Curves = {}
    for each in machine.of_kind("limit"):
        if each.name.subject in LIMITS and each.name.bytes is not None:
            curves.setdefault(each.name.subject, {})[each.name.bytes] = each.gfloats
    return dict(sorted(curves.items()))


def _name_caches(axes: Axes, caches: Sequence[tuple[str, int]], low: float, high: float) -> None:
    """A dotted line at the size of each cache between two sizes in bytes."""
    for level, size in caches:
        if low < size < high:
            axes.axvline(size, color=style.MUTED, linewidth=0.9, linestyle=":")
            place = {"xycoords": ("data", "axes fraction"), "ha": "right", "va": "top"}
            canvas.small_text(axes, level, (size, 1), offset=(-3, -3), **place)


def _size_axis(axes: Axes, sizes: Sequence[int], step: int) -> tuple[float, float]:
    """A logarithmic axis of sizes in bytes, with a label at each step-th power of two. Its ends."""
    axes.set_xscale("log", base=2)
    powers = range(int(math.log2(min(sizes))), int(math.log2(max(sizes))) + 2, step)
    axes.set_xticks([2.0**power for power in powers], [size_text(2**power) for power in powers])
    axes.minorticks_off()
    ends = min(sizes) / 1.6, max(sizes) * 1.6
    axes.set_xlim(*ends)
    return ends


def throughput_over_size(machine: Machine, narrow: bool) -> Figure | None:
    curves, limits = _swept_curves(machine), _limit_curves(machine)
    if not curves:
        return None
    figure, (axes,) = canvas.panels(narrow, height=None if narrow else 5.0)
    for kind, values in limits.items():
        points = zip(*sorted(values.items()))
        axes.plot(*points, **style.LINES[kind], linewidth=1.2, label=LIMITS[kind])
    for name in sorted(curves, key=lambda name: -max(curves[name].values())):
        axes.plot(*zip(*sorted(curves[name].items())), label=name, **style.backend_style(name))
    axes.set(yscale="log", xlabel="size of the table", ylabel="Gfloat/s")
    sizes = [size for values in [*curves.values(), *limits.values()] for size in values]
    ends = _size_axis(axes, sizes, step=4 if narrow else 2)
    axes.set_ylim(top=1.7 * axes.get_ylim()[1])  # room for the names of the caches
    _name_caches(axes, machine.caches(), *ends)
    axes.grid(axis="y")
    heading = "Throughput by size" if narrow else "Throughput by size of the table"
    canvas.title(axes, heading, "float32, warm memory, one thread")
    canvas.legend_below(axes, 2 if narrow else 4)
    return figure


def _most_common_preset(machines: Sequence[Machine]) -> str:
    """The preset that most machines have; empty if none has one."""
    counts: dict[str, int] = {}
    for machine in machines:
        for preset in {each.name.parts["preset"] for each in machine.presets()}:
            counts[preset] = counts.get(preset, 0) + 1
    order = sorted(counts, key=lambda name: (counts[name], name == TUTORIAL, name))
    return order[-1] if order else ""


def _speeds_across(machines: Sequence[Machine], preset: str) -> Mapping[str, dict[str, float]]:
    """10^9 entries a second by backend, by CPU."""
    speeds = {
        machine.cpu: {
            each.name.backend: each.gfloats
            for each in machine.presets()
            if each.name.parts["preset"] == preset
        }
        for machine in machines
    }
    return {cpu: values for cpu, values in speeds.items() if values}


def across_cpus(machines: Sequence[Machine], narrow: bool) -> Figure | None:
    """Speed of each backend on each machine, for the preset that most machines have."""
    preset = _most_common_preset(machines)
    if not preset:
        return None
    speeds = _speeds_across(machines, preset)
    most: dict[str, float] = {}
    for name, gfloats in (pair for values in speeds.values() for pair in values.items()):
        most[name] = max(gfloats, most.get(name, 0.0))
    figure, (axes,) = canvas.panels(narrow, height=(2.3 if narrow else 1.8) + 0.55 * len(speeds))
    for name in sorted(most, key=lambda name: -most[name]):
        rows = enumerate(speeds.values())
        points = [(values[name], place) for place, values in rows if name in values]
        look = style.backend_style(name)
        canvas.plot_markers(axes, points, {**look, "linestyle": "none", "label": name})
    names = ["\n".join(textwrap.wrap(cpu, 18 if narrow else 30)) for cpu in speeds]
    axes.set_yticks(range(len(speeds)), names, fontsize=8 if narrow else 9)
    axes.set_ylim(len(speeds) - 0.5, -0.5)
    canvas.log_x_axis(axes)
    axes.set(xlabel="Gfloat/s")
    axes.grid(True)
    note = f"{preset}, one thread" if narrow else f"preset {preset}, best ISA of each, one thread"
    canvas.title(axes, "Across CPUs", note)
    canvas.legend_below(axes, 2 if narrow else 5)
    return figure
