// Rounding to the formats of the element types in integers, and a double as an odd integer times a
// power of two.
#pragma once

#include "posenc/data_type.h"
#include "posenc/support/detail.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace posenc::detail {

/// The bits, without a sign, of the value of `format` that is nearest to significand 2^exponent,
/// ties to even. The top bit of the significand must be set, and the result must not overflow. If
/// `more`, the value to round is larger than significand 2^exponent by less than one unit of the
/// significand.
constexpr std::uint64_t round_to_bits(FloatFormat format, std::uint64_t significand, int exponent,
                                      bool more) noexcept {
  const int normal_ulp = exponent + 64 - format.precision;
  const int ulp = normal_ulp > format.least_exponent ? normal_ulp : format.least_exponent;
  const int dropped = ulp - exponent;  // at least 64 - precision > 0
  if (dropped > 64) return 0;
  const std::uint64_t kept = dropped == 64 ? 0 : significand >> dropped;
  const std::uint64_t rest =
      dropped == 64 ? significand : significand & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const bool up = rest > half || (rest == half && (more || (kept & 1) == 1));
  // A carry out of the significand increments the exponent, which is correct.
  return (static_cast<std::uint64_t>(ulp - format.least_exponent) << (format.precision - 1)) +
         kept + (up ? 1 : 0);
}

/// The magnitude of a double other than 0: mantissa 2^exponent, where the mantissa is odd.
struct OddMantissa {
  std::uint64_t mantissa;
  int exponent;

  explicit OddMantissa(double value) noexcept {
    constexpr int precision = std::numeric_limits<double>::digits;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, precision));
    const int zeros = std::countr_zero(mantissa);
    mantissa >>= zeros;
    exponent += zeros - precision;
  }
};

}  // namespace posenc::detail
