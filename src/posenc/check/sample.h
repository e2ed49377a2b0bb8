// A table, and a sample of its entries. Internal: not installed.
#pragma once

#include "posenc/check/columns.h"
#include "posenc/check/report.h"
#include "posenc/data_type.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace posenc::check {
inline namespace internals {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The kind of values in a row, regardless of how accurate they are.
enum class RowState : std::uint8_t { set, zero, not_finite };

/// At most `most` of the numbers 0 .. count - 1: the first ones, the last one, and others at
/// irregular distances. Regular distances might coincide with a pattern in the columns of a table.
std::vector<std::int64_t> scattered(std::int64_t count, std::int64_t most);

/// A table, the states of its rows, and a sample of its entries.
struct SampledTable {
  /// `noise` has one column per frequency if the entries were measured. The table then has
  /// its functions in halves.
  explicit SampledTable(const TableView& whole, bool holds_phases = false,
                        const TableView& noise = {});

  bool is_set(std::int64_t row) const noexcept {
    return states[static_cast<std::size_t>(row)] == RowState::set;
  }

  TableView table;
  bool holds_phases;  ///< true if the entries are phases, not their sines
  std::vector<RowState> states;
  std::int64_t entries_not_finite = 0;
  /// Rows and columns of the sample, in scattered order: the first few of them are a sample, too.
  /// All rows have the state `set`.
  std::vector<std::int64_t> rows, columns;
  std::vector<double> got;    ///< sampled entries, row by row
  std::vector<double> noise;  ///< standard deviation of each sampled entry; empty if not measured
  DataType type;              ///< the narrowest type that holds all sampled entries
  /// Error of an entry near 1: half an ulp of `type`, or the median noise if that is larger.
  double entry_error;

  /// The error that noise may add to a sampled entry; 0 if the entries were not measured.
  double noise_limit(std::size_t index) const noexcept {
    return noise.empty() ? 0 : 6 * noise[index];
  }
};

/// An entry of the sample, and its expected content.
struct SampledEntry {
  double got;
  double scale;  ///< multiplies the function: the factor, negative for a negated sine
  std::size_t index;
  std::int64_t position, k;
  bool is_cosine, is_phase;

  double phase(const std::vector<double>& frequencies) const noexcept {
    return static_cast<double>(position) * frequencies[static_cast<std::size_t>(k)];
  }
  double value_at(double phase) const noexcept {
    return scale * (is_phase ? phase : wave(is_cosine, phase));
  }
};

/// The entry in this row and column of the sample.
inline SampledEntry entry_of(const SampledTable& sample, const TableIdentity& identity,
                             std::size_t row, std::size_t column) {
  const auto [k, is_cosine] =
      content_of(identity.arrangement, sample.table.columns, sample.columns[column]);
  const std::size_t index = row * sample.columns.size() + column;
  const double sign = !is_cosine && identity.has_negated_sines ? -1 : 1;
  const std::int64_t position = identity.position(sample.rows[row]);
  return {sample.got[index], sign * identity.factor, index, position, k,
          is_cosine,         sample.holds_phases};
}

/// Calls use(SampledEntry) for the entries of the first `rows` rows of the sample, until it returns
/// false.
template <class Use>
void for_each_entry(const SampledTable& sample, const TableIdentity& identity, std::size_t rows,
                    const Use& use) {
  for (std::size_t row = 0; row < std::min(rows, sample.rows.size()); ++row)
    for (std::size_t column = 0; column < sample.columns.size(); ++column)
      if (!use(entry_of(sample, identity, row, column))) return;
}

}  // namespace internals
}  // namespace posenc::check
