#include "posenc/exact/frequency.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace posenc {
namespace {

/// Wider than Turns by one limb. At most 2^19 products are truncated, each by a few units, which
/// does not reach the limbs of Turns.
using Wide = Fraction<5>;

/// 1 / (2 pi).
constexpr Wide turns_of_one_radian = {{0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410,
                                       0x7f9458eaf7aef158, 0x6dc91b8e909374b8}};

/// Logarithms reach 709.8. Divided by 1024, they are fractions.
constexpr int log_unit_bits = 10;

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

/// ln(base) / 2^log_unit_bits, from ln(m 2^e) = 2 atanh((m - 1) / (m + 1)) + e 2 atanh(1 / 3). The
/// base must be above 1.
constexpr Wide natural_logarithm(double base) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(base);
  const std::uint64_t exponent = (bits >> 52) - 1023;
  const std::uint64_t one = std::uint64_t{1} << 52;
  const std::uint64_t mantissa = (bits & (one - 1)) | one;
  const Wide of_mantissa = atanh_series(mantissa - one, mantissa + one);
  const Wide of_two = atanh_series(1, 3);
  return (of_mantissa + of_two * exponent) * 2;
}

// The usual base, whose logarithm is computed at compile time.
constexpr double usual_base = 10000.0;
constexpr Wide logarithm_of_usual_base = natural_logarithm(usual_base);

/// exp(-x) for the argument x / 2^log_unit_bits > 0. x is halved until it is small, and the result
/// is squared as often. Each squaring doubles the relative error, which is a few 2^-320 at first.
Wide exp_minus(const Wide& scaled) noexcept {
  constexpr int small_bits = 16;  // y < 2^-16, so that 18 terms reach 2^-320
  constexpr std::uint64_t terms = 18;
  const int integer_bits = std::max(0, log_unit_bits - std::countl_zero(scaled.limb[0]));
  const int halvings = small_bits + integer_bits;
  // y = scaled 2^log_unit_bits / 2^halvings
  const Wide y = scaled / (std::uint64_t{1} << (halvings - log_unit_bits));
  // g = 1 - exp(-y) = y (1 - y / 2 (1 - y / 3 (...))). Near 0, exp(-y) itself may round to 1, which
  // is not a fraction.
  Wide g;
  for (std::uint64_t n = terms; n > 0; --n) {
    const Wide term = y / n;
    g = term - term * g;
  }
  Wide power = Wide{} - g;
  for (int i = 0; i < halvings; ++i) power = power * power;
  return power;
}

}  // namespace

Frequencies::Frequencies(const EncodingSpec& spec) {
  const Wide logarithm =
      spec.base == usual_base ? logarithm_of_usual_base : natural_logarithm(spec.base);
  // w_(k+1) / w_k
  const Wide ratio = exp_minus(logarithm / static_cast<std::uint64_t>(exponent_denominator(spec)));
  turns_.resize(static_cast<std::size_t>(spec.d_model / 2));
  Wide turns = turns_of_one_radian;
  for (Turns& each : turns_) {
    for (std::size_t i = 0; i < each.limb.size(); ++i) each.limb[i] = turns.limb[i];
    turns = turns * ratio;
  }
}

}  // namespace posenc
