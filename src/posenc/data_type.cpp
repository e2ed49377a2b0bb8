#include "posenc/data_type.h"

#include "posenc/spec.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

constexpr std::array type_names = std::to_array<std::string_view>({"float32", "float64", "float16", "bfloat16"});

/// The nearest 16-bit value's bits. `infinity` is what lies above every finite one.
std::uint16_t nearest_bits(DataType type, std::uint64_t infinity, double value) noexcept {
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (infinity >> 1));
  std::uint64_t magnitude = 0;
  if (std::isinf(value)) {
    magnitude = infinity;
  } else if (value != 0) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent);  // in [1/2, 1)
    const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
    magnitude = round_to_bits(format_of(type), significand, exponent - 64, false);
    if (magnitude > infinity) magnitude = infinity;
  }
  return static_cast<std::uint16_t>(sign | magnitude);
}

}  // namespace

std::string_view to_string(DataType type) noexcept { return type_names[static_cast<std::size_t>(type)]; }

DataType parse_data_type(std::string_view name) {
  for (std::size_t i = 0; i < type_names.size(); ++i) {
    if (type_names[i] == name) return static_cast<DataType>(i);
  }
  throw InvalidArgument(fmt::format("dtype is '{}'; allowed: {}", name, fmt::join(type_names, ", ")));
}

double to_double(Float16 value) noexcept {
  const int exponent = (value.bits >> 10) & 31;
  const int fraction = value.bits & 1023;
  double magnitude = std::ldexp(exponent == 0 ? fraction : 1024 + fraction, (exponent == 0 ? 1 : exponent) - 25);
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
