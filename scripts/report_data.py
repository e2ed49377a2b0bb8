"""Reads result files and sorts them by machine: benchmarks (Google Benchmark's JSON), accuracy reports, picks, profiles, comparisons with
PyTorch."""

import os
import statistics
from dataclasses import dataclass, field

from common import OTHER_PROGRAMS, BadInput, read_json

ISAS = ("scalar", "sse2", "neon64", "avx2", "avx512")  # ascending
CACHE_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
HALF_ULP = 2.0**-25


@dataclass
class Run:
    """One benchmark: medians over its repetitions."""

    kind: str  # "encode", "limit", "plan" ...
    subject: str  # "rotation:avx512", "store", or empty
    parts: dict  # {"rows": "5000", "d": "512", ...}
    seconds: float = 0.0
    spread: float = 0.0  # half the interquartile range over the median
    counters: dict = field(default_factory=dict)
    label: str = ""
    error: str = ""

    @property
    def backend(self):
        return self.subject.split(":")[0]

    @property
    def isa(self):
        return self.subject.partition(":")[2]

    @property
    def gfloats(self):
        return self.counters.get("items_per_second", 0.0) / 1e9

    @property
    def limit_gfloats(self):
        share = self.counters.get("share_of_limit", 0.0)
        return self.gfloats / share if share > 0 else 0.0


@dataclass
class Machine:
    """What was measured on one CPU."""

    cpu: str
    context: dict = field(default_factory=dict)
    runs: dict = field(default_factory=dict)  # name -> Run
    accuracy: list = field(default_factory=list)
    picks: list = field(default_factory=list)
    measurements: list = field(default_factory=list)
    torch: dict = field(default_factory=dict)  # name -> Run
    torch_context: dict = field(default_factory=dict)
    files: list = field(default_factory=list)

    def of_kind(self, kind, best_isa=True):
        """Runs of a kind that have figures; of each backend, shape and setting that of the best ISA alone."""
        found = [run for run in self.runs.values() if run.kind == kind and not run.error]
        return best_isa_only(found, lambda run: (run.backend, tuple(sorted(run.parts.items())))) if best_isa else found

    def caches(self):
        """[("L1d", bytes), ...] from the benchmarks' context."""
        levels = []
        for part in self.context.get("cache_sizes", "").split(", "):
            words = part.split()
            if len(words) == 3 and words[2] in CACHE_UNITS:
                levels.append((words[0], int(words[1]) * CACHE_UNITS[words[2]]))
        return levels


def isa_rank(isa):
    return ISAS.index(isa) if isa in ISAS else -1


def best_isa_only(items, key, isa=lambda item: item.isa):
    best = {}
    for item in items:
        place = key(item)
        if place not in best or isa_rank(isa(item)) > isa_rank(isa(best[place])):
            best[place] = item
    return list(best.values())


def relative_spread(values):
    if len(values) < 2:
        return 0.0
    quarters = statistics.quantiles(values, n=4, method="inclusive")
    middle = statistics.median(values)
    return (quarters[2] - quarters[0]) / 2 / middle if middle else 0.0


def run_of(name, repetitions):
    words = [word for word in name.split("/") if word not in ("real_time", "process_time")]
    parts = dict(word.split(":", 1) for word in words[2:] if ":" in word)
    subject = words[1] if len(words) > 1 else ""
    if subject.split(":")[0] in ("rows", "d", "bytes"):  # "copy/rows:5000/d:512" is of no backend
        parts.update([subject.split(":", 1)])
        subject = ""
    failed = [each for each in repetitions if each.get("error_occurred")]
    if failed:
        return Run(words[0], subject, parts, error=failed[0].get("error_message", "an error"))
    factors = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    wall = "real_time" in name.split("/")
    seconds = [each["real_time" if wall else "cpu_time"] * factors[each["time_unit"]] for each in repetitions]
    known = {
        "repetitions",
        "repetition_index",
        "process",
        "threads",
        "iterations",
        "real_time",
        "cpu_time",
        "family_index",
        "per_family_instance_index",
    }
    counters = {
        key: statistics.median(each[key] for each in repetitions)
        for key, value in repetitions[0].items()
        if key not in known and isinstance(value, (int, float))
    }
    return Run(
        words[0],
        subject,
        parts,
        statistics.median(seconds),
        relative_spread(seconds),
        counters,
        repetitions[0].get("label", ""),
    )


def read_runs(document):
    groups = {}
    for each in document["benchmarks"]:
        if each["run_type"] == "iteration":
            groups.setdefault(each["run_name"], []).append(each)
    return {name: run_of(name, repetitions) for name, repetitions in groups.items()}


def add_document(machines, document, path):
    """True where the document was one of those that are known."""

    def machine(cpu):
        found = machines.setdefault(cpu, Machine(cpu))
        found.files.append(path)
        return found

    if "benchmarks" in document and "context" in document:
        context = document["context"]
        found = machine(context.get("cpu", context.get("host_name", "unknown CPU")))
        if "torch_version" in context:
            runs = read_runs(document)
            # Their tables stand beside those of the backends; the rest is compared work by work.
            found.runs.update({name: run for name, run in runs.items() if run.backend in OTHER_PROGRAMS})
            found.torch.update({name: run for name, run in runs.items() if run.backend not in OTHER_PROGRAMS})
            found.torch_context = context
        else:
            found.runs.update(read_runs(document))
            found.context.update(context)
        return True
    if "cpu" not in document or not {"results", "picks", "measurements"} & document.keys():
        return False
    found = machine(document["cpu"]["model"])
    found.context.setdefault("compiler", document.get("compiler"))
    found.context.setdefault("posenc_version", document.get("library_version"))
    found.accuracy += document.get("results", [])
    add_picks(found, document)
    found.measurements += document.get("measurements", [])
    return True


def add_picks(machine, document):
    """Those of a class that has none yet: a saved profile repeats what the pick reported."""

    def place_of(pick):
        return pick["shape_class"], pick["threads"], pick.get("dtype")

    known = {place_of(pick) for pick in machine.picks}
    for pick in document.get("picks", []):
        if place_of(pick) not in known:
            machine.picks.append({"max_error": document.get("max_error"), **pick})


def files_of(paths):
    """The JSON files named, and those in the folders named."""
    files = []
    for path in paths:
        if os.path.isdir(path):
            inside = sorted(name for name in os.listdir(path) if name.endswith(".json"))
            if not inside:
                raise BadInput(f"RESULTS names the folder '{path}'; allowed: folders with JSON files in them")
            files += [os.path.join(path, name) for name in inside]
        else:
            files.append(path)
    return files


def read_machines(paths):
    """Machines in the order of their first file."""
    machines = {}
    for path in files_of(paths):
        document = read_json(path)
        try:
            known = isinstance(document, dict) and add_document(machines, document, path)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"{path}: not as posenc or its benchmarks write it ({error!r})") from error
        if not known:
            raise BadInput(f"{path}: no results; allowed: benchmarks, accuracy reports, picks, profiles")
    return list(machines.values())
