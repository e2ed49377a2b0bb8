// The causes of the errors of a table. Internal: not installed.
#pragma once

#include "posenc/check/conventions.h"
#include "posenc/check/report.h"
#include "posenc/check/sample.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// The number of entries that are off, by row and by column.
struct Deviations {
  std::vector<std::int64_t> by_row, by_column;
};

/// The differences between the table and the wanted identity, and how the entries were rounded.
std::vector<Cause> causes_of_difference(const SampledTable& sample, const Hypothesis& found,
                                        const TableIdentity& wanted);

/// The causes for a judged table: causes_of_difference(), rows that are unset or arbitrary,
/// quantised entries and inexact functions.
std::vector<Cause> causes_of(const SampledTable& sample, const Deviations& off,
                             const TableReport& report, const std::optional<Hypothesis>& found);

/// The causes for rows that are zero or not finite, if is_wanted(row).
std::vector<Cause> unset_rows(
    const SampledTable& sample,
    const std::function<bool(std::int64_t)>& is_wanted = [](std::int64_t) { return true; });

/// Adds to the report which columns and frequencies of a judged table are off, and by how much, if
/// others are right. If one factor explains all of them, it adds a cause, too.
void add_findings(TableReport& report, const SampledTable& sample, const Deviations& off);

}  // namespace internals
}  // namespace posenc::check
