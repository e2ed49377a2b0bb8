// Sums of errors, and their distribution, in constant memory. Internal: not installed.
#pragma once

#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace posenc::suite {
inline namespace internals {

/// The number of parts that rows are divided into, each with its own tally. Each thread has several
/// parts: if its CPU is busy with other work, other threads take some of them.
constexpr std::int64_t tally_parts(std::int64_t rows, std::int64_t threads) noexcept {
  constexpr std::int64_t parts_per_thread = 4, enough = 128;  // a tally has about 100 kB
  const std::int64_t parts = std::max(threads, std::min(parts_per_thread * threads, enough));
  return std::min(rows, threads == 1 ? 1 : parts);
}

/// Counts of errors between 2^least and 2^most in 2^bits bins of equal width per octave, and of
/// larger errors in one more bin. They give quantiles in constant memory, rounded up by at most one
/// bin. A bin includes its upper end, so that an error of exactly half an ulp counts as "at most
/// half an ulp".
template <int least, int most, int bits>
class Histogram {
 public:
  static constexpr int greatest = most;

  void add(double error) noexcept { ++counts_[bin(error)]; }

  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < bins; ++i) counts_[i] += other.counts_[i];
  }

  /// The upper end of the bin that holds the entry of that rank; infinity for the last bin.
  double quantile(double share, std::int64_t entries) const noexcept {
    const auto rank = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(entries)));
    std::size_t i = 0;
    for (std::int64_t seen = counts_[0]; seen < rank && i + 1 < bins; seen += counts_[i]) ++i;
    return i == 0 ? 0.0 : upper_end(i);
  }

  /// The number of errors of at most 2^exponent. `exponent` is at most `greatest`.
  std::int64_t up_to_power(int exponent) const noexcept {
    const auto end =
        std::clamp<std::int64_t>((std::int64_t{exponent} - least) << bits, 0, bins - 1);
    return std::accumulate(counts_.begin(), counts_.begin() + end + 1, std::int64_t{0});
  }

 private:
  static constexpr int shift = 52 - bits;
  static constexpr std::int64_t first = std::int64_t{1023 + least} << bits;
  static constexpr std::size_t bins = 2 + (std::size_t{greatest - least} << bits);

  /// Bin 0 holds errors of at most 2^least; the others follow the leading bits of the double.
  static std::size_t bin(double error) noexcept {
    if (error <= std::ldexp(1.0, least)) return 0;
    // Subtract one unit in the last place: a power of two belongs to the bin below it.
    const auto leading =
        static_cast<std::int64_t>((std::bit_cast<std::uint64_t>(error) - 1) >> shift);
    return static_cast<std::size_t>(std::min<std::int64_t>(leading - first + 1, bins - 1));
  }

  static double upper_end(std::size_t i) noexcept {
    if (i + 1 == bins) return std::numeric_limits<double>::infinity();
    return std::bit_cast<double>(static_cast<std::uint64_t>(first + static_cast<std::int64_t>(i))
                                 << shift);
  }

  std::array<std::int64_t, bins> counts_{};
};

struct ErrorSum {
  double max_abs = 0;
  double max_ulp = 0;
  double squares = 0;
  double sum = 0;  ///< sum of the signed errors
  std::int64_t count = 0;

  /// Adds an entry that differs from its exact value by `error`, which is `ulps` in ulp.
  void add(double error, double ulps) noexcept {
    merge({std::fabs(error), ulps, error * error, error, 1});
  }

  void merge(const ErrorSum& other) noexcept {
    max_abs = std::max(max_abs, other.max_abs);
    max_ulp = std::max(max_ulp, other.max_ulp);
    squares += other.squares;
    sum += other.sum;
    count += other.count;
  }

  ErrorSummary summary() const noexcept {
    const double entries = std::max(1.0, static_cast<double>(count));
    return {max_abs, max_ulp, std::sqrt(squares / entries), sum / entries};
  }
};

/// The number of octaves of the magnitudes of positions, up to 2^53. Position 0 is an octave of its
/// own.
inline constexpr std::size_t octaves = 55;

inline std::size_t octave(std::int64_t position) noexcept {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(std::abs(position))));
}

/// The entries with the largest errors by one measure, the worst first. Among equal errors, the one
/// that was added first stands first.
class WorstEntries {
 public:
  WorstEntries(std::size_t most, double WorstEntry::*measure) : most_(most), measure_(measure) {}

  void add(const WorstEntry& entry) {
    if (all_.size() == most_) {
      if (!(entry.*measure_ > all_.back().*measure_)) return;
      all_.pop_back();
    }
    all_.insert(std::ranges::upper_bound(all_, entry.*measure_, std::greater(), measure_), entry);
  }

  void merge(const WorstEntries& later) {
    for (const WorstEntry& each : later.all_) add(each);
  }

  const std::vector<WorstEntry>& all() const noexcept { return all_; }

 private:
  std::size_t most_;
  double WorstEntry::*measure_;
  std::vector<WorstEntry> all_;
};

/// The largest errors in the cells of a grid over a table.
class MapTally {
 public:
  static constexpr std::int64_t most_rows = 48, most_columns = 64;

  MapTally() = default;
  MapTally(RowRange rows, std::int64_t d_model)
      : table_(rows),
        d_model_(d_model),
        map_{std::min(rows.count, most_rows), std::min(d_model, most_columns), {}} {
    map_.largest.resize(static_cast<std::size_t>(map_.rows * map_.columns));
  }

  void add(std::int64_t position, std::size_t channel, double error) noexcept {
    if (map_.rows == 0) return;
    // Computed in floating point, because the product of a position and the number of rows could
    // overflow.
    const double part =
        static_cast<double>(position - table_.first) / static_cast<double>(table_.count);
    const auto row =
        std::min(static_cast<std::int64_t>(part * static_cast<double>(map_.rows)), map_.rows - 1);
    const std::int64_t column = static_cast<std::int64_t>(channel) * map_.columns / d_model_;
    float& largest = map_.largest[static_cast<std::size_t>(row * map_.columns + column)];
    largest = std::max(largest, static_cast<float>(error));
  }

  void merge(const MapTally& other) noexcept {
    for (std::size_t i = 0; i < map_.largest.size(); ++i)
      map_.largest[i] = std::max(map_.largest[i], other.map_.largest[i]);
  }

  const ErrorMap& map() const noexcept { return map_; }

 private:
  RowRange table_;
  std::int64_t d_model_ = 0;
  ErrorMap map_;
};

/// The errors of one encoder over a range of rows.
struct Tally {
  explicit Tally(std::int64_t d_model, std::size_t most_worst = 1)
      : by_channel(static_cast<std::size_t>(d_model)),
        by_error(most_worst, &WorstEntry::abs_error),
        by_ulp(most_worst, &WorstEntry::ulps) {}

  /// Adds an entry that differs from its exact value by `error`.
  void add(const WorstEntry& entry, double error, bool is_nearest) {
    histogram.add(entry.abs_error);
    ulps.add(entry.ulps);
    const auto channel = static_cast<std::size_t>(entry.channel);
    by_channel[channel].add(error, entry.ulps);
    map.add(entry.position, channel, entry.abs_error);
    wrongly_rounded += !is_nearest;
    by_error.add(entry);
    by_ulp.add(entry);
  }

  void merge(const Tally& other) {
    histogram.merge(other.histogram);
    ulps.merge(other.ulps);
    for (std::size_t i = 0; i < octaves; ++i) by_octave[i].merge(other.by_octave[i]);
    for (std::size_t i = 0; i < by_channel.size(); ++i) by_channel[i].merge(other.by_channel[i]);
    map.merge(other.map);
    wrongly_rounded += other.wrongly_rounded;
    from_div_term = std::max(from_div_term, other.from_div_term);
    by_error.merge(other.by_error);
    by_ulp.merge(other.by_ulp);
  }

  Histogram<-80, 2, 6> histogram;  ///< distribution of absolute errors
  Histogram<-30, 120, 4> ulps;     ///< distribution of errors in ulp
  std::array<ErrorSum, octaves> by_octave{};
  std::vector<ErrorSum> by_channel;
  MapTally map;  ///< empty unless the caller sets it
  std::int64_t wrongly_rounded = 0;
  double from_div_term = 0;
  WorstEntries by_error, by_ulp;
};

/// NaN, infinity and all larger errors count as this error.
inline constexpr double largest_error = 4.0;

/// Adds the errors of one row. The exact entries are in the order of its columns.
void compare_row(std::int64_t position, const std::vector<ExactEntry>& exact, const double* got,
                 Tally& tally);

/// Fills in the errors of the report from the tally of these rows.
void set_errors(AccuracyReport& report, RowRange rows, DataType type, const Tally& tally);

}  // namespace internals
}  // namespace posenc::suite
