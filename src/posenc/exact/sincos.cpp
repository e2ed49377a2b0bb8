#include "posenc/exact/sincos.h"

#include "posenc/support/float_format.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace posenc::detail {
namespace {

/// The smallest n for which 1 / n! is below one unit.
template <std::size_t Limbs>
constexpr std::size_t vanishing_factorial() noexcept {
  auto inverse = power_of_2<Limbs>(-1);
  std::size_t n = 2;
  while (!is_zero(inverse)) inverse = inverse / ++n;
  return n;
}

/// 1 / n! for n >= 2, each too low by less than 2 units.
template <std::size_t Limbs>
constexpr auto inverse_factorials = [] {
  std::array<Fraction<Limbs>, vanishing_factorial<Limbs>()> all;
  all[2] = power_of_2<Limbs>(-1);
  for (std::size_t n = 3; n < all.size(); ++n) all[n] = all[n - 1] / n;
  return all;
}();

/// The sum z / s! - z^2 / (s + 2)! + z^3 / (s + 4)! - ... for z = square < 5/8 and s = 2 or 3. One
/// minus this sum is the cosine if s = 2, and the quotient of the sine and x if s = 3. An inverse
/// factorial is too low by less than 2 units, and a product by less than 2 Limbs - 1 units. The
/// next product keeps 5/8 of that error.
template <std::size_t Limbs>
Fraction<Limbs> complement_of_series(const Fraction<Limbs>& square, std::size_t start) noexcept {
  constexpr auto& inverses = inverse_factorials<Limbs>;
  Fraction<Limbs> sum;
  for (std::size_t n = inverses.size() - 1 - (inverses.size() - 1 - start) % 2; n >= start; n -= 2)
    sum = inverses[n] - square * sum;
  return square * sum;
}

/// The sine. Its series has fewer limbs than its argument: sin(x) = x - x (x^2 / 3! - ...) keeps
/// the relative precision of x, even if x is small.
template <std::size_t Limbs, std::size_t SeriesLimbs, std::size_t PhaseLimbs>
ExactValue<Limbs> sine_of(const ReducedPhase<PhaseLimbs>& reduced) noexcept {
  const auto x = radians_of<Limbs>(reduced.rest);
  const auto leading_x = leading<SeriesLimbs>(x);
  const auto square = leading_x * leading_x;
  if (reduced.quadrant % 2 == 0) {
    return {x - x * leading<Limbs>(complement_of_series(square, 3)),
            (reduced.quadrant == 2) != reduced.negative};
  }
  // 1 is not a fraction: a cosine of 1 becomes the largest fraction.
  auto below_1 = leading<Limbs>(complement_of_series(square, 2));
  if (is_zero(below_1)) below_1.limb.back() = 1;
  return {Fraction<Limbs>{} - below_1, reduced.quadrant == 3};
}

}  // namespace

ExactValue<> sine(const Turns& phase) noexcept {
  // Radians of 192 bits are precise enough unless they are below 2^-61.
  const ReducedPhase reduced(phase);
  if (reduced.rest.limb[0] == 0) return sine_of<radian_limbs, 2>(reduced);
  const auto [magnitude, negative] = sine_of<3, 2>(reduced);
  return {leading<radian_limbs>(magnitude), negative};
}

[[gnu::cold]] ExactValue<12> sine(const Widest& phase) noexcept {
  return sine_of<12, 12>(ReducedPhase(phase));
}

template <std::size_t Limbs>
Rounded round_to_bits(const ExactValue<Limbs>& value, DataType type, int log2_phase_error,
                      int log2_relative_error) noexcept {
  const Fraction<Limbs>& magnitude = value.magnitude;
  if (is_zero(magnitude)) return {0, true};
  const int log2_value = leading_bits(magnitude).exponent + 128;
  const Fraction<Limbs> error =
      power_of_2<Limbs>(log2_value + log2_relative_error) + power_of_2<Limbs>(log2_phase_error);
  const Fraction<Limbs> low = less(magnitude, error) ? Fraction<Limbs>{} : magnitude - error;
  // An end of the interval that is 1 or more becomes the largest fraction, which also rounds to 1.
  Fraction<Limbs> high = magnitude + error;
  if (less(high, magnitude)) high.limb.fill(~std::uint64_t{0});
  const auto nearest = [&](const Fraction<Limbs>& x) -> std::uint64_t {
    const LeadingBits bits = leading_bits(x);
    // A certain value is not a tie, so lower bits may be assumed to follow the top 64 bits.
    const auto top = static_cast<std::uint64_t>(bits.mantissa >> 64);
    return top == 0 ? 0 : round_to_bits(format_of(type), top, bits.exponent + 64, true);
  };
  const int sign_bit = static_cast<int>(8 * size_of(type)) - 1;
  const std::uint64_t sign = value.negative ? std::uint64_t{1} << sign_bit : 0;
  return {sign | nearest(magnitude), nearest(low) == nearest(high)};
}

template Rounded round_to_bits(const ExactValue<>&, DataType, int, int) noexcept;
template Rounded round_to_bits(const ExactValue<12>&, DataType, int, int) noexcept;

}  // namespace posenc::detail
