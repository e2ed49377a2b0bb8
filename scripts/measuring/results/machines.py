"""Result files of every kind, sorted by the CPU that they are of."""

import os
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from measuring.errors import BadInput, reading
from measuring.files import read_json
from measuring.results import ISAS, OTHER_PROGRAMS, Document
from measuring.results.accuracy import AccuracyReport, read_accuracy
from measuring.results.benchmarks import Benchmark, Name, read_benchmarks
from measuring.results.picks import Pick, read_picks
from measuring.units import SIZE_UNITS

Item = TypeVar("Item")


@dataclass
class Machine:
    """What was measured on one CPU."""

    cpu: str
    context: dict[str, Any] = field(default_factory=dict)  # of the benchmarks
    benchmarks: dict[Name, Benchmark] = field(default_factory=dict)
    accuracy: list[AccuracyReport] = field(default_factory=list)
    picks: list[Pick] = field(default_factory=list)
    torch: dict[Name, Benchmark] = field(default_factory=dict)  # works of PyTorch and posenc
    torch_context: dict[str, Any] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    def of_kind(self, kind: str) -> list[Benchmark]:
        """Benchmarks of a kind that were timed; of each backend and shape at its best ISA alone."""
        timed = (each for each in self.benchmarks.values() if not each.error)
        return best_isa_only(
            (each for each in timed if each.name.kind == kind),
            lambda each: (each.name.backend, each.name.shape),
            lambda each: each.name.isa,
        )

    def presets(self) -> list[Benchmark]:
        """Of encoders, the presets' tables."""
        return [each for each in self.of_kind("encode") if "preset" in each.name.parts]

    def caches(self) -> list[tuple[str, int]]:
        """[("L1d", bytes), ...] from the benchmarks' context, "L1d 48 KiB, L2 2 MiB"."""
        words = [part.split() for part in self.context.get("cache_sizes", "").split(", ")]
        return [
            (level, int(number) * SIZE_UNITS[unit])
            for level, number, unit in (each for each in words if len(each) == 3)
            if unit in SIZE_UNITS
        ]


def isa_rank(isa: str) -> int:
    return ISAS.index(isa) if isa in ISAS else -1


def best_isa_only(
    items: Iterable[Item], place_of: Callable[[Item], Hashable], isa_of: Callable[[Item], str]
) -> list[Item]:
    """Of the items of each place, the one of the highest ISA."""
    best: dict[Hashable, Item] = {}
    for item in items:
        other = best.setdefault(place_of(item), item)
        if isa_rank(isa_of(item)) > isa_rank(isa_of(other)):
            best[place_of(item)] = item
    return list(best.values())


def read_machines(paths: Iterable[str]) -> list[Machine]:
    """Machines in the order of their first file. A path is a JSON file, or a folder of them."""
    machines: dict[str, Machine] = {}
    for path in _files_of(paths):
        document = read_json(path)
        with reading(path):
            machine = machines.setdefault(_cpu_of(document), Machine(_cpu_of(document)))
            _add(machine, document)
        machine.files.append(path)
    return list(machines.values())


def _files_of(paths: Iterable[str]) -> list[str]:
    files = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(path)
            continue
        inside = sorted(name for name in os.listdir(path) if name.endswith(".json"))
        if not inside:
            allowed = "folders with JSON files in them"
            raise BadInput(f"RESULTS names the folder '{path}'; allowed: {allowed}")
        files += [os.path.join(path, name) for name in inside]
    return files


def _cpu_of(document: Document) -> str:
    if "context" in document:
        context = document["context"]
        return str(context.get("cpu", context.get("host_name", "unknown CPU")))
    return str(document["cpu"]["model"])


def _add(machine: Machine, document: Document) -> None:
    if "benchmarks" in document:
        _add_benchmarks(machine, document)
        return
    if not {"results", "picks", "classes"} & document.keys():
        raise ValueError("neither benchmarks, an accuracy report, a pick nor a profile")
    machine.context.setdefault("compiler", document.get("compiler"))
    machine.context.setdefault("posenc_version", document.get("library_version"))
    if "results" in document:
        machine.accuracy += read_accuracy(document)
    # A profile, which has classes, holds the measurements of its pick and no pick.
    known = {pick.place for pick in machine.picks}
    machine.picks += [pick for pick in read_picks(document) if pick.place not in known]


def _add_benchmarks(machine: Machine, document: Document) -> None:
    benchmarks, context = read_benchmarks(document), document["context"]
    if "torch_version" not in context:
        machine.benchmarks.update((each.name, each) for each in benchmarks)
        machine.context.update(context)
        return
    # Their tables stand beside those of the backends; the rest is compared work by work.
    for each in benchmarks:
        tables = machine.benchmarks if each.name.backend in OTHER_PROGRAMS else machine.torch
        tables[each.name] = each
    machine.torch_context = context
