// How the entries of a table were rounded: a list of ways, and which of them a table has the bits
// of. Internal: not installed.
//
// Method. A hypothesis (what a table is, and by which way it was computed) is scored by the bits
// that it leaves open: of each sampled entry log2(1 + |entry - its value| in ulps), and of itself
// the bits that it takes to say it. The usual convention with exact values takes none. The
// hypothesis with the least sum is the best: an unusual base, a factor or a rounding has to explain
// more bits of the entries than it takes to say.
#pragma once

#include "posenc/suite/checking/arrangement.h"
#include "posenc/suite/checking/check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace posenc::suite {

/// Some entries of a table. The rows are in no order, so that each part of them is a sample too.
struct Sample {
  Sample(const TableView& table, const std::vector<bool>& is_unset);

  DataType type;
  std::int64_t table_columns;
  std::vector<std::int64_t> rows, columns;
  std::vector<double> got;  ///< row by row
};

/// One of them, and what it should hold.
struct SampledEntry {
  double got;
  double scale;  ///< of the function: the factor, and the sign of a negated sine
  std::size_t index;
  std::int64_t position, k;
  bool is_cosine;

  double phase(const std::vector<double>& frequencies) const noexcept {
    return static_cast<double>(position) * frequencies[static_cast<std::size_t>(k)];
  }
  double value_at(double phase) const noexcept {
    return scale * (is_cosine ? std::cos(phase) : std::sin(phase));
  }
};

/// Calls use(SampledEntry) for the entries of the first rows of the sample, until it returns false.
template <class Use>
void for_each_entry(const Sample& sample, const TableIdentity& identity, std::size_t rows,
                    const Use& use) {
  for (std::size_t row = 0; row < std::min(rows, sample.rows.size()); ++row) {
    const std::int64_t position = identity.position(sample.rows[row]);
    for (std::size_t i = 0; i < sample.columns.size(); ++i) {
      const auto [k, is_cosine] =
          content_of(identity.arrangement, sample.table_columns, sample.columns[i]);
      const double sign = !is_cosine && identity.has_negated_sines ? -1 : 1;
      const std::size_t index = row * sample.columns.size() + i;
      if (!use(SampledEntry{sample.got[index], sign * identity.factor, index, position, k,
                            is_cosine}))
        return;
    }
  }
}

/// At most `most` of 0 .. count - 1: the first ones and the last one, and others in no regular
/// distance, since a regular one may be that of a table's columns.
std::vector<std::int64_t> scattered(std::int64_t count, std::int64_t most);

/// What a number is rounded to.
enum class Rounding : std::uint8_t {
  none,
  float32,
  bfloat16,
  truncated,  ///< to bfloat16
  float16,
  thousandths,  ///< in bfloat16, then times 1000: a timestep
  int8,         ///< wraps, as the next
  int16,
};
double rounded(double value, Rounding to) noexcept;

/// The bits of an entry that a value leaves open, for a way with errors of a few 2^-53 in the
/// phase.
double open_bits(double entry, double value, DataType type, std::int64_t position) noexcept;

/// What a table was computed by.
struct Explanation {
  CauseKind kind = CauseKind::float32_phases;
  bool is_exact = false;
  std::string text = {};
  double way_bits = 0;                ///< that it takes to say it
  double bits = 0;                    ///< and those that it leaves open
  Rounding entries = Rounding::none;  ///< of the type of the table
  double share = 0;                   ///< of the entries that have its bits
  double most_ulps = 0;               ///< that 99 % of the entries are within
};

/// The bits that the sample leaves open if it holds exact values. Stops where they exceed the
/// limit.
double open_bits_of(const Sample& sample, const TableIdentity& identity,
                    const std::vector<double>& frequencies, double limit);

/// The bits that the best way leaves open in the first rows of the sample.
double open_bits_of_best_way(const Sample& sample, const TableIdentity& identity, std::size_t rows);

/// The best way, and others that leave as few bits open.
std::vector<Explanation> explain(const Sample& sample, const TableIdentity& identity);

}  // namespace posenc::suite
