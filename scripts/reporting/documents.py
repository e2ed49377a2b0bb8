"""Documents of measurements, as posenc measure, posenc accuracy and compare_torch.py write them. A
figure belongs to one document: two documents are never merged, even if they are from one CPU."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from reporting.command import BadInput

VERSION = 4
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
    first: int
    unusual: str  # differences from the paper's float32 table, such as "layout halves"
    is_plain: bool  # float32, computed by one thread

    @property
    def entries(self) -> int:
        return self.rows * self.d_model

    @property
    def bytes(self) -> int:
        """The size of a plain table."""
        return 4 * self.entries

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


@dataclass
class Measurement:
    """One backend, library or memory loop on one table."""

    backend: str
    isa: str
    role: str  # "backend", "peer" or "limit"
    phases: str  # how phases are rounded before the sine: "exact", "double", "float32"
    table: Table
    seconds: list[float]  # one median per process
    error: Mapping[str, Any]  # the errors against exact values; empty if they were not measured
    bound: Mapping[str, Any]  # what is proven of the errors; empty if nothing is
    report: Mapping[str, Any]  # only from posenc accuracy: errors by position, and a map

    @property
    def name(self) -> str:
        return f"{self.backend}:{self.isa}" if self.isa else self.backend

    @property
    def speed(self) -> float:
        """10^9 entries per second; 0 if there are no times."""
        return self.table.entries / median(self.seconds) / 1e9 if self.seconds else 0.0

    @property
    def max_abs(self) -> float:
        """The largest error; NaN if it was not measured."""
        return number(self.error.get("max_abs"))

    @property
    def max_bound(self) -> float:
        """The proven bound of the largest error; NaN if there is none."""
        return number(self.bound.get("max_abs"))

    @property
    def is_bound_broken(self) -> bool:
        is_known = bool(self.error) and not math.isnan(self.max_bound)
        return is_known and not self.max_abs <= self.max_bound


@dataclass(eq=False)
class Document:
    """The measurements of one session on one CPU."""

    path: Path
    cpu: str
    design: str  # the microarchitecture, such as "Zen 5"; empty if it is not recognised
    isas: list[str]  # in ascending order
    caches: dict[str, int]  # bytes, by level
    logical_cores: int
    compiler: str
    kernels: str  # the digest of the kernels' sources
    measured_at: str
    disturbed: str  # why the times are not reliable; empty if they are
    measurements: list[Measurement]

    @property
    def not_reliable(self) -> str:
        """Why the times are not reliable, in a sentence; empty if they are."""
        return f"Not reliable: {self.disturbed}." if self.disturbed else ""

    @property
    def session(self) -> str:
        """Further influences on the times, besides the CPU: "avx512; g++ 12.2.0, 2026-11-27"."""
        return f"{self.isas[-1]}; {self.compiler}, {self.measured_at[:10]}"

    def best_isas(self, kept: Callable[[Measurement], Any]) -> list[Measurement]:
        """The measurements that `kept` accepts; for each backend and table, only the best ISA."""
        rank = {isa: place for place, isa in enumerate(self.isas)}
        lowest_first = sorted(self.measurements, key=lambda each: rank.get(each.isa, -1))
        best = {(each.backend, each.table): each for each in lowest_first if kept(each)}
        return list(best.values())

    def plain(self, *roles: str, every_isa: bool = False) -> list[Measurement]:
        """Measurements with times, for float32 tables and one thread, of encoders with these roles
        (default: all roles). The smallest table comes first. For each backend and table, only the
        best ISA is returned, unless `every_isa`."""

        def is_wanted(each: Measurement) -> bool:
            has_role = each.role in (roles or ("backend", "peer"))
            return bool(each.seconds) and each.table.is_plain and has_role

        found = filter(is_wanted, self.measurements) if every_isa else self.best_isas(is_wanted)
        return sorted(found, key=lambda each: (each.table.entries, each.table.d_model, -each.speed))

    def loops(self, table: Table) -> dict[str, float]:
        """Speeds of the memory loops over the bytes of a table, by name."""
        return {each.backend: each.speed for each in self.measurements
                if each.role == "limit" and each.seconds and each.table == table}  # fmt: skip

    def limit(self, table: Table) -> float:
        """The speed of the fastest store loop; 0 if none was timed."""
        return max((speed for name, speed in self.loops(table).items() if name != COPY), default=0)


def number(value: float | None) -> float:
    """Reads null as NaN, which JSON does not have."""
    return math.nan if value is None else float(value)


def _table_of(values: Mapping[str, Any]) -> Table:
    spec, rows = values["spec"], values["rows"]
    said = {**USUAL, **spec, **values, "first": rows["first"]}
    usual = {**USUAL, "stride": spec["d_model"]}
    unusual = ", ".join(f"{key} {said[key]}" for key in usual if said[key] != usual[key])
    is_plain = values["dtype"] == "float32" and values["threads"] == 1
    return Table(rows["count"], spec["d_model"], rows["first"], unusual, is_plain)


def _measurement_of(values: Mapping[str, Any]) -> Measurement:
    return Measurement(
        values["backend"], values["isa"], values["role"], values.get("phases", ""),
        _table_of(values["table"]), list(map(float, values["seconds"])),
        values["error"] or {}, values["bound"] or {}, values.get("report") or {},
    )  # fmt: skip


def read_document(path: str | Path) -> Document:
    """Reads one document."""
    path = Path(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        machine = document["machine"]
        if document["version"] != VERSION:
            raise ValueError(f"version is {document['version']}, not {VERSION}")
        caches = {level: machine[f"{level.lower()}_bytes"] for level in ("L1", "L2", "L3")}
        design = machine.get("microarchitecture", "")
        return Document(
            path, machine["cpu"], "" if design.startswith("not recognised") else design,
            machine["isas"], {level: size for level, size in caches.items() if size},
            machine["logical_cores"], document["compiler"], document["kernels"],
            document["measured_at"], document["disturbed"],
            list(map(_measurement_of, document["measurements"])),
        )  # fmt: skip
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        allowed = "what posenc measure and posenc accuracy write with --format json"
        reason = f"no document of measurements ({error!r}); allowed: {allowed}"
        raise BadInput(f"{path}: {reason}") from error
