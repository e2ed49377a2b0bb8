// Tables over several axes. Internal: not installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/check/sample.h"
#include "posenc/model/axes.h"
#include "posenc/suite/exact_entries.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace posenc::check {

/// identify() of tables over several axes, of the conventions that posenc has, and of any grid.
std::optional<TableIdentity> identify_axes(const SampledTable& sample, const TableOptions& options);

/// What the rows of the table are at, on each axis of a known spec: positions[axis * rows + row].
/// A row that fits no position up to 2^16 is at 0.
std::vector<std::int64_t> positions_on_axes(const TableView& table, const AxesSpec& spec,
                                            Arrangement arrangement, double factor);

/// A frequency of a table, and where it stands.
struct TablePair {
  std::size_t part;      ///< index into the parts of its axes; else 0
  std::int64_t axis, k;  ///< number k of the part's encoding
  suite::PairColumns to;
};

/// All of them.
std::vector<TablePair> pairs_of_table(const TableIdentity& identity, std::int64_t columns);

}  // namespace posenc::check
