#include "posenc/check/limit.h"

#include <algorithm>
#include <cmath>

namespace posenc::check {

double allowed_error(DataType type, double factor, double phase) noexcept {
  const double ulp = 2 * half_ulp_of_one(type) * std::exp2(std::ceil(std::log2(factor)));
  return ulp + factor * std::min(16 * 0x1p-53 * (std::fabs(phase) + 1), 0x1p-10);
}

}  // namespace posenc::check
