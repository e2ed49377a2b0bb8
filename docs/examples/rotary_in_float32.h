// Rotary embeddings on devices without doubles, to be read and ported.
//
// Method  A frequency is a 64-bit fraction of a turn, computed once on the host. Its product with a
//         position, modulo 2^64, is the phase: an integer multiplication is the reduction. The
//         phase from the nearest quarter turn becomes a float, and two short polynomials give its
//         sine and cosine.
// Error   of a cosine or sine, at positions to 2^31: at most 2e-7, added up below
// Range   whole bases from 2 on, any even d, positions below 2^64
// Cost    a 64-bit product, a conversion and 14 operations on floats a pair
//
//   frequency: 2^-64 turns, times a position of 2^31                              7.3e-10
//   x: the conversion, 2 pi / 2^64 and their product round, 3 * 2^-24 relatively,
//      which moves a sine by x cos(x), and a cosine by x sin(x), at most 0.56     1.0e-7
//   polynomials: up to 0.31 after three roundings, the last sum, the terms left   9e-8
#pragma once

#include <cmath>
#include <cstdint>

namespace rotary_in_float32 {

// On the host: fractions of 128 bits, whose products round down.

__extension__ using Fraction = unsigned __int128;
__extension__ using Difference = __int128;

inline Fraction product(Fraction a, Fraction b) {
  const auto half = [](Fraction value, bool is_high) {
    return static_cast<Fraction>(static_cast<std::uint64_t>(value >> (is_high ? 64 : 0)));
  };
  const Fraction middle = half(a, true) * half(b, false), other = half(a, false) * half(b, true);
  const Fraction carry =
      (half(a, false) * half(b, false) >> 64) + half(middle, false) + half(other, false);
  return half(a, true) * half(b, true) + (middle >> 64) + (other >> 64) + (carry >> 64);
}

inline Fraction power(Fraction base, int exponent) {
  Fraction result = ~Fraction{0};  // 1, as nearly as there is
  for (; exponent > 0; exponent /= 2, base = product(base, base)) {
    if (exponent % 2 == 1) result = product(result, base);
  }
  return result;
}

/// base^(-2 / d): each step of Newton's method squares the relative error, of 2^-52 at first.
inline Fraction ratio_of(std::uint32_t base, int d) {
  const Fraction power_wanted = ~Fraction{0} / base;
  auto ratio = static_cast<Fraction>(std::ldexp(std::pow(base, -2.0 / d), 64)) << 64;
  for (int step = 0; step < 2; ++step) {
    const auto excess = static_cast<Difference>(power(ratio, d / 2) - power_wanted);
    const double relative = static_cast<double>(excess) / static_cast<double>(power_wanted) * 2 / d;
    ratio -= static_cast<Fraction>(static_cast<Difference>(
        std::ldexp(relative, 100) * std::ldexp(static_cast<double>(ratio), -100)));
  }
  return ratio;
}

/// base^(-2 k / d) / (2 pi), in units of 2^-64 turns, for k in [0, d / 2).
inline std::uint64_t frequency(std::uint32_t base, int d, int k) {
  constexpr Fraction one_over_two_pi =
      Fraction{0x28be60db9391054a} << 64 | Fraction{0x7f09d5f47d4d3770};
  return static_cast<std::uint64_t>(product(power(ratio_of(base, d), k), one_over_two_pi) >> 64);
}

// On the device: integers and floats alone.

struct Rotation {
  float cosine, sine;
};

inline Rotation rotation_at(std::uint64_t position, std::uint64_t frequency) {
  const std::uint64_t phase = position * frequency;
  const std::uint64_t quarter = (phase + (std::uint64_t{1} << 61)) >> 62;
  const auto rest = static_cast<std::int64_t>(phase - (quarter << 62));  // an eighth turn at most
  const float x = static_cast<float>(rest) * 0x1.921fb6p-62f;            // 2 pi / 2^64
  const float square = x * x;
  const float sine =
      x +
      x * square * (-1.0f / 6 + square * (1.0f / 120 + square * (-1.0f / 5040 + square / 362880)));
  const float cosine =
      1 - square * (0.5f -
                    square * (1.0f / 24 -
                              square * (1.0f / 720 - square * (1.0f / 40320 - square / 3628800))));
  switch (quarter & 3) {
    case 0: return {cosine, sine};
    case 1: return {-sine, cosine};
    case 2: return {-cosine, -sine};
    default: return {sine, -cosine};
  }
}

/// Turns one pair of channels.
inline void rotate(const Rotation& by, float& first, float& second) {
  const float a = first, b = second;
  first = a * by.cosine - b * by.sine;
  second = b * by.cosine + a * by.sine;
}

}  // namespace rotary_in_float32
