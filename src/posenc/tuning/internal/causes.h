// Why the entries of a table are off: known mistakes, simulated on some of its rows, and held
// against it by the rule of check.h. Internal: not installed.
#pragma once

#include "posenc/tuning/check.h"

#include <cstdint>
#include <vector>

namespace posenc {

/// Causes in the arithmetic of a table that is what `identity` says, in the rows that are set.
/// `rows_off` have entries that are off, in ascending order.
std::vector<Cause> numeric_causes(const TableView& table, const TableIdentity& identity,
                                  const std::vector<bool>& is_unset,
                                  const std::vector<std::int64_t>& rows_off);

/// What is good, at that position, for entries of a type with that factor: the rule of check.h.
double allowed_error(DataType type, double factor, std::int64_t position) noexcept;

}  // namespace posenc
