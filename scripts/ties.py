"""What a tie is: the rule by which posenc pick decides (src/posenc/ties.h) and measure.py ranks.
tests/data/ties.json holds both to the same verdicts."""

import math
import statistics

# Student's t at 0.975, by degrees of freedom from 1.
T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
# Two ratios closer to 1 than this are a tie whatever the samples say: code placement alone moves
# as much.
INDISTINGUISHABLE = 0.02


def t_975(degrees):
    """Beyond the table it falls to 1.96: the last entry is on the safe side."""
    return T_975[min(degrees, len(T_975)) - 1]


def paired_ratio(one, other):
    """The ratio of one to other and its 95 % interval, from one median a process, in the same order
    of processes: the geometric mean of the ratios, and Student's t over their logarithms.
    Fewer than two processes have no interval: it is everything."""
    logarithms = [math.log(a / b) for a, b in zip(one, other)]
    if not logarithms:
        return 1.0, 0.0, math.inf
    mean = statistics.fmean(logarithms)
    if len(logarithms) < 2:
        return math.exp(mean), 0.0, math.inf
    half = t_975(len(logarithms) - 1) * statistics.stdev(logarithms) / math.sqrt(len(logarithms))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def distance(ratio):
    return max(ratio, 1 / ratio) - 1


def is_tie(ratio, noise_floor):
    """A tie, unless the interval excludes 1 and the ratio is further from 1 than both 2 % and the
    noise floor."""
    middle, low, high = ratio
    return not (low > 1 or high < 1) or distance(middle) <= max(INDISTINGUISHABLE, noise_floor)


def noise_floor_of(self_ratios):
    """How far from 1 the ratios of something to itself (A/A) are: of each list the largest one,
    once one in five is set aside (what disturbs a single process widens the intervals too, and
    would make a tie of everything); then the largest of all."""
    floors = []
    for ratios in self_ratios:
        away = sorted(distance(ratio) for ratio in ratios)
        if away:
            floors.append(away[len(away) - 1 - len(away) // 5])
    return max(floors, default=0.0)


def competition_ranks(count, is_tied):
    """Ranks of what is sorted, the fastest first: 1, 2, 2, 4. Who ties with the first of a rank
    shares it. is_tied(i, j) of i < j."""
    ranks, first = [], 0
    for place in range(count):
        if place == 0 or not is_tied(first, place):
            first = place
        ranks.append(first + 1)
    return ranks
