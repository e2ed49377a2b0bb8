/// @file
/// Checks a table from elsewhere: what it is, how wrong it is, and why.
///
///     const posenc::check::TableReport report = posenc::check::table(matrix.view());
///     if (!report.is_good) std::cerr << to_string(report);
///
/// Without a convention the table is identified: its arrangement, the frequencies (base, spacing,
/// rule), the first position and a factor of all entries are found from its values. What the
/// options claim is not replaced by what fits better; what they do not name is found.
///
/// Good is a table of which every entry is within
///
///     one ulp of its type at 1, plus 16 * 2^-53 (1 + |phase|), which is at most 2^-10,
///
/// of the exact value, or within the limit of the options: 6.0e-8 for float32, 4.9e-4 for float16,
/// 3.9e-3 for bfloat16. Half of that ulp is for sines that are not correctly rounded, and the
/// second term for phases in double, position times frequency in radians. Phases in float32 exceed
/// this within a few rows. Beyond 2^39 radians, doubles no longer tell phases well enough.
///
/// The cause is the way of computing a table (how its frequency is formed, and what each part is
/// rounded to) that leaves the fewest bits of a sample open, with the share of the entries that
/// have its bits; or a difference from what is claimed: another base, halves exchanged.
#pragma once

#include "posenc/check/report.h"
#include "posenc/check/table_view.h"

namespace posenc::check {

/// Throws InvalidArgument if the table is empty, or the options do not fit its shape.
TableReport table(const TableView& table, const TableOptions& options = {});

}  // namespace posenc::check
