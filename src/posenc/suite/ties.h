// The definition of a tie, for pick, compare and selection. Internal: not installed.
#pragma once

#include "posenc/suite/candidate.h"

#include <span>
#include <vector>

namespace posenc::suite {

/// A ratio closer to 1 than this is a tie for any samples: the placement of code alone changes
/// times by as much.
inline constexpr double indistinguishable = 0.02;

/// `one` and `other` hold the median of each process, in the same order of processes. The interval
/// is Student's t over the logarithms of the ratios. Its samples are processes, because addresses,
/// and times with them, change from one process to the next. With several comparisons, all their
/// intervals together hold with 95 % (Bonferroni): of a hundred equal pairs, five would otherwise
/// seem to differ.
PairedRatio paired_ratio(std::span<const double> one, std::span<const double> other,
                         std::size_t comparisons = 1);

/// True unless the interval excludes 1 and the ratio differs from 1 by more than 2 % and by more
/// than the noise floor.
bool is_tie(const PairedRatio& ratio, double noise_floor) noexcept;

/// The largest distance from 1 of the ratios of a candidate to itself (A/A). Of each list, the
/// fifth of the ratios that is furthest from 1 is ignored: a disturbance of a single process also
/// widens the intervals. 0 if there are no lists.
double noise_floor_of(std::span<const std::vector<double>> self_ratios);

/// The floor of a session in which two builds took turns: how far the mean ratio of a row to itself
/// is from 1, with the fifth of the rows that is furthest from it ignored.
double session_floor_of(std::span<const std::vector<double>> self_ratios);

/// How much slower a machine was in one document than in another: the median of the ratios of the
/// store limits and copies, whose code does not change, or the median of all ratios, whichever is
/// closer to 1. It is 1 if they are on different sides of 1, or if there are no limits: if all
/// backends became slower and the limits did not, the code did.
double common_factor(std::span<const double> ratios_of_limits, std::span<const double> all_ratios);

/// Of some candidates, the fastest, and of those that tie with it and cost little more, the
/// simplest method at its best ISA.
struct Choice {
  const Candidate* fastest;
  const Candidate* preferred;
};

/// There must be candidates, each of which is timed.
Choice choose(std::span<const Candidate* const> candidates, double noise_floor);

}  // namespace posenc::suite
