// The steps from a table's values to what it is and how it was rounded. Internal: not installed.
//
//     recover    frequencies, phases and positions, from the values alone
//     match      the conventions that have these frequencies
//     identify   the candidate, of all arrangements, that leaves the fewest bits open
//     explain    the way of rounding that leaves the fewest bits open
//
// A candidate is scored by the bits that it leaves open: of each sampled entry
// log2(1 + |entry - its value| in ulps), and of itself the bits that it takes to say it. The usual
// convention with exact values takes none. Frequencies alone are a row of phases at position 1.
#pragma once

#include "posenc/check/conventions.h"
#include "posenc/check/report.h"
#include "posenc/check/sample.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace posenc::check {

/// True if the options neither exclude the arrangement nor claim others.
inline bool allows(const TableOptions& options, Arrangement arrangement) {
  const auto is_one_of = [&](const std::vector<Arrangement>& all) {
    return std::ranges::count(all, arrangement) > 0;
  };
  return (options.arrangements.empty() || is_one_of(options.arrangements)) &&
         !is_one_of(options.excluded);
}

/// What the options claim takes no bits. Empty if no known table leaves fewer bits open than
/// columns of constants.
std::optional<Hypothesis> identify(const SampledTable& sample, const TableOptions& options);

}  // namespace posenc::check
