// The causes of the errors of a table. Internal: not installed.
#pragma once

#include "posenc/check/conventions.h"
#include "posenc/check/findings.h"
#include "posenc/check/report.h"
#include "posenc/check/sample.h"

#include <optional>
#include <vector>

namespace posenc::check {

/// The differences between the table and the wanted identity, and how the entries were rounded.
std::vector<Cause> causes_of_difference(const SampledTable& sample, const Hypothesis& found,
                                        const TableIdentity& wanted);

/// The causes for a judged table: causes_of_difference(), rows that are unset or arbitrary,
/// quantised entries and inexact functions.
std::vector<Cause> causes_of(const SampledTable& sample, const Deviations& off,
                             const TableReport& report, const std::optional<Hypothesis>& found);

/// The causes for all rows that are zero or not finite.
std::vector<Cause> unset_rows(const SampledTable& sample);

}  // namespace posenc::check
