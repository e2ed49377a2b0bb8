// What a tie is: the one rule of pick and selection, and of scripts/measuring/statistics.py.
// tests/data/ties.json holds both to the same verdicts.
#pragma once

#include "posenc/isa.h"

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace posenc {

/// Two ratios closer to 1 than this are a tie whatever the samples say: code placement alone moves
/// as much.
inline constexpr double indistinguishable = 0.02;

/// The time of one candidate over that of another, paired by process, so that noise common to both
/// cancels.
struct PairedRatio {
  double ratio = 1;  ///< geometric mean over the processes
  double low = 0;    ///< its 95 % interval; everything, if there are fewer than two processes
  double high = std::numeric_limits<double>::infinity();
};

/// `one` and `other` hold the median of each process, in the same order of processes. The interval
/// is Student's t over the logarithms of the ratios: processes are the unit of chance, as addresses
/// change from one to the next.
PairedRatio paired_ratio(std::span<const double> one, std::span<const double> other);

/// A tie, unless the interval excludes 1 and the ratio is further from 1 than both 2 % and the
/// noise floor.
bool is_tie(const PairedRatio& ratio, double noise_floor) noexcept;

/// How far from 1 the ratios of a candidate to itself (A/A) are: of each list the largest distance,
/// once one ratio in five is set aside (what disturbs a single process widens the intervals too);
/// then the largest of all lists. 0 for no lists.
double noise_floor_of(std::span<const std::vector<double>> self_ratios);

/// The median of each process over that of the process before: A/A between processes.
std::vector<double> ratios_of_successive(std::span<const double> medians);

/// A candidate, and its times.
struct TimedCandidate {
  std::size_t method = 0;  ///< its method's place in the order of registration
  Isa isa = Isa::scalar;
  std::span<const double> seconds;  ///< one median a process
};

/// The index of the smallest geometric mean; candidates not empty.
std::size_t fastest_of(std::span<const TimedCandidate> candidates);

/// Whether a candidate that ties with the fastest may be preferred to it: if noise hides a large
/// difference, being simpler is no reason to be picked.
bool costs_little(const PairedRatio& ratio) noexcept;

/// The candidates that tie with the fastest and cost little, in the order in which they are to be
/// picked: the simplest method first, and of a method the best ISA. The fastest is among them.
std::vector<std::size_t> by_preference(std::span<const TimedCandidate> candidates,
                                       std::size_t fastest, double noise_floor);

}  // namespace posenc
