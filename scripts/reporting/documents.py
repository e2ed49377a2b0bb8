"""Documents of measurements, as posenc measure, posenc accuracy --format json and compare_torch.py
write them, sorted by the CPU that they are of. And the results of bench_encode for fresh memory."""

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any

from reporting.failures import reading
from reporting.files import read_json

VERSION = 4
BYTES_OF_TYPE = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2}
# The memory loops, which are rows of every table.
STORES, COPY = ("store", "non_temporal_store"), "copy"
# What bench_encode encodes into, beside warm memory.
MEMORIES = {"matrix": "new Matrix", "pages": "new pages", "vector": "new vector"}
FRESH = re.compile(r"encode_fresh/(\w+):\w+/memory:(\w+)/rows:(\d+)/d:(\d+)$")


@dataclass(frozen=True)
class Table:
    """What was encoded, and how it was stored."""

    rows: int
    d_model: int
    first: int = 0
    base: float | None = 10000.0  # None: the frequencies are not those of a base
    layout: str = "interleaved"
    spacing: str = "paper"
    frequencies: str = "base"
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
    def last(self) -> int:
        return self.first + self.rows - 1

    @property
    def size(self) -> str:
        return f"{self.rows} x {self.d_model}"

    @property
    def further(self) -> str:
        """What tells it from a table of the paper in float32, such as "halves, 2 threads"."""
        said = {
            self.layout: self.layout != "interleaved",
            self.spacing: self.spacing != "paper",
            f"base {self.base or 0:g}": self.base not in (10000.0, None),
            self.frequencies: self.frequencies != "base",
            f"from {self.first}": self.first != 0,
            self.dtype: self.dtype != "float32",
            f"stride {self.stride}": self.stride != self.d_model,
            f"{self.threads} threads": self.threads != 1,
            f"stores {self.stores}": self.stores != "automatic",
        }
        return ", ".join(text for text, is_said in said.items() if is_said)

    @property
    def name(self) -> str:
        return f"{self.size} ({self.further})" if self.further else self.size

    @cached_property
    def encoded(self) -> Hashable:
        """What its errors depend on."""
        spec = (self.d_model, self.base, self.layout, self.spacing, self.frequencies)
        return (*spec, self.rows, self.first, self.dtype)


@dataclass(frozen=True)
class Error:
    """Against exact values."""

    max_abs: float
    max_ulp: float
    correctly_rounded: float  # share of the entries


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
    role: str  # "backend", "peer" or "limit"
    table: Table
    seconds: list[float] = field(default_factory=list)  # a median of each process
    error: Error | None = None
    is_correctly_rounded: bool = False  # promised
    phases: str = ""  # how they are rounded before the sine: "exact", "double", "float32"
    report: Report | None = None

    @property
    def name(self) -> str:
        return f"{self.backend}:{self.isa}" if self.isa else self.backend

    @cached_property
    def speed(self) -> float:
        """10^9 entries a second; 0 if it was not timed."""
        return self.table.entries / median(self.seconds) / 1e9 if self.seconds else 0.0


@dataclass
class Machine:
    """What was measured on one CPU."""

    cpu: str
    facts: dict[str, Any]  # of its first document
    isas: list[str]  # from the least
    caches: dict[str, int]  # bytes, by level
    measurements: list[Measurement] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    # By backend and size, of each memory the 10^9 entries a second.
    fresh: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)

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

    def loops(self, table: Table) -> dict[str, float]:
        """Speeds of the memory loops over the bytes of a table, by name."""
        limits = (each for each in self.measurements if each.role == "limit" and each.seconds)
        return {each.backend: each.speed for each in limits if each.table == table}

    def limit(self, table: Table) -> float:
        """The speed of the fastest store loop; 0 if none was timed."""
        loops = self.loops(table)
        return max((loops.get(name, 0.0) for name in STORES))

    def merge(self, new: Measurement) -> None:
        """Adds a row. If there is one of the same encoder and table, it takes what the new one
        has: times, errors, report."""
        place = (new.name, new.table.encoded)
        for old in self.measurements:
            if (old.name, old.table.encoded) != place:
                continue
            is_same_run = old.table == new.table or not (old.seconds and new.seconds)
            if is_same_run:
                if new.seconds:
                    old.table, old.seconds = new.table, new.seconds
                    old.__dict__.pop("speed", None)
                old.error, old.report = new.error or old.error, new.report or old.report
                old.phases = new.phases or old.phases
                return
        self.measurements.append(new)


def _number(value: float | None) -> float:
    """JSON has no NaN: such a number is null."""
    return math.nan if value is None else float(value)


def _table_of(values: Mapping[str, Any]) -> Table:
    spec, rows = values["spec"], values["rows"]
    if values["dtype"] not in BYTES_OF_TYPE:
        raise ValueError(f"dtype is {values['dtype']!r}")
    base = spec["base"]
    return Table(
        rows=int(rows["count"]), d_model=int(spec["d_model"]), first=int(rows["first"]),
        base=None if base is None else float(base), layout=str(spec["layout"]),
        spacing=str(spec["spacing"]), frequencies=str(spec.get("frequencies", "base")),
        dtype=values["dtype"], stride=int(values["stride"]), threads=int(values["threads"]),
        stores=str(values["stores"]),
    )  # fmt: skip


def _report_of(values: Mapping[str, Any]) -> Report:
    octaves = values["by_position"]
    return Report(
        [(int(each["first"] + each["count"] - 1), _number(each["max_abs"])) for each in octaves],
        [_number(channel["max_abs"]) for channel in values["by_channel"]],
    )


def measurement_of(values: Mapping[str, Any]) -> Measurement:
    seconds = [float(each) for each in values["seconds"]]
    if not all(0 < each < math.inf for each in seconds):
        raise ValueError(f"seconds are {seconds}")
    if values["role"] not in ("backend", "peer", "limit"):
        raise ValueError(f"role is {values['role']!r}")
    error, bound = values["error"], values["bound"]
    names = ("max_abs", "max_ulp", "correctly_rounded")
    return Measurement(
        backend=str(values["backend"]), isa=str(values["isa"]), role=values["role"],
        table=_table_of(values["table"]), seconds=seconds,
        error=Error(*(_number(error[name]) for name in names)) if error else None,
        is_correctly_rounded=bool(bound and bound["correctly_rounded"]),
        phases=str(values.get("phases", "")),
        report=_report_of(values["report"]) if values.get("report") else None,
    )  # fmt: skip


def _machine_of(document: Mapping[str, Any]) -> Machine:
    values = document["machine"]
    sizes = {level: int(values[f"{level.lower()}_bytes"] or 0) for level in ("L1", "L2", "L3")}
    caches = {level: size for level, size in sizes.items() if size}
    facts = {"logical_cores": values["logical_cores"]}
    for name in ("compiler", "library_version", "kernels", "measured_at", "disturbed"):
        facts[name] = document[name]
    return Machine(str(values["cpu"]), facts, [str(isa) for isa in values["isas"]], caches)


def read_measurements(document: Mapping[str, Any]) -> list[Measurement]:
    """Throws what reading() turns into BadInput."""
    if document["version"] != VERSION:
        raise ValueError(f"version is {document['version']}, not {VERSION}")
    return [measurement_of(each) for each in document["measurements"]]


def _read_fresh(results: Mapping[str, Any], machines: Mapping[str, Machine]) -> Machine:
    """Adds what bench_encode found to the machine that it ran on. Of repetitions, the last."""
    cpu = results["context"]["cpu"]
    if cpu not in machines:
        raise ValueError(f"CPU is {cpu!r}, of which no document before it is")
    machine = machines[cpu]
    for each in results["benchmarks"]:
        if found := FRESH.match(each["name"]):
            backend, memory, rows, d_model = found.groups()
            speeds = machine.fresh.setdefault((backend, f"{rows} x {d_model}"), {})
            if memory in MEMORIES:
                speeds[memory] = float(each["items_per_second"]) / 1e9
    return machine


def read_machines(paths: Iterable[str]) -> list[Machine]:
    """Machines in the order of their first file."""
    machines: dict[str, Machine] = {}
    for path in paths:
        document = read_json(path)
        if isinstance(document, dict) and "benchmarks" in document:
            with reading(path):
                _read_fresh(document, machines).files.append(path)
            continue
        with reading(path):
            measurements = read_measurements(document)
            found = _machine_of(document)
        machine = machines.setdefault(found.cpu, found)
        for each in measurements:
            machine.merge(each)
        machine.facts["disturbed"] = machine.facts["disturbed"] or found.facts["disturbed"]
        machine.files.append(path)
    return list(machines.values())
