// Converts rows of 16-bit elements to float32 and back, for the layers, which compute in float32.
//
// Method  integer operations on the bits, in plain loops that the compiler vectorises for this ISA
// Error   none to widen; to narrow, the nearest, ties to even (the bits of to_double(), nearest())
// Range   all values: infinity if a value overflows, NaN for NaN
// Cost    operations a vector, to widen and to narrow: bfloat16 2 and 7; float16 about 10 and 15
#pragma once

namespace posenc::simd {
namespace {

inline std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// condition ? a : b. With a conditional expression, GCC moves the floating-point operations of `a`
/// into a branch, and does not vectorise the loop.
inline std::uint32_t select(bool condition, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = std::uint32_t{0} - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

inline float from_bfloat16(std::uint16_t element) {
  return float_of(static_cast<std::uint32_t>(element) << 16);
}

inline std::uint16_t to_bfloat16(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return static_cast<std::uint16_t>(select(is_nan, ((bits >> 16) & 0x8000) | 0x7fc0, rounded));
}

/// The exponent of float16 has another bias, and another value for infinity and NaN.
constexpr std::uint32_t float16_bias_difference = (127 - 15) << 23;

inline float from_float16(std::uint16_t element) {
  const std::uint32_t sign = static_cast<std::uint32_t>(element & 0x8000) << 16;
  const std::uint32_t magnitude = element & 0x7fff;
  const std::uint32_t finite = (magnitude << 13) + float16_bias_difference;
  const std::uint32_t subnormal =
      bits_of(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  const std::uint32_t bits = select(magnitude < 0x0400, subnormal, finite);
  return float_of(select(magnitude >= 0x7c00, finite + float16_bias_difference, bits) | sign);
}

inline std::uint16_t to_float16(float value) {
  const std::uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
  const std::uint32_t finite =
      (magnitude - float16_bias_difference + 0x0fff + ((magnitude >> 13) & 1)) >> 13;
  // Adding 1/2 rounds a value below 2^-14 to a multiple of 2^-24, in the low bits of the sum.
  const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  std::uint32_t element = select(magnitude < 0x38800000, subnormal, finite);
  element = select(magnitude >= 0x47800000, 0x7c00, element);
  element = select(magnitude > 0x7f800000, 0x7e00, element);
  return static_cast<std::uint16_t>(element | ((bits >> 16) & 0x8000));
}

void widen_kernel(const std::uint16_t* __restrict from, std::int64_t count, bool is_bfloat16,
                  float* __restrict to) noexcept {
  if (is_bfloat16) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from_bfloat16(from[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from_float16(from[i]);
  }
}

void narrow_kernel(const float* __restrict from, std::int64_t count, bool is_bfloat16,
                   std::uint16_t* __restrict to) noexcept {
  if (is_bfloat16) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = to_bfloat16(from[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = to_float16(from[i]);
  }
}

}  // namespace
}  // namespace posenc::simd
