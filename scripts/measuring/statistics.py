"""What is noise and what is a difference: intervals, the rule of ties, ranks.

The rule of ties is the one by which posenc pick decides; tests/data/ties.json holds both to the
same verdicts."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

# Student's t at 0.975, by degrees of freedom from 1.
T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
# Two ratios closer to 1 than this are a tie whatever the samples say: code placement alone moves
# as much.
INDISTINGUISHABLE = 0.02


class PairedRatio(NamedTuple):
    """A ratio of two times, and its 95 % interval."""

    ratio: float
    low: float
    high: float


def t_975(degrees: int) -> float:
    """Beyond the table it falls to 1.96: the last entry is on the safe side."""
    return T_975[min(degrees, len(T_975)) - 1]


def log_interval(logarithms: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean and its 95 % interval, by Student's t over at least two logarithms."""
    mean = statistics.fmean(logarithms)
    error = statistics.stdev(logarithms) / math.sqrt(len(logarithms))
    half = t_975(len(logarithms) - 1) * error
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def paired_ratio(one: Sequence[float], other: Sequence[float]) -> PairedRatio:
    """The ratio of one to other, from one median of each process, in the same order of processes,
    so that noise common to both cancels. The interval of fewer than two processes is everything."""
    logarithms = [math.log(a / b) for a, b in zip(one, other)]
    if len(logarithms) < 2:
        return PairedRatio(math.exp(sum(logarithms)), 0.0, math.inf)
    return PairedRatio(*log_interval(logarithms))


def distance(ratio: float) -> float:
    """How far a ratio is from 1, alike for slower and faster."""
    return max(ratio, 1 / ratio) - 1


def is_tie(ratio: PairedRatio, noise_floor: float) -> bool:
    """A tie, unless the interval excludes 1 and the ratio is further from 1 than both 2 % and the
    noise floor."""
    excludes_one = ratio.low > 1 or ratio.high < 1
    return not excludes_one or distance(ratio.ratio) <= max(INDISTINGUISHABLE, noise_floor)


def noise_floor_of(self_ratios: Iterable[Iterable[float]]) -> float:
    """How far from 1 the ratios of something to itself (A/A) are: of each list the largest
    distance, once one ratio in five is set aside (what disturbs a single process widens the
    intervals too, and would make a tie of everything); then the largest of all lists."""
    floors = []
    for ratios in self_ratios:
        distances = sorted(map(distance, ratios))
        if distances:
            floors.append(distances[len(distances) - 1 - len(distances) // 5])
    return max(floors, default=0.0)


def competition_ranks(count: int, is_tied: Callable[[int, int], bool]) -> list[int]:
    """Ranks of what is sorted, the fastest first: 1, 2, 2, 4. What ties with the first of a rank
    shares it. is_tied(i, j) is asked for i < j."""
    ranks: list[int] = []
    first = 0
    for place in range(count):
        if place == 0 or not is_tied(first, place):
            first = place
        ranks.append(first + 1)
    return ranks


def median_of_all(processes: Sequence[Sequence[float]]) -> float:
    """The median of all samples, given one list of samples for each process."""
    return statistics.median(sample for samples in processes for sample in samples)


def confidence_interval(processes: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """The 95 % interval of the median, in the samples' unit, from one list of samples for each
    process; None for fewer than two processes.

    Student's t over the logarithms of the processes' medians, widened to hold the median of all
    samples: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013 (the variation
    of the topmost level, processes, decides). A bootstrap over three processes covers the true
    median in 74 to 94 % of simulated runs, this interval in 94 to 95 %.
    """
    if len(processes) < 2:
        return None
    medians = [math.log(statistics.median(samples)) for samples in processes]
    _, low, high = log_interval(medians)
    middle = median_of_all(processes)
    return min(low, middle), max(high, middle)


def relative_iqr(samples: Sequence[float]) -> float:
    """Half the interquartile range over the median; 0 for fewer than two samples."""
    middle = statistics.median(samples)
    if len(samples) < 2 or middle == 0:
        return 0.0
    quartiles = statistics.quantiles(samples, n=4, method="inclusive")
    return (quartiles[2] - quartiles[0]) / 2 / middle
