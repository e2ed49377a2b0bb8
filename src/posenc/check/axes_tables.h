// Tables over several axes. Internal: not installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/check/sample.h"
#include "posenc/model/axes.h"
#include "posenc/suite/reference.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace posenc::check {

/// Like identify(), for tables over several axes: tries every convention that posenc knows, on any
/// grid.
std::optional<TableIdentity> identify_axes(const SampledTable& sample, const TableOptions& options);

/// The position of each row on each axis of a known spec: positions[axis * rows + row]. A row that
/// fits no position from 0 to 2^16 gets position 0.
std::vector<std::int64_t> positions_on_axes(const TableView& table, const model::AxesSpec& spec,
                                            Arrangement arrangement, double factor);

/// A frequency of a table, and the columns that it fills.
struct TablePair {
  std::size_t part;  ///< index into the parts of the axes; 0 if the table has no axes
  /// The axis, and the number k of the frequency in the part's encoding.
  std::int64_t axis, k;
  suite::PairColumns to;
};

/// All pairs of a table with this number of columns.
std::vector<TablePair> pairs_of_table(const TableIdentity& identity, std::int64_t columns);

}  // namespace posenc::check
