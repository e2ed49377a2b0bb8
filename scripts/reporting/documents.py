"""Documents of measurements, as posenc measure, posenc accuracy and compare_torch.py write them. A
figure belongs to one document: two documents are never merged, even if they are from one CPU."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from reporting.command import BadInput

VERSION = 4
BYTES_OF_TYPE = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2}
USUAL = {
    "base": 10000.0, "layout": "interleaved", "spacing": "paper", "frequencies": "base",
    "first": 0, "dtype": "float32", "threads": 1, "stores": "automatic",
}  # fmt: skip
COPY = "copy"  # a loop over memory; the other loops only store


@dataclass(frozen=True)
class Table:
    """The table that was encoded, and how it was stored."""

    rows: int
    d_model: int
    first: int = 0
    dtype: str = "float32"
    threads: int = 1
    unusual: str = ""  # differences from the paper's float32 table, such as "layout halves"

    @property
    def entries(self) -> int:
        return self.rows * self.d_model

    @property
    def bytes(self) -> int:
        return self.entries * BYTES_OF_TYPE[self.dtype]

    @property
    def reach(self) -> tuple[int, int]:
        """A sort key: the greater it is, the further the table shows how errors grow."""
        return self.first + self.rows - 1, self.entries

    @property
    def size(self) -> str:
        return f"{self.rows} x {self.d_model}"

    @property
    def name(self) -> str:
        return f"{self.size} ({self.unusual})" if self.unusual else self.size


@dataclass(frozen=True)
class ErrorMap:
    """The largest error in each cell of a grid over a table."""

    rows: int  # parts of the positions
    columns: int  # parts of the channels
    largest: list[float]  # row by row


@dataclass(frozen=True)
class Error:
    """Errors against exact values."""

    max_abs: float
    correctly_rounded: float  # share of the entries
    checked: float  # share of the table's entries; 0 if the document does not say how many
    by_position: list[tuple[int, float]]  # last position and largest error of each octave
    map: "ErrorMap | None"  # only in a report of posenc accuracy


@dataclass
class Measurement:
    """One backend, library or memory loop on one table."""

    backend: str
    isa: str
    role: str  # "backend", "peer" or "limit"
    table: Table
    seconds: list[float]  # one median per process
    error: Error | None
    bound: float  # proven
    is_correctly_rounded: bool  # proven
    phases: str  # how phases are rounded before the sine: "exact", "double", "float32"

    @property
    def name(self) -> str:
        return f"{self.backend}:{self.isa}" if self.isa else self.backend

    @property
    def speed(self) -> float:
        """10^9 entries per second; 0 if there are no times."""
        return self.table.entries / median(self.seconds) / 1e9 if self.seconds else 0.0

    @property
    def max_abs(self) -> float:
        return self.error.max_abs if self.error else math.nan

    @property
    def is_bound_broken(self) -> bool:
        is_known = self.error is not None and not math.isnan(self.bound)
        return is_known and not self.max_abs <= self.bound


@dataclass(eq=False)
class Document:
    """The measurements of one session on one CPU."""

    cpu: str
    design: str  # the microarchitecture, such as "Zen 5"; empty if it is not recognised
    facts: dict[str, Any]  # compiler, kernels, measured_at, logical_cores
    isas: list[str]  # in ascending order
    caches: dict[str, int]  # bytes, by level
    measurements: list[Measurement] = field(default_factory=list)
    disturbed: str = ""  # why the times are not reliable; empty if they are
    path: Path = Path()

    @property
    def not_reliable(self) -> str:
        """Why the times are not reliable, in a sentence; empty if they are."""
        return f"Not reliable: {self.disturbed}." if self.disturbed else ""

    @property
    def session(self) -> str:
        """Further influences on the times, besides the CPU: "avx512; g++ 12.2.0, 2026-11-27"."""
        return f"{self.isas[-1]}; {self.facts['compiler']}, {self.facts['measured_at'][:10]}"

    @property
    def label(self) -> str:
        """The short name of the CPU, and the session."""
        return f"{self.design or self.cpu}, {self.session}"

    def best_isas(self, kept: Callable[[Measurement], Any]) -> list[Measurement]:
        """The measurements that `kept` accepts; for each backend and table, only the best ISA."""
        rank = {isa: place for place, isa in enumerate(self.isas)}
        lowest_first = sorted(self.measurements, key=lambda each: rank.get(each.isa, -1))
        return list({(each.backend, each.table): each for each in lowest_first if kept(each)}
                    .values())  # fmt: skip

    def plain(self, *roles: str, every_isa: bool = False) -> list[Measurement]:
        """Measurements with times, for float32 tables and one thread, of encoders with these roles
        (default: all roles). The smallest table comes first. For each backend and table, only the
        best ISA is returned, unless `every_isa`."""

        def is_wanted(each: Measurement) -> bool:
            is_plain = each.table.threads == 1 and each.table.dtype == "float32"
            return bool(each.seconds) and is_plain and each.role in (roles or ("backend", "peer"))

        found = filter(is_wanted, self.measurements) if every_isa else self.best_isas(is_wanted)
        return sorted(found, key=lambda each: (each.table.entries, each.table.d_model, -each.speed))

    def loops(self, table: Table) -> dict[str, float]:
        """Speeds of the memory loops over the bytes of a table, by name."""
        return {each.backend: each.speed for each in self.measurements
                if each.role == "limit" and each.seconds and each.table == table}  # fmt: skip

    def limit(self, table: Table) -> float:
        """The speed of the fastest store loop; 0 if none was timed."""
        return max((speed for name, speed in self.loops(table).items() if name != COPY), default=0)


def _number(value: float | None) -> float:
    """Reads null as NaN, which JSON does not have."""
    return math.nan if value is None else float(value)


def _table_of(values: Mapping[str, Any]) -> Table:
    spec, first = values["spec"], int(values["rows"]["first"])
    rows, d_model = int(values["rows"]["count"]), int(spec["d_model"])
    said: dict[str, Any] = {**USUAL, **spec, **values, "first": first}
    usual: dict[str, Any] = {**USUAL, "stride": d_model}
    unusual = [f"{key} {said[key]}" for key in usual if said[key] != usual[key]]
    dtype, threads = str(values["dtype"]), int(values["threads"])
    return Table(rows, d_model, first, dtype, threads, ", ".join(unusual))


def _map_of(values: Mapping[str, Any]) -> ErrorMap:
    largest = list(map(_number, values["largest"]))
    found = ErrorMap(int(values["rows"]), int(values["columns"]), largest)
    if found.rows * found.columns != len(largest):
        raise ValueError("map has another size than it says")
    return found


def _error_of(values: Mapping[str, Any], report: Mapping[str, Any]) -> Error:
    """The errors of a measurement. A report of posenc accuracy covers all rows."""
    return Error(
        _number(values["max_abs"]), float(values["correctly_rounded"]),
        float(values.get("checked", bool(report))),
        [(int(each["first"]) + int(each["count"]) - 1, _number(each["max_abs"]))
         for each in report.get("by_position", ())],
        _map_of(report["map"]) if report.get("map") else None,
    )  # fmt: skip


def _measurement_of(values: Mapping[str, Any]) -> Measurement:
    seconds = [float(each) for each in values["seconds"]]
    role, dtype, bound = values["role"], values["table"]["dtype"], values["bound"] or {}
    for name, value, is_known in (
        ("seconds", seconds, all(0 < each < math.inf for each in seconds)),
        ("role", role, role in ("backend", "peer", "limit")),
        ("dtype", dtype, dtype in BYTES_OF_TYPE),
    ):
        if not is_known:
            raise ValueError(f"{name} is {value!r}")
    return Measurement(
        str(values["backend"]), str(values["isa"]), role, _table_of(values["table"]), seconds,
        _error_of(values["error"], values.get("report") or {}) if values["error"] else None,
        _number(bound.get("max_abs")), bool(bound.get("correctly_rounded")),
        str(values.get("phases", "")),
    )  # fmt: skip


def read_document(path: str | Path) -> Document:
    """Reads one document."""
    path = Path(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        values = document["machine"]
        if document["version"] != VERSION:
            raise ValueError(f"version is {document['version']}, not {VERSION}")
        isas = list(map(str, values["isas"]))
        if not isas:
            raise ValueError("isas is empty")
        facts = {each: document[each] for each in ("compiler", "kernels", "measured_at")}
        facts["logical_cores"] = values["logical_cores"]
        caches = {level: int(values[f"{level.lower()}_bytes"] or 0) for level in ("L1", "L2", "L3")}
        design = str(values.get("microarchitecture", ""))
        return Document(
            str(values["cpu"]), "" if design.startswith("not recognised") else design, facts, isas,
            {level: size for level, size in caches.items() if size},
            [_measurement_of(each) for each in document["measurements"]],
            str(document["disturbed"]), path,
        )  # fmt: skip
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        allowed = "what posenc measure and posenc accuracy write with --format json"
        reason = f"no document of measurements ({error!r}); allowed: {allowed}"
        raise BadInput(f"{path}: {reason}") from error
