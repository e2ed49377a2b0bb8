"""Ranks the benchmarks of each shape, the fastest first: those that noise cannot tell apart share a
rank."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from measuring import units
from measuring.results.benchmarks import Benchmark
from measuring.statistics import (
    competition_ranks, confidence_interval, is_tie, noise_floor_of, paired_ratio,
)
from measuring.tables import aligned_rows

HEADER = ("rank", "backend", "median", "95 % interval", "Gfloat/s", "of limit", "tie with slower")
LEFT = (1, 6)
SIGNIFICANT = 4  # digits of a time: enough to tell differences of a thousandth


@dataclass
class Ranked:
    """A benchmark's place among those of its shape."""

    benchmark: Benchmark
    rank: int = 0  # of a competition: 1, 2, 2, 4; 0 if it was not timed
    shares_rank: bool = False
    slower_ties: Sequence[Benchmark] = ()  # those it ties with that stand below: each pair once


def rank_within_shapes(
    benchmarks: Iterable[Benchmark], noise_floor: float
) -> dict[str, list[Ranked]]:
    """From each shape to its benchmarks, the fastest first, those that were not timed last."""
    shapes: dict[str, list[Benchmark]] = {}
    for each in benchmarks:
        shapes.setdefault(each.name.heading, []).append(each)
    return {shape: _ranked(members, noise_floor) for shape, members in shapes.items()}


def _ranked(members: Iterable[Benchmark], noise_floor: float) -> list[Ranked]:
    timed = sorted((each for each in members if not each.error), key=lambda each: each.seconds)

    def is_tied(i: int, j: int) -> bool:
        return is_tie(paired_ratio(timed[i].medians, timed[j].medians), noise_floor)

    ranks = competition_ranks(len(timed), is_tied)
    ranked = [
        Ranked(each, rank, ranks.count(rank) > 1,
               [timed[j] for j in range(place + 1, len(timed)) if is_tied(place, j)])
        for place, (each, rank) in enumerate(zip(timed, ranks))
    ]  # fmt: skip
    return ranked + [Ranked(each) for each in members if each.error]


def short_names(members: Sequence[Ranked]) -> dict[str, str]:
    """By name, without the ISA if a shape has a backend once."""
    names = [member.benchmark.name for member in members]
    backends = [name.candidate.partition(":")[0] for name in names]
    return {
        name.text: backend if backends.count(backend) == 1 else name.candidate
        for name, backend in zip(names, backends)
    }


def _cells(ranked: Ranked, names: Mapping[str, str]) -> list[str]:
    """See HEADER. The interval has the unit of the median."""
    timed = ranked.benchmark
    if timed.error:
        return ["-", timed.name.candidate, "not timed", "-", "-", "-", ""]
    unit = units.time_unit(timed.seconds)

    def in_unit(seconds: float) -> str:
        return units.digits(seconds / units.TIME_UNITS[unit], SIGNIFICANT)

    interval = confidence_interval(timed.processes)
    share = timed.share_of_limit
    return [
        f"{ranked.rank}{'=' if ranked.shares_rank else ' '}",
        timed.name.candidate,
        f"{in_unit(timed.seconds)} {unit:<2}",
        " .. ".join(map(in_unit, interval)) if interval else "-",
        f"{timed.gfloats:.3f}" if timed.gfloats else "-",
        "-" if share is None else units.percent(share),
        ", ".join(names[other.name.text] for other in ranked.slower_ties),
    ]


def table_text(shapes: Mapping[str, Sequence[Ranked]]) -> str:
    """One table; each shape is a heading of its own above its benchmarks."""
    rows: list[Sequence[str]] = [HEADER]
    for members in shapes.values():
        names = short_names(members)
        rows += [_cells(member, names) for member in members]
    header, *lines = aligned_rows(rows, LEFT, wrap_last=True)
    text = [header]
    for shape, members in shapes.items():
        text += ["", shape, *lines[: len(members)]]
        del lines[: len(members)]
    return "\n".join(text)


def floor_text(ratios: Mapping[str, Sequence[float]]) -> str:
    """What was compared to find the noise floor, how far equal cases differ, and what follows."""
    pairs = len(next(iter(ratios.values())))
    width = max(map(len, ratios))
    lines = [f"Noise floor: {pairs} pairs of processes, the first one's median over the second's"]
    for name, of_name in ratios.items():
        middle, low, high = statistics.median(of_name), min(of_name), max(of_name)
        lines.append(f"  {name:<{width}}  {middle:.3f}, {low:.3f} .. {high:.3f}")
    floor = units.percent(noise_floor_of(ratios.values()))
    lines.append(f"Up to {floor}: this machine cannot resolve smaller differences now.")
    return "\n".join(lines)
