// Which entry stands in which column of a table. Internal: not installed.
#pragma once

#include "posenc/suite/checking/check.h"

#include <cstdint>

namespace posenc::suite {

struct ColumnContent {
  std::int64_t k;
  bool is_cosine;
};

/// Frequencies of a table with that many columns; 0 if it cannot have that arrangement.
std::int64_t frequencies_in(Arrangement arrangement, std::int64_t columns) noexcept;

ColumnContent content_of(Arrangement arrangement, std::int64_t columns,
                         std::int64_t column) noexcept;

/// The first column that holds the sine or the cosine of a frequency; -1 if none does.
std::int64_t column_of(Arrangement arrangement, std::int64_t columns, std::int64_t k,
                       bool is_cosine) noexcept;

/// True if there is a sine and a cosine of every frequency.
constexpr bool has_both_functions(Arrangement arrangement) noexcept {
  return arrangement <= Arrangement::interleaved_cos_first;
}

}  // namespace posenc::suite
