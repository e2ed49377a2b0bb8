"""The documents that are kept of each kind of CPU, in docs/measured: their names, the page that
shows them all, and the tables of the README."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from reporting.documents import Machine, Table, measurement_of, read_machines
from reporting.failures import BadInput
from reporting.files import ROOT, write_whole
from reporting.summary import summary_at, table_of_all_isas
from reporting.tables import markdown_table
from reporting.units import size_text

FOLDER = Path(ROOT, "docs", "measured")
PAGE = Path(ROOT, "docs", "measured.md")
README = Path(ROOT, "README.md")

# In the README, a comment says which document, ISA and sizes stand between it and the end.
BLOCK = re.compile(
    r"(?P<start><!-- measured: (?P<name>\S+) (?P<isa>\S+)\s(?P<sizes>[\dx ]+) -->\n)"
    r".*?(?P<end><!-- end -->\n)",
    re.DOTALL,
)
INTRODUCTION = """# How fast is it on which CPU?

Gfloat/s of one thread into warm memory, set-up excluded: medians of processes, as `posenc measure`
wrote them. Of each kind of CPU, [measured/](measured) has the newest document. The rows are the
backends at each instruction set; a program gets the best one that its CPU has. The last rows are
the limits of the memory for the same bytes: loops of plain and of non-temporal stores, and a copy
of a finished table.

`./scripts/measured.py` compares the CPU at hand with its document, and with `--keep` it writes the
document, this page and the README's tables ([benchmarks.md](benchmarks.md#speeds-are-remembered)).
"""


@dataclass(frozen=True)
class Kept:
    """A document of the folder."""

    path: Path
    machine: Machine


def file_name(machine: Machine) -> str:
    """Of the CPU's name and best ISA: "amd-epyc-family-26-model-2-stepping-1-avx512.json". posenc
    compare judges times if both documents have the same of either."""
    words = re.sub(r"(\((r|tm)\)|[^a-z0-9])+", "-", f"{machine.cpu} {machine.isas[-1]}".lower())
    return f"{words.strip('-')}.json"


def read_machine(path: Path) -> Machine:
    (machine,) = read_machines([str(path)])
    if not machine.isas:
        raise BadInput(f"{path}: names no ISA of its CPU; allowed: what posenc measure writes")
    return machine


def read_kept() -> list[Kept]:
    return [Kept(path, read_machine(path)) for path in sorted(FOLDER.glob("*.json"))]


def page_of(kept: Sequence[Kept]) -> str:
    rows = [
        [each.machine.cpu, each.machine.isas[-1], str(each.machine.facts["compiler"]),
         str(each.machine.facts["measured_at"])[:10], f"[JSON](measured/{each.path.name})"]
        for each in kept
    ]  # fmt: skip
    left = range(5)
    parts = [INTRODUCTION, markdown_table(["CPU", "ISA", "compiler", "date", ""], rows, left)]
    for each in kept:
        facts = [f"{level} {size_text(size)}" for level, size in each.machine.caches.items()]
        facts += [f"{each.machine.facts['logical_cores']} logical cores"]
        facts += [f"kernels {each.machine.facts['kernels']}"]
        parts += [
            f"\n## {each.machine.cpu}, {each.machine.isas[-1]}\n",
            f"{', '.join(facts)}\n",
            table_of_all_isas(each.machine),
        ]
    return "\n".join(parts) + "\n"


def readme_of(text: str, kept: Sequence[Kept]) -> str:
    """The README with its tables made anew. Refuses one that shows no document, or one that is not
    kept."""
    by_name = {each.path.name: each.machine for each in kept}

    def block(found: re.Match[str]) -> str:
        machine = by_name.get(found["name"])
        if machine is None or found["isa"] not in machine.isas:
            known = ", ".join(by_name) or "none"
            raise BadInput(
                f"{README} shows {found['name']} at {found['isa']}; allowed: an ISA of {known}"
            )
        sizes = [size.replace("x", " x ") for size in found["sizes"].split()]
        shown = summary_at(machine, found["isa"], sizes)
        return f"{found['start']}\n{shown}\n\n{found['end']}"

    made, count = BLOCK.subn(block, text)
    if count == 0:
        raise BadInput(f"{README} shows no document; allowed: tables between '<!-- measured:' "
                       "NAME.json ISA ROWSxD... '-->' and '<!-- end -->'")  # fmt: skip
    return made


def keep(document: Path, machine: Machine) -> None:
    """Writes the document of a CPU, the page and the README; nothing if one of them cannot be
    made."""
    path = FOLDER / file_name(machine)
    others = [each for each in read_kept() if each.path != path]
    kept = sorted([*others, Kept(path, machine)], key=lambda each: each.path)
    page, readme = page_of(kept), readme_of(README.read_text(encoding="utf-8"), kept)
    FOLDER.mkdir(exist_ok=True)
    write_whole(str(path), document.read_bytes())
    write_whole(str(PAGE), page)
    write_whole(str(README), readme)


def limit_ratios(before: Machine, after: Machine) -> dict[Table, float]:
    """Of each table of both, the time of the store limit in the later document over that in the
    earlier one. They explain a verdict, and change none."""
    limits = {each.table: (before.limit(each.table), after.limit(each.table))
              for each in after.measurements}  # fmt: skip
    return {table: old / new for table, (old, new) in limits.items() if old and new}


def changed_rows(comparison: Mapping[str, Any], limits: Mapping[Table, float]) -> list[list[str]]:
    """Of a comparison of posenc compare, the rows with a verdict other than "same": backend, table,
    time of the later document over the earlier one, the same of the store limit, verdict."""
    rows = []
    for row in comparison["rows"]:
        sides = [measurement_of(row[side]) for side in ("before", "after") if row[side]]
        if row["verdict"] == "same":
            continue
        is_timed = len(sides) == 2 and all(each.seconds for each in sides)
        limit = limits.get(sides[0].table)
        rows.append([
            row["backend"], row["table"], f"{row['time_ratio']:.3f}" if is_timed else "-",
            f"{limit:.3f}" if limit else "-", row["verdict"],
        ])  # fmt: skip
    return rows


def limits_text(limits: Mapping[Table, float]) -> str:
    if not limits:
        return "No store limits in common"
    ratios = sorted(limits.values())
    return (
        f"Time of the store limits, now / kept: {median(ratios):.3f} "
        f"({ratios[0]:.3f} to {ratios[-1]:.3f} over {len(ratios)} tables)"
    )
