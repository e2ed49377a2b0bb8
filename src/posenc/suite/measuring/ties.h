// The definition of a tie, for pick, compare and selection. Internal: not installed.
#pragma once

#include "posenc/isa.h"

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace posenc::suite {

/// A ratio closer to 1 than this is a tie for any samples: the placement of code alone changes
/// times by as much.
inline constexpr double indistinguishable = 0.02;

/// The time of one candidate over that of another, paired by process, so that noise common to both
/// cancels.
struct PairedRatio {
  double ratio = 1;  ///< geometric mean over the processes
  double low = 0;    ///< its 95 % interval; unbounded if there are fewer than two processes
  double high = std::numeric_limits<double>::infinity();
};

/// `one` and `other` hold the median of each process, in the same order of processes. The interval
/// is Student's t over the logarithms of the ratios. Its samples are processes, because addresses,
/// and times with them, change from one process to the next.
PairedRatio paired_ratio(std::span<const double> one, std::span<const double> other);

/// True unless the interval excludes 1 and the ratio differs from 1 by more than 2 % and by more
/// than the noise floor.
bool is_tie(const PairedRatio& ratio, double noise_floor) noexcept;

/// The largest distance from 1 of the ratios of a candidate to itself (A/A). Of each list, the
/// fifth of the ratios that is furthest from 1 is ignored: a disturbance of a single process also
/// widens the intervals. 0 if there are no lists.
double noise_floor_of(std::span<const std::vector<double>> self_ratios);

/// The ratio of the median of each process to that of the process before it: A/A between processes.
std::vector<double> ratios_of_successive(std::span<const double> medians);

/// How much slower a machine was in one document than in another: the median of the ratios of the
/// store limits and copies, whose code does not change, or the median of all ratios, whichever is
/// closer to 1. It is 1 if they are on different sides of 1, or if there are no limits: if all
/// backends became slower and the limits did not, the code did.
double common_factor(std::span<const double> ratios_of_limits, std::span<const double> all_ratios);

/// A candidate and its times.
struct TimedCandidate {
  std::size_t method = 0;  ///< place of the method in the order of registration
  Isa isa = Isa::scalar;
  std::span<const double> seconds;  ///< one median per process
};

/// The indices of the candidates, in the order of the geometric means of their times.
std::vector<std::size_t> by_speed(std::span<const TimedCandidate> candidates);

/// The first of by_speed(). There must be candidates.
std::size_t fastest_of(std::span<const TimedCandidate> candidates);

/// True if a candidate that ties with the fastest may be preferred to it because it is simpler.
/// False if noise may hide a large difference.
bool costs_little(const PairedRatio& ratio) noexcept;

/// The candidates that tie with the fastest and cost little, in order of preference: the simplest
/// method first, and the best ISA of a method first. They include the fastest.
std::vector<std::size_t> by_preference(std::span<const TimedCandidate> candidates,
                                       std::size_t fastest, double noise_floor);

}  // namespace posenc::suite
