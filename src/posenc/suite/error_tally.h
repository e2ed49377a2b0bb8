// Sums of errors, and their distribution, in constant memory. Internal: not installed.
#pragma once

#include "posenc/suite/accuracy_report.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace posenc::suite {

/// The number of parts of those rows that have tallies of their own. A thread has several: if its
/// CPU is busy with other work, others take some of them.
constexpr std::int64_t tally_parts(std::int64_t rows, std::int64_t threads) noexcept {
  constexpr std::int64_t parts_per_thread = 4, enough = 256;
  const std::int64_t parts = std::max(threads, std::min(parts_per_thread * threads, enough));
  return std::min(rows, threads == 1 ? 1 : parts);
}

/// Counts of absolute errors between 2^-80 and 2^2, in 64 bins of equal width an octave, which give
/// quantiles within 1.6 % in constant memory.
class ErrorHistogram {
 public:
  void add(double abs_error) noexcept { ++counts_[bin(abs_error)]; }

  void merge(const ErrorHistogram& other) noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }

  /// The upper end of the bin that holds the entry of that rank.
  double quantile(double share, std::int64_t entries) const noexcept {
    const auto rank = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(entries)));
    std::int64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank && seen > 0) return i == 0 ? 0.0 : upper_end(i);
    }
    return upper_end(counts_.size() - 1);
  }

 private:
  static constexpr int least_exponent = -80, greatest_exponent = 2, bin_bits = 6;
  static constexpr int bins_per_octave = 1 << bin_bits;
  static constexpr std::int64_t first = std::int64_t{1023 + least_exponent} * bins_per_octave;
  static constexpr std::size_t bins = 1 + (greatest_exponent - least_exponent) * bins_per_octave;

  /// Bin 0 holds errors below 2^-80; the others follow the leading bits of the double.
  static std::size_t bin(double abs_error) noexcept {
    if (abs_error < std::ldexp(1.0, least_exponent)) return 0;
    const auto leading =
        static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(abs_error) >> (52 - bin_bits));
    return static_cast<std::size_t>(std::min<std::int64_t>(leading - first + 1, bins - 1));
  }

  static double upper_end(std::size_t i) noexcept {
    return std::bit_cast<double>(static_cast<std::uint64_t>(first + static_cast<std::int64_t>(i))
                                 << (52 - bin_bits));
  }

  std::array<std::int64_t, bins> counts_{};
};

struct ErrorSum {
  double max_abs = 0;
  double max_ulp = 0;
  double squares = 0;
  std::int64_t count = 0;

  void add(double abs_error, double ulps) noexcept {
    merge({abs_error, ulps, abs_error * abs_error, 1});
  }

  void merge(const ErrorSum& other) noexcept {
    max_abs = std::max(max_abs, other.max_abs);
    max_ulp = std::max(max_ulp, other.max_ulp);
    squares += other.squares;
    count += other.count;
  }

  ErrorSummary summary() const noexcept {
    return {max_abs, max_ulp, count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0.0};
  }
};

/// Octaves of magnitudes of positions up to 2^53. Position 0 is a separate octave.
inline constexpr std::size_t octaves = 55;

inline std::size_t octave(std::int64_t position) noexcept {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(std::abs(position))));
}

/// The errors of one encoder over a range of rows.
struct Tally {
  explicit Tally(std::int64_t d_model) : by_channel(static_cast<std::size_t>(d_model)) {}

  void merge(const Tally& other) {
    histogram.merge(other.histogram);
    for (std::size_t i = 0; i < octaves; ++i) by_octave[i].merge(other.by_octave[i]);
    for (std::size_t i = 0; i < by_channel.size(); ++i) by_channel[i].merge(other.by_channel[i]);
    wrongly_rounded += other.wrongly_rounded;
    from_div_term = std::max(from_div_term, other.from_div_term);
    if (other.worst_error > worst_error) {
      worst_error = other.worst_error;
      worst = other.worst;
    }
  }

  ErrorHistogram histogram;
  std::array<ErrorSum, octaves> by_octave{};
  std::vector<ErrorSum> by_channel;
  std::int64_t wrongly_rounded = 0;
  double from_div_term = 0;
  double worst_error = -1;
  WorstEntry worst;
};

/// measure_accuracy() of a table of which these runs of rows are compared, in order. The rows of
/// the reports are the whole table's.
std::vector<AccuracyReport> measure_accuracy(std::span<const Encoder* const> encoders,
                                             RowRange table, std::span<const RowRange> compared,
                                             const AccuracyOptions& options);

}  // namespace posenc::suite
