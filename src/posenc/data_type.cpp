#include "posenc/data_type.h"

#include "posenc/support/float_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

/// The bits of the nearest 16-bit value. `infinity` is the bits of the type's infinity.
std::uint16_t nearest_bits(DataType type, std::uint64_t infinity, double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 48 & 0x8000;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | infinity >> 1);
  if (exponent == 0) return static_cast<std::uint16_t>(sign);  // a subnormal double is far below
  const std::uint64_t significand = std::uint64_t{1} << 63 | bits << 11;
  const std::uint64_t rounded =
      round_to_bits(format_of(type), significand, exponent - 1023 - 63, false);
  return static_cast<std::uint16_t>(sign | std::min(rounded, infinity));
}

}  // namespace

double to_double(Float16 value) noexcept {
  const int exponent = (value.bits >> 10) & 31;
  const int fraction = value.bits & 1023;
  double magnitude =
      std::ldexp(exponent == 0 ? fraction : 1024 + fraction, (exponent == 0 ? 1 : exponent) - 25);
  if (exponent == 31) magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <>
Float16 nearest<Float16>(double value) noexcept {
  return {nearest_bits(DataType::float16, 0x7c00, value)};
}

template <>
BFloat16 nearest<BFloat16>(double value) noexcept {
  return {nearest_bits(DataType::bfloat16, 0x7f80, value)};
}

}  // namespace posenc
