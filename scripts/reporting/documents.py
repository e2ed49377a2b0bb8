"""Documents of measurements, as posenc measure, posenc accuracy and compare_torch.py write them,
and the verdicts of posenc pick, sorted by the CPU that they are of."""

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from reporting.command import reading
from reporting.text import error_text, percent, share_text

VERSION = 4
PICK_VERSION = 1
BYTES_OF_TYPE = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2}
ROLES = ("backend", "peer", "limit")
# The memory loops, which are rows of every table.
STORES, COPY = ("store", "non_temporal_store"), "copy"


@dataclass(frozen=True)
class Table:
    """What was encoded, and how it was stored."""

    rows: int
    d_model: int
    first: int = 0
    convention: str = ""  # what tells it from the paper's, such as "halves"
    dtype: str = "float32"
    stride: int = 0
    threads: int = 1
    stores: str = "automatic"

    @property
    def entries(self) -> int:
        return self.rows * self.d_model

    @property
    def bytes(self) -> int:
        return self.entries * BYTES_OF_TYPE[self.dtype]

    @property
    def reach(self) -> tuple[int, int]:
        """The greater, the further a table shows how errors grow."""
        return self.first + self.rows - 1, self.entries

    @property
    def size(self) -> str:
        return f"{self.rows} x {self.d_model}"

    @property
    def name(self) -> str:
        said = {
            self.convention: True,
            f"from {self.first}": self.first != 0,
            self.dtype: self.dtype != "float32",
            f"stride {self.stride}": self.stride != self.d_model,
            f"{self.threads} threads": self.threads != 1,
            f"stores {self.stores}": self.stores != "automatic",
        }
        further = ", ".join(text for text, is_said in said.items() if is_said and text)
        return f"{self.size} ({further})" if further else self.size

    @cached_property
    def encoded(self) -> Hashable:
        """What its errors depend on."""
        return self.d_model, self.convention, self.rows, self.first, self.dtype


@dataclass(frozen=True)
class Error:
    """Against exact values, of some rows of a table."""

    max_abs: float
    max_ulp: float
    correctly_rounded: float  # share of the entries
    rows: int  # 0: the document does not say how many


@dataclass(frozen=True)
class Report:
    """Where the errors are."""

    by_position: list[tuple[int, float]]  # of each octave the last position and the largest error
    by_channel: list[float]


@dataclass
class Measurement:
    """One backend, library or memory loop on one table."""

    backend: str
    isa: str
    role: str
    table: Table
    seconds: list[float] = field(default_factory=list)  # a median of each process
    error: Error | None = None
    bound: float = math.nan  # proven
    is_correctly_rounded: bool = False  # proven
    phases: str = ""  # how they are rounded before the sine: "exact", "double", "float32"
    report: Report | None = None
    disturbed: str = ""  # why its times are not reliable

    @property
    def name(self) -> str:
        return f"{self.backend}:{self.isa}" if self.isa else self.backend

    @cached_property
    def speed(self) -> float:
        """10^9 entries a second; 0 if it was not timed."""
        return self.table.entries / median(self.seconds) / 1e9 if self.seconds else 0.0

    @property
    def is_whole(self) -> bool:
        """Whether the error is of all rows."""
        return self.error is not None and self.error.rows == self.table.rows

    @property
    def rows_text(self) -> str:
        """Of which rows the error is: "of 2 % of the rows"."""
        if self.error is None or self.error.rows == 0:
            return "of sampled rows"  # of how many, the document does not say
        share = self.error.rows / self.table.rows
        few = percent(share, 0 if share >= 0.01 else 2)
        return "of all rows" if self.is_whole else f"of {few} of the rows"

    @property
    def largest_text(self) -> str:
        """The largest error of the rows that rows_text names."""
        return error_text(self.error.max_abs) if self.error else ""

    @property
    def rounded_text(self) -> str:
        """Which of these entries are correctly rounded. "all" is proven, or counted."""
        share = self.error.correctly_rounded if self.error else 0.0
        if self.is_correctly_rounded or share == 1 and self.is_whole:
            return "all"
        return share_text(share) if self.error else ""


@dataclass
class Machine:
    """What was measured on one CPU."""

    cpu: str
    facts: dict[str, Any]  # of its first document
    isas: list[str]  # from the least
    caches: dict[str, int]  # bytes, by level
    measurements: list[Measurement] = field(default_factory=list)
    verdicts: list[Mapping[str, Any]] = field(default_factory=list)  # of posenc pick
    disturbed: dict[str, str] = field(default_factory=dict)  # by document, why
    files: list[str] = field(default_factory=list)

    def isa_rank(self, isa: str) -> int:
        return self.isas.index(isa) if isa in self.isas else -1

    def best_isas(self, kept: Callable[[Measurement], Any]) -> list[Measurement]:
        """Of those that are kept, and of each backend and table, the one of the highest ISA."""
        best: dict[Hashable, Measurement] = {}
        for each in filter(kept, self.measurements):
            other = best.setdefault((each.backend, each.table), each)
            if self.isa_rank(each.isa) > self.isa_rank(other.isa):
                best[each.backend, each.table] = each
        return list(best.values())

    def timed(self, kept: Callable[[Measurement], bool] = lambda each: True) -> list[Measurement]:
        """Of the encoders that are kept, those at their best ISA."""
        return self.best_isas(lambda each: each.seconds and each.role != "limit" and kept(each))

    def plain(self) -> list[Measurement]:
        """Encoders of float32 by one thread, at their best ISA; the smallest table first."""
        found = self.timed(lambda each: each.table.threads == 1 and each.table.dtype == "float32")
        return sorted(found, key=lambda each: (each.table.entries, each.table.d_model, -each.speed))

    def loops(self, table: Table) -> dict[str, float]:
        """Speeds of the memory loops over the bytes of a table, by name."""
        limits = (each for each in self.measurements if each.role == "limit" and each.seconds)
        return {each.backend: each.speed for each in limits if each.table == table}

    def limit(self, table: Table) -> float:
        """The speed of the fastest store loop; 0 if none was timed."""
        loops = self.loops(table)
        return max(loops.get(name, 0.0) for name in STORES)

    def merge(self, new: Measurement) -> None:
        """Adds a row. If there is one of the same encoder and table, it takes what the new one
        has: times, a report, the error of at least as many rows."""
        place = (new.name, new.table.encoded)
        for old in self.measurements:
            is_same_run = old.table == new.table or not (old.seconds and new.seconds)
            if (old.name, old.table.encoded) != place or not is_same_run:
                continue
            if new.seconds:
                old.table, old.seconds, old.disturbed = new.table, new.seconds, new.disturbed
                old.__dict__.pop("speed", None)
            if new.error and (old.error is None or new.error.rows >= old.error.rows):
                old.error = new.error
            old.report, old.phases = new.report or old.report, new.phases or old.phases
            return
        self.measurements.append(new)


def _number(value: float | None) -> float:
    """JSON has no NaN: such a number is null."""
    return math.nan if value is None else float(value)


def _table_of(values: Mapping[str, Any]) -> Table:
    spec, rows = values["spec"], values["rows"]
    if values["dtype"] not in BYTES_OF_TYPE:
        raise ValueError(f"dtype is {values['dtype']!r}")
    base, frequencies = spec["base"], spec.get("frequencies", "base")
    said = {
        str(spec["layout"]): "interleaved",
        str(spec["spacing"]): "paper",
        f"base {base or 10000:g}": "base 10000",
        str(frequencies): "base",
    }
    return Table(
        rows=int(rows["count"]), d_model=int(spec["d_model"]), first=int(rows["first"]),
        convention=", ".join(text for text, usual in said.items() if text != usual),
        dtype=values["dtype"], stride=int(values["stride"]), threads=int(values["threads"]),
        stores=str(values["stores"]),
    )  # fmt: skip


def measurement_of(values: Mapping[str, Any]) -> Measurement:
    seconds = [float(each) for each in values["seconds"]]
    if not all(0 < each < math.inf for each in seconds):
        raise ValueError(f"seconds are {seconds}")
    if values["role"] not in ROLES:
        raise ValueError(f"role is {values['role']!r}")
    table = _table_of(values["table"])
    found = Measurement(str(values["backend"]), str(values["isa"]), values["role"], table, seconds)
    found.phases = str(values.get("phases", ""))
    rows = 0
    if report := values.get("report"):  # it is of all rows
        octaves = [(int(each["first"]), int(each["count"]), _number(each["max_abs"]))
                   for each in report["by_position"]]  # fmt: skip
        found.report = Report(
            [(first + count - 1, worst) for first, count, worst in octaves],
            [_number(channel["max_abs"]) for channel in report["by_channel"]],
        )
        rows = sum(count for _, count, _ in octaves)
    if error := values["error"]:
        found.error = Error(
            _number(error["max_abs"]), _number(error["max_ulp"]),
            _number(error["correctly_rounded"]), int(error.get("rows", rows)),
        )  # fmt: skip
    if bound := values["bound"]:
        found.bound = _number(bound["max_abs"])
        found.is_correctly_rounded = bool(bound["correctly_rounded"])
    return found


def read_measurements(document: Mapping[str, Any]) -> list[Measurement]:
    """Throws what reading() turns into BadInput."""
    if document["version"] != VERSION:
        raise ValueError(f"version is {document['version']}, not {VERSION}")
    return [measurement_of(each) for each in document["measurements"]]


def _machine_of(document: Mapping[str, Any]) -> Machine:
    values = document["machine"]
    sizes = {level: int(values[f"{level.lower()}_bytes"] or 0) for level in ("L1", "L2", "L3")}
    caches = {level: size for level, size in sizes.items() if size}
    facts = {"logical_cores": values["logical_cores"]}
    for name in ("compiler", "library_version", "measured_at"):
        facts[name] = str(document[name])
    facts["kernels"] = str(document.get("kernels", ""))
    return Machine(str(values["cpu"]), facts, [str(isa) for isa in values["isas"]], caches)


def read_machines(paths: Iterable[str | Path]) -> list[Machine]:
    """Machines in the order of their first file."""
    machines: dict[str, Machine] = {}
    for path in map(Path, paths):
        with reading(path):
            document = json.loads(path.read_text(encoding="utf-8"))
            is_verdict = "classes" in document
            if is_verdict and document["version"] != PICK_VERSION:
                raise ValueError(f"version is {document['version']}, not {PICK_VERSION}")
            found, reason = _machine_of(document), str(document["disturbed"])
            measurements = [] if is_verdict else read_measurements(document)
        machine = machines.setdefault(found.cpu, found)
        for each in measurements:
            each.disturbed = reason if each.seconds else ""
            machine.merge(each)
        machine.verdicts += [document] if is_verdict else []
        machine.disturbed |= {path.name: reason} if reason and not is_verdict else {}
        machine.files.append(path.name)
    return list(machines.values())
