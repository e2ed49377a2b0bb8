// Results of one method that are the same at several ISAs share a row of a table.
#pragma once

#include "posenc/isa.h"

#include <string>
#include <vector>

namespace posenc::cli {

template <class Result>
struct IsaRow {
  const Result* result;  ///< the first of them
  std::string isas;      ///< "sse2 avx2"
};

/// Joins neighbours for which is_same(one, other) holds.
template <class Result, class IsaOf, class IsSame>
std::vector<IsaRow<Result>> isa_rows(const std::vector<Result>& results, IsaOf isa_of,
                                     IsSame is_same) {
  std::vector<IsaRow<Result>> rows;
  for (const Result& each : results) {
    const std::string isa(to_string(isa_of(each)));
    if (!rows.empty() && is_same(*rows.back().result, each)) {
      rows.back().isas += " " + isa;
    } else {
      rows.push_back({&each, isa});
    }
  }
  return rows;
}

}  // namespace posenc::cli
