"""The parts of a report's page that are text: facts, picks, tables."""

import os
from collections.abc import Sequence

from measuring import page
from measuring.comparison import tables as comparison
from measuring.results.machines import Machine
from measuring.results.picks import Pick
from measuring.speeds import HEADER, LEFT, noise_note, notes_of, speeds_of
from measuring.tables import Cell
from measuring.units import error_text, percent

NOISY = 0.1  # a relative IQR
SHAPE_CLASSES = ("l1", "l2", "l3", "memory")
IQR = "relative IQR"


def facts(machine: Machine) -> str:
    context = machine.context

    def joined(separator: str, *keys: str) -> str:
        return separator.join(str(context[key]) for key in keys if context.get(key))

    return page.facts({
        "CPU": machine.cpu,
        "instruction sets": context.get("isas"),
        "caches": context.get("cache_sizes"),
        "cores": context.get("num_cpus"),
        "huge pages": context.get("huge_pages"),
        "compiler": joined(" ", "compiler", "compiler_flags"),
        "posenc": joined(", ", "posenc_version", "posenc_commit"),
        "xsimd": context.get("xsimd_version"),
        "noise": noise_note(context),
        "PyTorch": machine.torch_context.get("torch_version"),
        "measured": context.get("date"),
        "results": ", ".join(map(os.path.basename, machine.files)),
    })  # fmt: skip


def speeds(machine: Machine) -> str:
    """The table of scripts/summary.py, with the noise of each time."""
    found = speeds_of(machine.benchmarks.values(), machine.accuracy)
    if not found:
        return ""
    rows = []
    for each in found:
        cells = each.cells()
        iqr = "-" if each.benchmark.error else percent(each.benchmark.relative_iqr)
        rows.append([*cells[:5], iqr, *cells[5:]])
    caption = "Every preset and backend; press a heading to sort by it"
    return (
        '<h3 id="speeds">All speeds and errors</h3>\n'
        + page.table(caption, [*HEADER[:5], IQR, *HEADER[5:]], rows, LEFT)
        + "".join(map(page.paragraph, notes_of(found)))
    )


def _reason_text(pick: Pick) -> str:
    """Why it was picked."""
    budget = f", within the budget of {pick.budget}" if pick.budget else ""
    text = f"Its largest error is {error_text(pick.max_abs)}{budget}."
    if pick.ties:
        text += f" It is a tie with {', '.join(pick.ties)}."
    elif pick.next:
        text += f" The next, {pick.next}, takes {percent(pick.margin)} more time."
    if pick.noise_floor is not None:
        text += f" A backend differs from itself by up to {percent(pick.noise_floor)} here."
    return text


def picks(machine: Machine) -> str:
    if not machine.picks:
        return ""
    header = ("tables in", "threads", "picked", "Gfloat/s", IQR, "why")
    rows: list[list[Cell]] = [
        [
            (pick.shape_class, SHAPE_CLASSES.index(pick.shape_class)),
            str(pick.threads),
            pick.backend,
            f"{pick.gfloats:.2f}",
            percent(pick.relative_iqr),
            _reason_text(pick),
        ]
        for pick in machine.picks
    ]
    noisy = max(pick.relative_iqr for pick in machine.picks) > NOISY
    warning = "The machine was noisy while these were timed: pick again when it is idle."
    caption = "The fastest backend within the error budget, by where the table lives"
    return (
        '<h3 id="pick">The pick, and why</h3>\n'
        + page.table(caption, header, rows, left=(0, 2, 5))
        + page.paragraph(warning if noisy else "")
    )


def against_torch(machine: Machine) -> str:
    benchmarks = list(machine.torch.values())
    rows = comparison.rows_of(benchmarks)
    if not rows:
        return ""
    caption = "Times side by side, equal threads, taking turns"
    return (
        "<h3>Against PyTorch</h3>\n"
        + page.table(caption, comparison.HEADER, rows, comparison.LEFT)
        + page.paragraph(comparison.noise_note(benchmarks))
    )


def _introduction_of(machine: Machine) -> str:
    """What was picked; empty if nothing was."""
    if not machine.picks:
        return ""
    best = max(machine.picks, key=lambda pick: pick.gfloats)
    names = sorted({pick.backend for pick in machine.picks})
    verb = "is" if len(names) == 1 else "are"
    budget = f" within an error of {best.budget}" if best.budget else ""
    speed = f": up to {best.gfloats:.3g} Gfloat/s on one thread" if best.threads == 1 else ""
    return f"On {machine.cpu}, {' and '.join(names)} {verb} the fastest{budget}{speed}."


def introduction(machines: Sequence[Machine]) -> str:
    none = "No pick is among these results: posenc pick --format json gives one."
    lines = [line for line in map(_introduction_of, machines) if line]
    return "".join(map(page.paragraph, lines or [none]))
