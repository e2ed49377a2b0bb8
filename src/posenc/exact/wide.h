// Fractions of many bits, in which frequencies are computed: logarithms, exponentials, and exact
// conversions of doubles. Only integer operations are used, so every machine has the same bits.
#pragma once

#include "posenc/exact/fixed_point.h"
#include "posenc/support/float_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace posenc::detail {

/// One limb wider than Turns. At most 2^19 products are truncated, each by a few units, so the
/// truncation does not reach the limbs of Turns.
using Wide = Fraction<5>;

/// 768 bits, for the entries that a 256-bit phase leaves undecided (entry.h).
using Widest = Fraction<12>;

/// The leading limbs of a fraction. If the fraction has fewer, zeros follow.
template <std::size_t Limbs, std::size_t Given>
constexpr Fraction<Limbs> leading(const Fraction<Given>& x) noexcept {
  Fraction<Limbs> result;
  std::copy_n(x.limb.begin(), std::min(Limbs, Given), result.limb.begin());
  return result;
}

/// 2^exponent for an exponent below 0. The result is 0 if it would be below one unit.
template <std::size_t Limbs>
constexpr Fraction<Limbs> power_of_2(int exponent) noexcept {
  Fraction<Limbs> result;
  const auto bit = static_cast<std::size_t>(-exponent - 1);  // counted from the top
  if (bit < 64 * Limbs) result.limb[bit / 64] = std::uint64_t{1} << (63 - bit % 64);
  return result;
}

/// 1 / (2 pi).
inline constexpr Widest turns_of_one_radian = {
    {0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158,
     0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121,
     0x3a671c09ad17df90, 0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603}};

/// pi / 4.
inline constexpr Widest quarter_pi = {{0xc90fdaa22168c234, 0xc4c6628b80dc1cd1, 0x29024e088a67cc74,
                                       0x020bbea63b139b22, 0x514a08798e3404dd, 0xef9519b3cd3a431b,
                                       0x302b0a6df25f1437, 0x4fe1356d6d51c245, 0xe485b576625e7ec6,
                                       0xf44c42e9a637ed6b, 0x0bff5cb6f406b7ed, 0xee386bfb5a899fa5}};

/// Logarithms reach 709.8. Divided by 1024, they become fractions.
inline constexpr int log_unit_bits = 10;

/// ln(2 pi) / 2^log_unit_bits.
inline constexpr Wide logarithm_of_two_pi = {{0x00759fc72192fad2, 0x9a4a5e4800a20c90,
                                              0x11e7d847c689a2c5, 0xa6ef6351899ed50a,
                                              0xae9097cebff00743}};

template <std::size_t Limbs>
constexpr bool is_zero(const Fraction<Limbs>& x) noexcept {
  return x == Fraction<Limbs>{};
}

template <std::size_t Limbs>
constexpr bool less(const Fraction<Limbs>& a, const Fraction<Limbs>& b) noexcept {
  return a.limb < b.limb;
}

/// atanh(numerator / denominator) / 2^log_unit_bits by its power series. The quotient must be at
/// most 1/3. If Limbs <= 12, the result is too low by less than 2^9 units. Each product adds
/// 2 Limbs - 1 units to the error of a power, and the next power keeps 1/9 of that error. Term n
/// has 1 / (2 n + 1) of it, and one unit of its own. There are at most 245 terms.
template <std::size_t Limbs>
constexpr Fraction<Limbs> atanh_series(std::uint64_t numerator,
                                       std::uint64_t denominator) noexcept {
  const auto quotient = Fraction<Limbs>::quotient(numerator, {}, denominator);
  const Fraction<Limbs> square = quotient * quotient;
  Fraction<Limbs> power = quotient / (std::uint64_t{1} << log_unit_bits);
  Fraction<Limbs> sum;
  for (std::uint64_t odd = 1; !is_zero(power); odd += 2) {
    sum += power / odd;
    power = power * square;
  }
  return sum;
}

/// atanh(1 / 3) / 2^log_unit_bits, computed at compile time.
template <std::size_t Limbs>
inline constexpr Fraction<Limbs> atanh_of_third = atanh_series<Limbs>(1, 3);

/// atanh(i / (32 + i)) / 2^log_unit_bits, half of ln(1 + i / 16), computed at compile time.
template <std::size_t Limbs, std::uint64_t i>
inline constexpr Fraction<Limbs> half_logarithm = atanh_series<Limbs>(i, 32 + i);
template <std::size_t Limbs>
inline constexpr auto half_logarithms = [
]<std::uint64_t... i>(std::integer_sequence<std::uint64_t, i...>) {
  return std::array{half_logarithm<Limbs, i>...};
}
(std::make_integer_sequence<std::uint64_t, 16>());

/// ln(value) / 2^log_unit_bits for a normal value above 0, from
///
///     ln(m 2^e) = 2 atanh((m - c) / (m + c)) + ln(c) + e 2 atanh(1 / 3)
///
/// With c = 1 + i / 16 <= m the series has few terms. The error is within 2^21 units, since |e| <=
/// 1023. A negative logarithm is returned modulo 1.
template <std::size_t Limbs>
constexpr Fraction<Limbs> natural_logarithm(double value) noexcept {
  constexpr int c_bits = 52 - 4;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  const std::uint64_t one = std::uint64_t{1} << 52;
  const std::uint64_t mantissa = (bits & (one - 1)) | one;
  const std::uint64_t i = (mantissa - one) >> c_bits, c = one + (i << c_bits);
  const Fraction<Limbs> of_mantissa =
      atanh_series<Limbs>(mantissa - c, mantissa + c) + half_logarithms<Limbs>[i];
  const Fraction<Limbs> of_power =
      atanh_of_third<Limbs> * static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent);
  return (exponent < 0 ? of_mantissa - of_power : of_mantissa + of_power) * 2;
}

/// exp(-x) for the argument x / 2^log_unit_bits > 0.
///
/// x is halved until it is small, and the result is squared as often: 16 times if x < 1, otherwise
/// at most 26 times. The error is below 2^6 units at first. Each squaring doubles it and adds less
/// than 2 Limbs units. The total is below 2^23 units if x < 1, and below 2^33 otherwise.
template <std::size_t Limbs>
Fraction<Limbs> exp_minus(const Fraction<Limbs>& scaled) noexcept {
  constexpr int small_bits = 16;  // y < 2^-16
  const int integer_bits = std::max(0, log_unit_bits - std::countl_zero(scaled.limb[0]));
  const int halvings = small_bits + integer_bits;
  // y = scaled 2^log_unit_bits / 2^halvings
  const Fraction<Limbs> y = scaled / (std::uint64_t{1} << (halvings - log_unit_bits));
  // g = 1 - exp(-y) = y (1 - y / 2 (1 - y / 3 (...))). Near 0, exp(-y) itself may round to 1, which
  // is not a fraction. From n = 9 on, n! is above 2^(2 n), so the omitted terms are below one unit.
  constexpr std::uint64_t terms = 64 * Limbs / (small_bits + 2) + 1;
  static_assert(terms >= 9);
  Fraction<Limbs> g;
  for (std::uint64_t n = terms; n > 0; --n) {
    const Fraction<Limbs> term = y / n;
    g = term - term * g;
  }
  Fraction<Limbs> power = Fraction<Limbs>{} - g;
  for (int i = 0; i < halvings; ++i) power = power * power;
  return power;
}

/// A phase reduced to the nearest quarter turn: `quadrant` quarters, plus or minus a rest of at
/// most an eighth of a turn. The reduction is exact.
template <std::size_t Limbs>
struct ReducedPhase {
  unsigned quadrant;
  bool negative;
  Fraction<Limbs> rest;

  explicit constexpr ReducedPhase(const Fraction<Limbs>& phase) noexcept {
    constexpr auto eighth = power_of_2<Limbs>(-3);
    rest = phase + eighth;
    quadrant = static_cast<unsigned>(rest.limb[0] >> 62);
    rest.limb[0] &= ~std::uint64_t{0} >> 2;
    negative = rest.limb[0] < eighth.limb[0];
    rest = negative ? eighth - rest : rest - eighth;
  }
};

/// The 128 leading bits of a fraction, as mantissa 2^exponent. The top bit is set unless the
/// fraction is 0.
struct LeadingBits {
  uint128 mantissa = 0;
  int exponent = 0;
};

template <std::size_t Limbs>
constexpr LeadingBits leading_bits(const Fraction<Limbs>& x) noexcept {
  std::size_t first = 0;
  while (first < Limbs && x.limb[first] == 0) ++first;
  if (first == Limbs) return {};
  const int zeros = std::countl_zero(x.limb[first]);
  const auto limb = [&](std::size_t i) { return i < Limbs ? x.limb[i] : 0; };
  uint128 mantissa = static_cast<uint128>(x.limb[first]) << 64 | limb(first + 1);
  if (zeros > 0) mantissa = mantissa << zeros | limb(first + 2) >> (64 - zeros);
  return {mantissa, -64 * (static_cast<int>(first) + 2) - zeros};
}

/// x 2^exponent modulo 1, truncated if the exponent is negative.
template <std::size_t Limbs>
Fraction<Limbs> shifted(Fraction<Limbs> x, int exponent) noexcept {
  constexpr int most = 63;
  while (exponent != 0) {
    const int step = std::clamp(exponent, -most, most);
    const std::uint64_t power = std::uint64_t{1} << std::abs(step);
    x = step > 0 ? x * power : x / power;
    exponent -= step;
  }
  return x;
}

/// The exact value of a double in [0, 1) that is 0 or at least 2^-200.
template <std::size_t Limbs>
Fraction<Limbs> to_fraction(double value) noexcept {
  if (value == 0) return {};
  const OddMantissa parts(value);
  Fraction<Limbs> units;
  units.limb.back() = parts.mantissa;
  return shifted(units, 64 * static_cast<int>(Limbs) + parts.exponent);
}

/// x / divisor modulo 1. If the divisor is at least 2^-10, the truncation is within 2^63 units.
template <std::size_t Limbs>
Fraction<Limbs> divide(const Fraction<Limbs>& x, double divisor) noexcept {
  const OddMantissa parts(divisor);
  return shifted(x / parts.mantissa, -parts.exponent);
}

/// a / b for a < b < 1/2, truncated.
template <std::size_t Limbs>
Fraction<Limbs> quotient_of(Fraction<Limbs> a, const Fraction<Limbs>& b) noexcept {
  Fraction<Limbs> quotient;
  for (std::uint64_t& limb : quotient.limb) {
    for (int bit = 63; bit >= 0; --bit) {
      a += a;
      if (less(a, b)) continue;
      a -= b;
      limb |= std::uint64_t{1} << bit;
    }
  }
  return quotient;
}

/// numerator / denominator modulo 1, truncated. The denominator is positive.
template <std::size_t Limbs>
Fraction<Limbs> rational(std::int64_t numerator, std::int64_t denominator) noexcept {
  const std::int64_t remainder = numerator % denominator;
  return Fraction<Limbs>::quotient(
      static_cast<std::uint64_t>(remainder < 0 ? remainder + denominator : remainder), {},
      static_cast<std::uint64_t>(denominator));
}

/// A frequency of at most 2^64 radians, in turns modulo 1. The error is within 2^65 units: the
/// unit's digits, which are truncated, are multiplied by the mantissa or the frequency.
template <std::size_t Limbs>
Fraction<Limbs> to_turns(double frequency) noexcept {
  if (frequency == 0) return {};
  const OddMantissa parts(frequency);
  // The scaling before the product must not shift digits out at the upper end.
  const Fraction<Limbs> unit =
      shifted(leading<Limbs>(turns_of_one_radian), std::min(parts.exponent, 0));
  const Fraction<Limbs> turns = shifted(unit * parts.mantissa, std::max(parts.exponent, 0));
  return frequency < 0 ? Fraction<Limbs>{} - turns : turns;
}

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

}  // namespace posenc::detail
