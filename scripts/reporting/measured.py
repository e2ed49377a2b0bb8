"""The documents that are kept of each kind of CPU, in docs/measured: their names, the page that
shows them all, and the table of the README."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reporting.command import ROOT, BadInput, write_whole
from reporting.documents import COPY, Machine, Table, read_machines
from reporting.summary import best_first, by_isa, errors_of, furthest, heading
from reporting.text import Rows, markdown, size_text, speed_text, wrapped

FOLDER = ROOT / "docs" / "measured"
PAGE = ROOT / "docs" / "measured.md"
README = ROOT / "README.md"

# In the README, a comment says what stands between it and the end: of each CPU a line with its name
# in the table, its document, an ISA, a table in its caches and one beyond them.
BLOCK = re.compile(
    r"(?P<start><!-- measured\n(?P<lines>(?:.+ \S+\.json \w+ \d+x\d+ \d+x\d+\n)+)-->\n)"
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
document, this page and the README's table ([benchmarks.md](benchmarks.md#speeds-are-remembered)).
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
    (machine,) = read_machines([path])
    if not machine.isas:
        raise BadInput(f"{path}: names no ISA of its CPU; allowed: what posenc measure writes")
    return machine


def read_kept() -> list[Kept]:
    return [Kept(path, read_machine(path)) for path in sorted(FOLDER.glob("*.json"))]


def page_of(kept: Sequence[Kept]) -> str:
    rows = [["CPU", "ISA", "compiler", "date", ""]]
    for each in kept:
        compiler, date = each.machine.facts["compiler"], each.machine.facts["measured_at"][:10]
        link = f"[JSON](measured/{each.path.name})"
        rows.append([each.machine.cpu, each.machine.isas[-1], compiler, date, link])
    parts = [INTRODUCTION, markdown(rows, left=range(5))]
    for each in kept:
        facts = [f"{level} {size_text(size)}" for level, size in each.machine.caches.items()]
        facts += [f"{each.machine.facts['logical_cores']} logical cores"]
        facts += [f"kernels {each.machine.facts['kernels']}"]
        sentence, table = by_isa(each.machine)
        parts += [
            f"\n## {each.machine.cpu}, {each.machine.isas[-1]}\n",
            wrapped(f"{', '.join(facts)}. {sentence}") + "\n",
            markdown(table),
        ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True)
class Column:
    """Of the README's table: a CPU as if it had no better ISA, and its two tables."""

    label: str
    machine: Machine
    isa: str
    sizes: list[str]

    def tables(self) -> list[Table]:
        by_size = {each.table.size: each.table for each in self.machine.plain()
                   if not each.table.convention}  # fmt: skip
        if missing := [size for size in self.sizes if size not in by_size]:
            raise BadInput(f"{self.machine.cpu} has no times of {', '.join(missing)}")
        return [by_size[size] for size in self.sizes]


def _column(line: str, kept: Mapping[str, Machine]) -> Column:
    label, name, isa, *sizes = line.rsplit(maxsplit=4)
    if name not in kept or isa not in kept[name].isas:
        known = ", ".join(kept) or "none"
        raise BadInput(f"{README} shows {name} at {isa}; allowed: an ISA of {known}")
    whole = kept[name]
    highest = whole.isa_rank(isa)
    lower = [each for each in whole.measurements if whole.isa_rank(each.isa) <= highest]
    sizes = [size.replace("x", " x ") for size in sizes]
    return Column(label, replace(whole, measurements=lower), isa, sizes)


def table_of(columns: Sequence[Column]) -> str:
    """A row for each of the library's backends; the copy and the limit of the memory below."""
    header, measured = ["Gfloat/s"], []
    for column in columns:
        header += [f"{column.label}, in cache", "beyond"]
        measured += [each for each in column.machine.plain() if each.role == "backend"]
    names, of_name = best_first(measured), furthest(measured)
    sentence, errors = errors_of([of_name.get(name) for name in names])
    rows: Rows = [[f"`{name}`"] for name in names] + [[COPY], ["limit"]]
    origins = []
    for column in columns:
        tables = column.tables()
        for table in tables:
            speeds = {each.backend: each.speed for each in column.machine.plain()
                      if each.table == table}  # fmt: skip
            found = [speeds.get(name, 0.0) for name in names]
            loops = [column.machine.loops(table).get(COPY, 0.0), column.machine.limit(table)]
            for row, speed in zip(rows, [*found, *loops]):
                row.append(speed_text(speed))
        sizes = [f"{table.size} ({size_text(table.bytes)})" for table in tables]
        of_sizes = f"{sizes[0]} in cache, {sizes[1]} beyond"
        origins.append(f"{column.label}: {heading(column.machine, column.isa)}; {of_sizes}.")
    for row, (largest, _, rounded) in zip(rows, [*errors, ["", "", ""], ["", "", ""]]):
        row += [largest, rounded]
    text = wrapped(" ".join([*origins, sentence]))
    return f"{text}\n\n{markdown([[*header, 'largest error', 'correctly rounded'], *rows])}"


def readme_of(text: str, kept: Sequence[Kept]) -> str:
    """The README with its table made anew. Refuses one that shows no document, or one that is not
    kept."""
    by_name = {each.path.name: each.machine for each in kept}

    def block(found: re.Match[str]) -> str:
        columns = [_column(line, by_name) for line in found["lines"].splitlines()]
        return f"{found['start']}\n{table_of(columns)}\n\n{found['end']}"

    made, count = BLOCK.subn(block, text)
    if count == 0:
        lines = "lines of CPU NAME.json ISA ROWSxD ROWSxD"
        raise BadInput(f"{README} shows no document; allowed: a table between '<!-- measured', "
                       f"{lines}, '-->' and '<!-- end -->'")  # fmt: skip
    return made


def keep(document: Path, machine: Machine) -> None:
    """Writes the document of a CPU, the page and the README; nothing if one of them cannot be
    made."""
    path = FOLDER / file_name(machine)
    others = [each for each in read_kept() if each.path != path]
    kept = sorted([*others, Kept(path, machine)], key=lambda each: each.path)
    page, readme = page_of(kept), readme_of(README.read_text(encoding="utf-8"), kept)
    FOLDER.mkdir(exist_ok=True)
    write_whole(path, document.read_bytes())
    write_whole(PAGE, page)
    write_whole(README, readme)
