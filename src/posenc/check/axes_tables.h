// Tables over several axes. Internal: not installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/check/sample.h"
#include "posenc/model/axes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// Like identify(), for tables over several axes: tries every convention that posenc knows, on any
/// grid.
std::optional<TableIdentity> identify_axes(const SampledTable& sample, const TableOptions& options);

/// The position of each row on each axis of a known spec: positions[axis * rows + row]. A row that
/// fits no position from 0 to 2^16 gets position 0.
std::vector<std::int64_t> positions_on_axes(const TableView& table, const model::AxesSpec& spec,
                                            Arrangement arrangement, double factor);

}  // namespace internals
}  // namespace posenc::check
