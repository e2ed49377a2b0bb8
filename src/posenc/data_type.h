/// @file
/// The element types of a table: IEEE binary32, binary64 and binary16, and bfloat16.
#pragma once

#include "posenc/cxx20.h"

#include <bit>
#include <cstdint>
#include <string_view>
#if defined(__STDCPP_BFLOAT16_T__) || defined(__STDCPP_FLOAT16_T__)
#include <stdfloat>
#endif

namespace posenc {

/// The element type of a table.
enum class DataType { float32, float64, float16, bfloat16 };

/// All element types.
inline constexpr DataType all_data_types[] = {DataType::float32, DataType::float64,
                                              DataType::float16, DataType::bfloat16};

/// "float32", "float64", "float16" or "bfloat16".
std::string_view to_string(DataType type) noexcept;
/// Parses the name of a type. Throws InvalidArgument, listing the allowed names.
DataType parse_data_type(std::string_view name);

/// Bytes of one element.
constexpr std::int64_t size_of(DataType type) noexcept {
  return type == DataType::float32 ? 4 : type == DataType::float64 ? 8 : 2;
}

/// A binary floating-point format.
struct FloatFormat {
  int precision;       ///< bits of the significand, including the leading one
  int least_exponent;  ///< exponent of the least value above 0
};

/// The format of the element type.
constexpr FloatFormat format_of(DataType type) noexcept {
  if (type == DataType::float32) return {24, -149};
  if (type == DataType::float64) return {53, -1074};
  if (type == DataType::float16) return {11, -24};
  return {8, -133};
}

/// A 16-bit float, stored as its bits. C++20 has no arithmetic for this type, and encodings need
/// none.
struct Float16 {
  std::uint16_t bits = 0;  ///< IEEE binary16
  bool operator==(const Float16&) const = default;
};

/// A bfloat16, stored as its bits.
struct BFloat16 {
  std::uint16_t bits = 0;  ///< the upper half of a binary32
  bool operator==(const BFloat16&) const = default;
};

/// The DataType of the element type T. Any other type does not compile.
template <class T>
inline constexpr DataType data_type_of =
    [] { static_assert(sizeof(T) == 0, "not an element type of tables"); }();
template <>
inline constexpr DataType data_type_of<float> = DataType::float32;
template <>
inline constexpr DataType data_type_of<double> = DataType::float64;
template <>
inline constexpr DataType data_type_of<Float16> = DataType::float16;
template <>
inline constexpr DataType data_type_of<BFloat16> = DataType::bfloat16;

// The compiler's own 16-bit types, if it has them. Tables of these types have the same bits as
// tables of Float16 and BFloat16. g++ before 13 may define the limits of _Float16 on any CPU, but
// it has the type in C++ on x86 only.
#if defined(__FLT16_MANT_DIG__) && (defined(__clang__) || __GNUC__ >= 13 || defined(__SSE2__))
#define POSENC_HAS_NATIVE_FLOAT16 1  // std::float16_t is the same type
template <>
inline constexpr DataType data_type_of<_Float16> = DataType::float16;
#endif
#ifdef __STDCPP_BFLOAT16_T__
#define POSENC_HAS_NATIVE_BFLOAT16 1
template <>
inline constexpr DataType data_type_of<std::bfloat16_t> = DataType::bfloat16;
#endif

/// The exact value of the element as a double.
constexpr double to_double(float value) noexcept { return static_cast<double>(value); }
constexpr double to_double(double value) noexcept { return value; }  ///< the value itself
double to_double(Float16 value) noexcept;  ///< the exact value as a double
/// The exact value of the element as a double, even if subnormal floats are flushed to zero.
constexpr double to_double(BFloat16 value) noexcept {
  const bool is_subnormal = (value.bits & 0x7f80) == 0;
  if (!is_subnormal) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16));
  }
  const double magnitude = (value.bits & 0x7f) * 0x1p-133;
  return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The nearest value of type T (float, double, Float16, BFloat16), ties to even. Values that
/// overflow become infinity, and NaN stays NaN.
template <class T>
T nearest(double value) noexcept;

template <>
constexpr float nearest<float>(double value) noexcept {
  return static_cast<float>(value);
}
template <>
constexpr double nearest<double>(double value) noexcept {
  return value;
}
template <>
Float16 nearest<Float16>(double value) noexcept;
template <>
BFloat16 nearest<BFloat16>(double value) noexcept;

/// Half the spacing of the type's values just below 1: the largest rounding error of an encoding.
constexpr double half_ulp_of_one(DataType type) noexcept {
  return 0.5 / static_cast<double>(std::int64_t{1} << format_of(type).precision);
}

}  // namespace posenc
