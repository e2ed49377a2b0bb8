"""Benchmarks: Google Benchmark's JSON, of one process or merged from several by measure.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any, TypeVar

from measuring import units
from measuring.results import ISAS, Document
from measuring.results.accuracy import Rows, Spec, rows_of, spec_of
from measuring.statistics import median_of_all, relative_iqr

BYTES_OF_TYPE = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2}
# What Google Benchmark and measure.py write of every run; its other numbers are counters.
NO_COUNTERS = {
    "cpu_time", "family_index", "iterations", "per_family_instance_index", "process", "real_time",
    "repetition_index", "repetitions", "threads",
}  # fmt: skip

Entry = Mapping[str, Any]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Name:
    """A benchmark's name, such as "encode/rotation:avx2/preset:chunk/rows:8/d:512", in parts."""

    text: str
    kind: str  # "encode", "copy", "limit", "plan" ...
    subject: str  # "rotation:avx2", "store"; empty if the kind has none
    shape: str  # "preset:chunk/rows:8/d:512"

    @cached_property
    def parts(self) -> dict[str, str]:
        """{"preset": "chunk", "rows": "8", "d": "512"}."""
        return dict(word.split(":", 1) for word in self.shape.split("/") if ":" in word)

    @property
    def backend(self) -> str:
        return self.subject.partition(":")[0]

    @property
    def isa(self) -> str:
        return self.subject.partition(":")[2]

    @property
    def heading(self) -> str:
        """What is done, on which shape: benchmarks of one heading are compared with each other.
        What writes as much as an encoder does stands beside the encoders, and works without a
        subject beside each other."""
        is_baseline = self.kind == "copy" and "rows" in self.parts
        kind = "encode" if is_baseline else self.kind if self.subject else ""
        return f"{kind} {self.shape}".strip()

    @property
    def candidate(self) -> str:
        """Who does it."""
        return self.subject or self.kind

    @property
    def entries(self) -> int:
        """Entries of the table."""
        return int(self.parts["rows"]) * int(self.parts["d"])

    @property
    def table_size(self) -> str:
        return f"{self.parts['rows']} x {self.parts['d']}"

    @property
    def bytes(self) -> int | None:
        """Bytes written in an iteration; None if the shape does not tell."""
        if "bytes" in self.parts:
            return int(self.parts["bytes"])
        size = BYTES_OF_TYPE.get(self.parts.get("dtype", "float32"))
        return size * self.entries if size and {"rows", "d"} <= self.parts.keys() else None


@dataclass
class Benchmark:
    """One benchmark of a file: its samples over all repetitions and processes."""

    name: Name
    processes: list[list[float]] = field(default_factory=list)  # seconds of an iteration
    counters: dict[str, float] = field(default_factory=dict)  # medians
    spec: Spec | None = None  # of encoders
    rows: Rows | None = None
    error: str = ""  # why it was not timed; there are no samples then

    @cached_property
    def seconds(self) -> float:
        return median_of_all(self.processes)

    @property
    def medians(self) -> list[float]:
        """One of each process, in their order."""
        return [median(samples) for samples in self.processes]

    @property
    def relative_iqr(self) -> float:
        return relative_iqr([sample for samples in self.processes for sample in samples])

    @property
    def gfloats(self) -> float:
        """10^9 entries a second; 0 if it was not timed, or counts none."""
        return self.counters.get("items_per_second", 0.0) / 1e9

    @property
    def share_of_limit(self) -> float | None:
        """How much of the speed of the fastest store loop over as many bytes it reaches."""
        return self.counters.get("share_of_limit")

    @property
    def limit_gfloats(self) -> float:
        """What the limit allows for the same bytes; 0 if it was not measured."""
        return self.gfloats / self.share_of_limit if self.share_of_limit else 0.0


def name_of(text: str) -> Name:
    kind, *words = (word for word in text.split("/") if word not in ("real_time", "process_time"))
    program, colon, variant = words[0].partition(":") if words else ("", ":", "")
    has_subject = not colon or variant in ISAS or program == "posenc"
    subject = words.pop(0) if has_subject else ""
    return Name(text, kind, subject, "/".join(words))


def without_limits(items: Iterable[Item], name: Callable[[Item], Name]) -> list[Item]:
    """What is compared with each other: the store loops beside it are what it is measured against.
    All of them if there is nothing else."""
    items = list(items)
    return [each for each in items if name(each).kind != "limit"] or items


def medians_of(document: Document) -> dict[str, float]:
    """Seconds of an iteration, by name, of the benchmarks that were timed."""
    benchmarks = read_benchmarks(document)
    return {each.name.text: each.seconds for each in benchmarks if not each.error}


def timed_entries(document: Document) -> list[Entry]:
    """One entry for each repetition."""
    return [entry for entry in document["benchmarks"] if entry["run_type"] == "iteration"]


def error_message(entries: Iterable[Entry]) -> str:
    """Why a benchmark was not timed; empty if it was."""
    failed = (entry for entry in entries if entry.get("error_occurred"))
    return next((str(entry.get("error_message", "an error")) for entry in failed), "")


def seconds_of(entry: Entry) -> float:
    """Seconds of an iteration, by the clock that the benchmark's name tells."""
    clock = "real_time" if "real_time" in entry["run_name"].split("/") else "cpu_time"
    return float(entry[clock] * units.TIME_UNITS[entry["time_unit"]])


def read_benchmarks(document: Document) -> list[Benchmark]:
    """In the order of the first process's registration: not in the random order of the runs. Where
    a file has no repetitions, Google Benchmark's own medians stand for them."""
    samples: dict[str, list[Entry]] = {}
    for entry in timed_entries(document):
        samples.setdefault(entry["run_name"], []).append(entry)
    for entry in document["benchmarks"]:
        if entry.get("aggregate_name") == "median":
            samples.setdefault(entry["run_name"], [entry])
    order = sorted(samples, key=lambda name: samples[name][0].get("family_index", 0))
    return [_benchmark_of(name, samples[name]) for name in order]


def _benchmark_of(name: str, entries: Sequence[Entry]) -> Benchmark:
    found = Benchmark(name_of(name), error=error_message(entries))
    if found.error:
        return found
    processes: dict[int, list[float]] = {}
    for entry in entries:
        processes.setdefault(entry.get("process", 0), []).append(seconds_of(entry))
    found.processes = list(processes.values())
    found.counters = {
        key: median(entry[key] for entry in entries)
        for key, value in entries[0].items()
        if key not in NO_COUNTERS and isinstance(value, (int, float))
    }
    label = entries[0].get("label", "")
    if "d_model=" in label:  # "d_model=512 base=10000 layout=halves spacing=paper first=0 count=8"
        values = dict(word.split("=", 1) for word in label.split())
        found.spec, found.rows = spec_of(values), rows_of(values)
    return found
