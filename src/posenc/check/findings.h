// Where a table is off. Internal: not installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/check/table_view.h"

#include <cstdint>
#include <vector>

namespace posenc::check {

/// Entries that are beyond what is good, counted.
struct Deviations {
  std::vector<std::int64_t> by_row, by_column;
};

/// Says of a judged table which columns and frequencies are off, and by how much, if others are
/// right.
void add_findings(TableReport& report, const TableView& table, const Deviations& off);

}  // namespace posenc::check
