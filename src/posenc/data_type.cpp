#include "posenc/data_type.h"

#include "posenc/support/enum_names.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

constexpr auto names = enum_names<DataType>("dtype", "float32", "float64", "float16", "bfloat16");

/// The bits of the nearest 16-bit value; `infinity` holds the bits of the type's infinity. Computed
/// with doubles, because round_to_bits() takes a third more instructions for a whole table.
std::uint16_t nearest_bits(DataType type, std::uint64_t infinity, double value) noexcept {
  const FloatFormat format = format_of(type);
  const int least_normal = format.least_exponent + format.precision - 1;
  const int dropped = 53 - format.precision;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 48 & 0x8000;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | infinity >> 1);
  if (magnitude < std::ldexp(1.0, least_normal)) {
    // Subnormal values are multiples of the smallest one. Adding a power of two whose last bit has
    // the weight of the smallest value rounds to such a multiple.
    const double unit = std::ldexp(1.0, format.least_exponent + 52);
    const std::uint64_t multiple =
        std::bit_cast<std::uint64_t>(magnitude + unit) - std::bit_cast<std::uint64_t>(unit);
    return static_cast<std::uint16_t>(sign | multiple);
  }
  const std::uint64_t rebiased =
      (bits & (~std::uint64_t{0} >> 1)) - (std::uint64_t(1023 + least_normal - 1) << 52);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t rounded = (rebiased + half - 1 + (rebiased >> dropped & 1)) >> dropped;
  return static_cast<std::uint16_t>(sign | std::min(rounded, infinity));
}

}  // namespace

std::string_view to_string(DataType type) noexcept { return names[type]; }
DataType parse_data_type(std::string_view name) { return names.parse(name); }

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
