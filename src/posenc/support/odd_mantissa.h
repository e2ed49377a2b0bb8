// A double as an odd integer times a power of two.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace posenc {

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

}  // namespace posenc
