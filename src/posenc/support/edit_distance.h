// How much two words differ. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace posenc::detail {

/// Insertions, deletions, replacements and swaps of neighbours that make one word the other
/// (optimal string alignment).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Of the first i characters of a from the first j of b.
  std::vector distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& now = distance[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      const std::size_t replaced = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replaced});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) now = std::min(now, distance[i - 2][j - 2] + 1);
    }
  }
  return distance.back().back();
}

}  // namespace posenc::detail
