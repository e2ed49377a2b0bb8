"""Figures of bars: what element types cost, and what memory that nobody has touched costs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reporting.documents import BYTES_OF_TYPE, MEMORIES, Machine, Table
from reporting.figures import canvas, style
from reporting.figures.canvas import Axes, Figure
from reporting.units import speed_text

Groups = Mapping[str, Mapping[str, float]]  # {group: {series: speed}}, in the order of the bars


def _bars(axes: Axes, groups: Groups, series: Iterable[str]) -> None:
    """Bars beside each other in each group, with their numbers above them."""
    names = list(series)
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        found = [(at, group[name]) for at, group in enumerate(groups.values()) if name in group]
        heights = [speed for _, speed in found]
        left = [at - 0.4 + (place + 0.5) * width for at, _ in found]
        color = style.backend_style(name)["color"]
        bars = axes.bar(left, heights, 0.92 * width, color=color, label=name)
        texts = [speed_text(speed) for speed in heights]
        axes.bar_label(bars, texts, padding=2, fontsize=8)
    axes.set_xticks(range(len(groups)), list(groups), fontsize=9)
    axes.tick_params(axis="x", length=0)
    axes.margins(y=0.12)
    axes.grid(axis="y")


def _side_by_side(tables: Mapping[str, Groups], unit: str, note: str) -> Figure | None:
    if not tables:
        return None
    names = [name for groups in tables.values() for group in groups.values() for name in group]
    series = style.colored(sorted(dict.fromkeys(names)))
    figure, panels = canvas.panels(len(tables), height=3.6)
    for axes, (size, groups) in zip(panels, tables.items()):
        _bars(axes, groups, series)
        canvas.title(axes, size, note)
    panels[0].set_ylabel(unit)
    canvas.legend_below(panels[len(panels) // 2], 6)
    return figure


def element_types(machine: Machine) -> Figure | None:
    """Of the library's backends: the smallest and the largest table that has several types."""
    speeds: dict[Table, dict[str, dict[str, float]]] = {}
    for each in machine.timed(lambda each: each.role == "backend" and each.table.threads == 1):
        alike = replace(each.table, dtype="float32")
        of_type = speeds.setdefault(alike, {}).setdefault(each.table.dtype, {})
        of_type[each.backend] = each.speed
    several = sorted((t for t in speeds if len(speeds[t]) > 1), key=lambda table: table.entries)
    shown: dict[str, Groups] = {}
    for table in dict.fromkeys([*several[:1], *several[-1:]]):
        types = [dtype for dtype in BYTES_OF_TYPE if dtype in speeds[table]]
        # Of each type, those that were measured in more than one.
        counted = [name for dtype in types for name in speeds[table][dtype]]
        shown[table.name] = {
            dtype: {name: value for name, value in speeds[table][dtype].items()
                    if counted.count(name) > 1}
            for dtype in types
        }  # fmt: skip
    return _side_by_side(shown, "10⁹ elements/s", "warm memory, one thread")


def fresh_memory(machine: Machine) -> Figure | None:
    """The smallest and the largest table of bench_encode's encode_fresh, beside the same into warm
    memory."""
    warm = {
        (each.backend, each.table.size): each.speed
        for each in machine.timed(lambda each: each.table.dtype == "float32")
        if each.table.threads == 1
    }
    shown: dict[str, dict[str, dict[str, float]]] = {}
    for (backend, size), speeds in machine.fresh.items():
        groups = shown.setdefault(size, {text: {} for text in ("warm", *MEMORIES.values())})
        if (backend, size) in warm:
            groups["warm"][backend] = warm[backend, size]
        for memory, speed in speeds.items():
            groups[MEMORIES[memory]][backend] = speed
    full = {size: {text: group for text, group in groups.items() if group}
            for size, groups in shown.items()}  # fmt: skip
    sizes = list(full)
    ends = dict.fromkeys([*sizes[:1], *sizes[-1:]])
    return _side_by_side({size: full[size] for size in ends}, "Gfloat/s", "float32, one thread")
