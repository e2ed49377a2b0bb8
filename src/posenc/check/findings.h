// The columns and frequencies that are off. Internal: not installed.
#pragma once

#include "posenc/check/report.h"
#include "posenc/check/sample.h"

#include <cstdint>
#include <vector>

namespace posenc::check {

/// The number of entries that are off, by row and by column.
struct Deviations {
  std::vector<std::int64_t> by_row, by_column;
};

/// Adds to the report which columns and frequencies of a judged table are off, and by how much, if
/// others are right. If one factor explains all of them, it adds a cause, too.
void add_findings(TableReport& report, const SampledTable& sample, const Deviations& off);

}  // namespace posenc::check
