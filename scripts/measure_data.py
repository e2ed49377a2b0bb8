"""Samples of several processes of one benchmark binary: medians, confidence intervals, ties and ranks, and the table of them."""

import math
import statistics
import textwrap
from dataclasses import dataclass, field

import ties
from common import aligned
from report_data import ISAS

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
COLUMNS = 100
MOST_PROCESSES = len(ties.T_975) + 1
HEADER = ("rank", "backend", "median", "95 % interval", "Gfloat/s", "of limit", "tie with slower")
LEFT_ALIGNED = (1, 6)


def confidence_interval(groups):
    """95 % interval of the median, in the samples' unit, from one list of samples a process; None for less than two processes.

    Student's t over the logarithms of the processes' medians, widened to hold the median of all samples: Kalibera and Jones,
    Rigorous Benchmarking in Reasonable Time, ISMM 2013 (the variation of the topmost level, processes, decides). A bootstrap
    over three processes covers the true median in 74 to 94 % of simulated runs, this interval in 94 to 95 %.
    """
    if len(groups) < 2:
        return None
    logarithms = [math.log(statistics.median(group)) for group in groups]
    half = ties.t_975(len(groups) - 1) * statistics.stdev(logarithms) / math.sqrt(len(groups))
    middle = statistics.median(sample for group in groups for sample in group)
    centre = statistics.fmean(logarithms)
    return min(math.exp(centre - half), middle), max(math.exp(centre + half), middle)


def place_of(name):
    """What is done on which shape, and who does it: "encode/rotation:avx2/rows:8/d:4" gives "encode rows:8/d:4", "rotation:avx2"."""
    words = [word for word in name.split("/") if word not in ("real_time", "process_time")]
    kind, rest = words[0], words[1:]
    has_subject = bool(rest) and (":" not in rest[0] or rest[0].split(":", 1)[1] in ISAS)
    if has_subject:
        return " ".join([kind, "/".join(rest[1:])]).strip(), rest[0]
    # A copy of a finished table stands beside those who compute it; else the ways of doing a work beside each other.
    return " ".join(["encode"] * (kind == "copy") + ["/".join(rest)]).strip(), kind


@dataclass(eq=False)
class Result:
    """One benchmark over all processes."""

    name: str
    groups: list = field(default_factory=list)  # seconds of an iteration: one list a process
    rates: list = field(default_factory=list)  # elements a second
    shares: list = field(default_factory=list)  # of the limit that was measured in the same process
    error: str = ""
    median: float = 0.0
    interval: tuple = None
    rank: int = 0  # of a competition: 1, 2, 2, 4
    shares_rank: bool = False
    ties: list = field(default_factory=list)  # results of the same shape
    ties_below: list = field(default_factory=list)  # those of them that stand below: each pair once

    @property
    def medians(self):
        """One a process, in their order."""
        return [statistics.median(group) for group in self.groups]

    @property
    def shape(self):
        return place_of(self.name)[0]

    @property
    def subject(self):
        return place_of(self.name)[1]


def seconds_of(entry):
    """Of an iteration, by the clock that the benchmark's name tells."""
    clock = "real_time" if "real_time" in entry["run_name"].split("/") else "cpu_time"
    return entry[clock] * SECONDS[entry["time_unit"]]


def results_of(entries):
    """The results of a file's entries, in the order of the first process's registration: not the random order of the runs."""
    by_name = {}
    for entry in entries:
        by_name.setdefault(entry["run_name"], []).append(entry)
    order = sorted(by_name, key=lambda name: by_name[name][0].get("family_index", 0))
    return [result_of(name, by_name[name]) for name in order]


def result_of(name, entries):
    result = Result(name)
    failed = [entry for entry in entries if entry.get("error_occurred")]
    if failed:
        result.error = failed[0].get("error_message", "an error")
        return result
    processes = {}
    for entry in entries:
        processes.setdefault(entry.get("process", 0), []).append(seconds_of(entry))
    result.groups = list(processes.values())
    result.rates = [entry["items_per_second"] for entry in entries if "items_per_second" in entry]
    result.shares = [entry["share_of_limit"] for entry in entries if "share_of_limit" in entry]
    result.median = statistics.median(sample for group in result.groups for sample in group)
    result.interval = confidence_interval(result.groups)
    return result


def is_tie(one, other, floor):
    return ties.is_tie(ties.paired_ratio(one.medians, other.medians), floor)


def rank_within_shapes(results, floor):
    """Sets ranks and ties; a dictionary from each shape to its results, fastest first, those without figures last."""
    shapes = {}
    for result in results:
        shapes.setdefault(result.shape, []).append(result)
    for members in shapes.values():
        members.sort(key=lambda result: (bool(result.error), result.median))
        timed = [result for result in members if not result.error]
        ranks = ties.competition_ranks(len(timed), lambda i, j: is_tie(timed[i], timed[j], floor))
        for place, (result, rank) in enumerate(zip(timed, ranks)):
            result.rank = rank
            result.shares_rank = ranks.count(rank) > 1
            result.ties = [other for other in timed if other is not result and is_tie(result, other, floor)]
            result.ties_below = [other for other in timed[place + 1 :] if other in result.ties]
    return shapes


def unit_of(seconds):
    """The unit in which a time is at least 1, and seconds times what give it."""
    return next((pair for pair in (("s", 1.0), ("ms", 1e3), ("us", 1e6)) if seconds * pair[1] >= 1), ("ns", 1e9))


def four_digits(value):
    """Enough to tell differences of a thousandth: "1.234", "12.34", "1234"."""
    return f"{value:.{max(0, 3 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def short_names(members):
    """Without the ISA where a shape has a backend once."""
    backends = [member.subject.split(":")[0] for member in members]
    return {
        member.name: backend if backends.count(backend) == 1 else member.subject
        for member, backend in zip(members, backends)
    }


def cells_of(result, names):
    if result.error:
        return ["-", result.subject, "not timed", "-", "-", "-", ""]
    unit, factor = unit_of(result.median)
    interval = " .. ".join(four_digits(edge * factor) for edge in result.interval) if result.interval else "-"
    return [
        f"{result.rank}{'=' if result.shares_rank else ' '}",
        result.subject,
        f"{four_digits(result.median * factor)} {unit:<2}",
        interval,
        f"{statistics.median(result.rates) / 1e9:.3f}" if result.rates else "-",
        f"{100 * statistics.median(result.shares):.1f} %" if result.shares else "-",
        ", ".join(names[other.name] for other in result.ties_below),
    ]


def lines_of(rows, widths):
    """Lines of the rows. The last column goes on below itself where the line would be too long."""
    lines = []
    for row in rows:
        start = aligned(row[:-1], widths, LEFT_ALIGNED)
        parts = textwrap.wrap(row[-1], max(20, COLUMNS - len(start) - 2), break_long_words=False) or [""]
        lines.append(f"{start}  {parts[0]}".rstrip())
        lines += [" " * (len(start) + 2) + part for part in parts[1:]]
    return lines


def table_text(shapes):
    """One table; each shape is a heading of its own above its results."""
    rows = {
        shape: [cells_of(result, short_names(members)) for result in members] for shape, members in shapes.items()
    }
    everything = [HEADER, *(row for of_shape in rows.values() for row in of_shape)]
    widths = [max(len(row[i]) for row in everything) for i in range(len(HEADER) - 1)]
    lines = lines_of([HEADER], widths)
    for shape, of_shape in rows.items():
        lines += ["", shape, *lines_of(of_shape, widths)]
    return "\n".join(lines)
