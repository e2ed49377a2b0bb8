// The definition of a tie, for pick, compare and selection. Internal: not installed.
#pragma once

#include "posenc/suite/candidate.h"

#include <span>
#include <vector>

namespace posenc::suite {
inline namespace internals {

/// A ratio closer to 1 than this is a tie, whatever the samples: the placement of code alone
/// changes times by as much.
inline constexpr double indistinguishable = 0.02;

/// The ratio of two lists of times. `one` and `other` hold the median of each process, in the same
/// order of processes. The interval is Student's t over the logarithms of the ratios. Its samples
/// are processes, because addresses change from one process to the next, and times with them. With
/// several comparisons, the 95 % hold for all their intervals together (Bonferroni). Otherwise,
/// five of a hundred equal pairs would seem to differ.
PairedRatio paired_ratio(std::span<const double> one, std::span<const double> other,
                         std::size_t comparisons = 1);

/// False if the interval excludes 1, and the ratio also differs from 1 by more than 2 % and by more
/// than the noise floor. Otherwise true.
bool is_tie(const PairedRatio& ratio, double noise_floor) noexcept;

/// The largest distance from 1 of the ratios of a candidate to itself (A/A). In each list, the
/// fifth of the ratios that is furthest from 1 is ignored, because a disturbance of a single
/// process also widens the intervals. 0 if there are no lists.
double noise_floor_of(std::span<const std::vector<double>> self_ratios);

/// The noise floor of a session in which two builds took turns: the largest distance from 1 of a
/// row's mean ratio to itself. The fifth of the rows that is furthest from 1 is ignored.
double session_floor_of(std::span<const std::vector<double>> self_ratios);

/// How much slower a machine was in one document than in another. The result is the median ratio of
/// the store limits and copies, whose code does not change, or the median of all ratios, whichever
/// is closer to 1. It is 1 if the two medians are on different sides of 1, or if there are no
/// limits. If all backends became slower and the limits did not, the code is the reason.
double common_factor(std::span<const double> ratios_of_limits, std::span<const double> all_ratios);

/// The fastest candidate, and the preferred one: among the candidates that tie with the fastest and
/// cost little more, the simplest method at its best ISA.
struct Choice {
  const Candidate* fastest;
  const Candidate* preferred;
};

/// Chooses from candidates, which must not be empty and must all be timed.
Choice choose(std::span<const Candidate* const> candidates, double noise_floor);

}  // namespace internals
}  // namespace posenc::suite
