#include "posenc/exact/wide.h"

#include "posenc/support/odd_mantissa.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace posenc {

// x is halved until it is small, and the result is squared as often. Each squaring doubles the
// relative error, which is a few 2^-320 at first.
Wide exp_minus(const Wide& scaled) noexcept {
  constexpr int small_bits = 16;  // y < 2^-16, so that 18 terms reach 2^-320
  constexpr std::uint64_t series_terms = 18;
  const int integer_bits = std::max(0, log_unit_bits - std::countl_zero(scaled.limb[0]));
  const int halvings = small_bits + integer_bits;
  // y = scaled 2^log_unit_bits / 2^halvings
  const Wide y = scaled / (std::uint64_t{1} << (halvings - log_unit_bits));
  // g = 1 - exp(-y) = y (1 - y / 2 (1 - y / 3 (...))). Near 0, exp(-y) itself may round to 1, which
  // is not a fraction.
  Wide g;
  for (std::uint64_t n = series_terms; n > 0; --n) {
    const Wide term = y / n;
    g = term - term * g;
  }
  Wide power = Wide{} - g;
  for (int i = 0; i < halvings; ++i) power = power * power;
  return power;
}

Wide shifted(Wide x, int exponent) noexcept {
  constexpr int most = 63;
  while (exponent != 0) {
    const int step = std::clamp(exponent, -most, most);
    const std::uint64_t power = std::uint64_t{1} << std::abs(step);
    x = step > 0 ? x * power : x / power;
    exponent -= step;
  }
  return x;
}

Wide to_fraction(double value) noexcept {
  if (value == 0) return {};
  const OddMantissa parts(value);
  return shifted(Wide{{0, 0, 0, 0, parts.mantissa}}, 64 * 5 + parts.exponent);
}

Wide divide(const Wide& x, double divisor) noexcept {
  const OddMantissa parts(divisor);
  return shifted(x / parts.mantissa, -parts.exponent);
}

Wide to_turns(double frequency) noexcept {
  if (frequency == 0) return {};
  const OddMantissa parts(frequency);
  // Digits must not be lost at the upper end before the product.
  const Wide unit = shifted(turns_of_one_radian, std::min(parts.exponent, 0));
  const Wide turns = shifted(unit * parts.mantissa, std::max(parts.exponent, 0));
  return frequency < 0 ? Wide{} - turns : turns;
}

}  // namespace posenc
