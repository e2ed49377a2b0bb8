// Why a table is not what it should be. Internal: not installed.
#pragma once

#include "posenc/check/conventions.h"
#include "posenc/check/findings.h"
#include "posenc/check/report.h"
#include "posenc/check/sample.h"

#include <optional>
#include <vector>

namespace posenc::check {

/// What the table is, and should not be, and how its entries are rounded.
std::vector<Cause> causes_of_difference(const SampledTable& sample, const Hypothesis& found,
                                        const TableIdentity& wanted);

/// The same of a table that was judged, and which rows or columns are off if only some are.
std::vector<Cause> causes_of(const SampledTable& sample, const Deviations& off,
                             const TableReport& report, const std::optional<Hypothesis>& found);

/// Rows that hold no sines.
std::vector<Cause> unset_rows(const SampledTable& sample);

}  // namespace posenc::check
