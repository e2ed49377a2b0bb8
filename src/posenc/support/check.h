// Checks of numbers that several calls take. Each throws InvalidArgument, which names the argument,
// its value and the allowed values.
#pragma once

#include "posenc/error.h"
#include "posenc/support/format.h"

#include <cmath>
#include <string_view>

namespace posenc {

inline void check_at_least_one(std::string_view name, int value) {
  if (value >= 1) return;
  throw InvalidArgument(format_text("{} is {}; allowed: at least 1", name, value));
}

inline void check_threads(int threads) { check_at_least_one("threads", threads); }

inline void check_positive(std::string_view name, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw InvalidArgument(format_text("{} is {}; allowed: finite and greater than 0", name, value));
}

}  // namespace posenc
