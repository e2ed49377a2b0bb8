// The steps from a table's values to its convention and its rounding. Internal: not installed.
//
//     recover    finds frequencies, phases and positions from the values alone
//     match      finds the conventions that have these frequencies
//     identify   finds the candidate, of all arrangements, that leaves the fewest bits open
//     explain    finds the way of rounding that leaves the fewest bits open
//
// The score of a candidate counts bits. Each sampled entry costs log2(1 + |entry - its value| in
// ulps), and the candidate itself costs more the less usual it is. The usual convention costs no
// bits, and exact values leave none open. A list of frequencies is treated as a row of phases at
// position 1.
#pragma once

#include "posenc/check/conventions.h"
#include "posenc/check/report.h"
#include "posenc/check/sample.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// True if the options neither exclude the arrangement nor claim others.
inline bool allows(const TableOptions& options, Arrangement arrangement) {
  const auto is_one_of = [&](const std::vector<Arrangement>& all) {
    return std::ranges::count(all, arrangement) > 0;
  };
  return (options.arrangements.empty() || is_one_of(options.arrangements)) &&
         !is_one_of(options.excluded);
}

/// The arrangements that the options allow, without Arrangement::alternating, which is a mistake.
inline std::vector<Arrangement> allowed_arrangements(const TableOptions& options) {
  std::vector<Arrangement> all;
  for (const Arrangement each : all_arrangements)
    if (each != Arrangement::alternating && allows(options, each)) all.push_back(each);
  return all;
}

/// Identifies a table. Properties that the options claim cost no bits. The result is empty unless a
/// known table leaves clearly fewer bits open than columns of constants.
std::optional<Hypothesis> identify(const SampledTable& sample, const TableOptions& options);

}  // namespace internals
}  // namespace posenc::check
