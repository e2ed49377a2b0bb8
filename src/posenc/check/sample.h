// A table, and some of its entries. Internal: not installed.
#pragma once

#include "posenc/check/columns.h"
#include "posenc/check/identity.h"
#include "posenc/check/table_view.h"
#include "posenc/data_type.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace posenc::check {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a row holds, apart from how near it is to exact values.
enum class RowState : std::uint8_t { set, zero, not_finite };

/// At most `most` of 0 .. count - 1: the first ones and the last one, and others in no regular
/// distance, since a regular one may be that of a table's columns.
std::vector<std::int64_t> scattered(std::int64_t count, std::int64_t most);

/// A table, what its rows hold, and some of its entries.
struct SampledTable {
  /// Entries that were measured have noise, of a column for each frequency of halves.
  explicit SampledTable(const TableView& whole, bool holds_phases = false,
                        const TableView& noise = {});

  bool is_set(std::int64_t row) const noexcept {
    return states[static_cast<std::size_t>(row)] == RowState::set;
  }

  TableView table;
  bool holds_phases;  ///< and not their sines
  std::vector<RowState> states;
  std::int64_t entries_not_finite = 0;
  /// Of the sample, in no order, so that each part of it is a sample too. The rows are set.
  std::vector<std::int64_t> rows, columns;
  std::vector<double> got;    ///< row by row
  std::vector<double> noise;  ///< a standard deviation of each; empty if there is none
  DataType type;              ///< the narrowest that holds them
  double entry_error;         ///< of an entry near 1: half an ulp of the type, or the noise
};

/// An entry of the sample, and what it should hold.
struct SampledEntry {
  double got;
  double scale;  ///< of the function: the factor, and the sign of a negated sine
  std::size_t index;
  std::int64_t position, k;
  bool is_cosine, is_phase;

  double phase(const std::vector<double>& frequencies) const noexcept {
    return static_cast<double>(position) * frequencies[static_cast<std::size_t>(k)];
  }
  double value_at(double phase) const noexcept {
    return scale * (is_phase ? phase : is_cosine ? std::cos(phase) : std::sin(phase));
  }
};

/// Calls use(SampledEntry) for the entries of the first rows of the sample, until it returns false.
template <class Use>
void for_each_entry(const SampledTable& sample, const TableIdentity& identity, std::size_t rows,
                    const Use& use) {
  for (std::size_t row = 0, i = 0; row < std::min(rows, sample.rows.size()); ++row) {
    const std::int64_t position = identity.position(sample.rows[row]);
    for (const std::int64_t column : sample.columns) {
      const auto [k, is_cosine] = content_of(identity.arrangement, sample.table.columns, column);
      const double sign = !is_cosine && identity.has_negated_sines ? -1 : 1;
      if (!use(SampledEntry{sample.got[i], sign * identity.factor, i, position, k, is_cosine,
                            sample.holds_phases}))
        return;
      ++i;
    }
  }
}

}  // namespace posenc::check
