/// @file
/// Checks a table from elsewhere: identifies it, measures its errors and names their cause.
///
///     const posenc::check::TableReport report = posenc::check::table(matrix.view());
///     if (!report.is_good) std::cerr << posenc::check::to_string(report);
///
/// Without a claimed convention, the table is identified: its arrangement, its frequencies (base,
/// spacing, rule), its first position and a factor of all entries are found from its values. A
/// claimed property is never replaced by another that fits better. Properties without a claim are
/// found.
///
/// A table is good if every entry is within
///
///     one ulp of its type at 1, plus 16 * 2^-53 (1 + |phase|), which is at most 2^-10,
///
/// of the exact value, or within `max_error` if the options set it. The ulp is 6.0e-8 for float32,
/// 4.9e-4 for float16 and 3.9e-3 for bfloat16. Half of this ulp allows for sines that are not
/// correctly rounded. The second term allows for phases (position times frequency in radians) in
/// double. The errors of phases in float32 exceed this limit within a few rows. Beyond 2^39
/// radians, doubles are too coarse to hold phases.
///
/// The cause is either a way of computing the table or a difference from a claim, such as another
/// base or exchanged halves. A way says how frequencies are formed and how each part is rounded.
/// The report names the way that leaves the fewest bits of a sample open, and the share of the
/// entries that it reproduces bit for bit.
#pragma once

#include "posenc/check/report.h"
#include "posenc/model/rotary.h"

namespace posenc::check {

/// The claim that a table is the cache of a rotary embedding, in any arrangement that its kernels
/// read, and that its rows are at positions 0, 1, 2, ...
TableOptions cache_of(const model::RotarySpec& rotary);

/// Checks a table. Throws InvalidArgument if the table is empty, or if the options do not fit its
/// shape.
TableReport table(const TableView& table, const TableOptions& options = {});

}  // namespace posenc::check
