// Fractions of 320 bits, in which frequencies are computed: logarithms, exponentials, and doubles
// that are taken exactly. Integer operations alone, so that every machine has the same bits.
#pragma once

#include "posenc/exact/fixed_point.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace posenc {

/// Wider than Turns by one limb. At most 2^19 products are truncated, each by a few units, which
/// does not reach the limbs of Turns.
using Wide = Fraction<5>;

/// 1 / (2 pi).
inline constexpr Wide turns_of_one_radian = {{0x28be60db9391054a, 0x7f09d5f47d4d3770,
                                              0x36d8a5664f10e410, 0x7f9458eaf7aef158,
                                              0x6dc91b8e909374b8}};

/// Logarithms reach 709.8. Divided by 1024, they are fractions.
inline constexpr int log_unit_bits = 10;

/// ln(2 pi) / 2^log_unit_bits.
inline constexpr Wide logarithm_of_two_pi = {{0x00759fc72192fad2, 0x9a4a5e4800a20c90,
                                              0x11e7d847c689a2c5, 0xa6ef6351899ed50a,
                                              0xae9097cebff00743}};

constexpr bool is_zero(const Wide& x) noexcept { return x == Wide{}; }

/// atanh(numerator / denominator) / 2^log_unit_bits by its power series. The quotient must be at
/// most 1/3.
constexpr Wide atanh_series(std::uint64_t numerator, std::uint64_t denominator) noexcept {
  Wide quotient;
  uint128 remainder = numerator;
  for (auto& limb : quotient.limb) {
    const uint128 part = remainder << 64;
    limb = static_cast<std::uint64_t>(part / denominator);
    remainder = part % denominator;
  }
  const Wide square = quotient * quotient;
  Wide power = quotient / (std::uint64_t{1} << log_unit_bits);
  Wide sum;
  for (std::uint64_t odd = 1; !is_zero(power); odd += 2) {
    sum += power / odd;
    power = power * square;
  }
  return sum;
}

/// ln(value) / 2^log_unit_bits for a normal value above 0, from
/// ln(m 2^e) = 2 atanh((m - 1) / (m + 1)) + e 2 atanh(1 / 3). A negative logarithm is given
/// modulo 1.
constexpr Wide natural_logarithm(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  const std::uint64_t one = std::uint64_t{1} << 52;
  const std::uint64_t mantissa = (bits & (one - 1)) | one;
  const Wide of_mantissa = atanh_series(mantissa - one, mantissa + one);
  const Wide of_two = atanh_series(1, 3);
  const Wide of_power = of_two * static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent);
  return (exponent < 0 ? of_mantissa - of_power : of_mantissa + of_power) * 2;
}

/// exp(-x) for the argument x / 2^log_unit_bits > 0.
Wide exp_minus(const Wide& scaled) noexcept;

/// x 2^exponent modulo 1; truncated if the exponent is negative.
Wide shifted(Wide x, int exponent) noexcept;

/// A double in [0, 1), 0 or at least 2^-200.
Wide to_fraction(double value) noexcept;

/// x / divisor modulo 1, within 2^-256 if the divisor is at least 2^-10.
Wide divide(const Wide& x, double divisor) noexcept;

/// A frequency in radians, in turns modulo 1.
Wide to_turns(double frequency) noexcept;

constexpr bool less(const Wide& a, const Wide& b) noexcept { return a.limb < b.limb; }

/// The value in [-1/2, 1/2) that equals x modulo 1. The relative error is below 3 * 2^-53.
template <std::size_t Limbs>
double to_signed_double(const Fraction<Limbs>& x) noexcept {
  const bool is_negative = x.limb[0] >> 63 != 0;
  const Fraction<Limbs> magnitude = is_negative ? Fraction<Limbs>{} - x : x;
  double value = 0;
  for (std::size_t i = Limbs; i-- > 0;) {
    value = (value + static_cast<double>(magnitude.limb[i])) * 0x1p-64;
  }
  return is_negative ? -value : value;
}

}  // namespace posenc
