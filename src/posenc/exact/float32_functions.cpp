#include "posenc/exact/float32_functions.h"

#include "posenc/data_type.h"
#include "posenc/exact/sincos.h"
#include "posenc/exact/wide.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace posenc::detail {
namespace {

/// The double functions of every C library in use are accurate to 4 ulp, 2^-50 of the value.
constexpr double double_margin = 0x1p-50;

/// The float nearest to the exact value of a function, given the double `value` that the C library
/// returns. If the midpoint of two neighbouring floats lies in the interval that holds the exact
/// value, decide(below, above, midpoint) selects the float. The midpoint is exact in double.
template <class Decide>
float nearest(double value, const Decide& decide) noexcept {
  const auto below = static_cast<float>(value * (1 - double_margin)),
             above = static_cast<float>(value * (1 + double_margin));
  return below == above ? below : decide(below, above, (to_double(below) + to_double(above)) / 2);
}

float nearest_of(const ExactValue<>& value) noexcept {
  // The phase is within 2^-255 turns (wide.h), and so within 2^-252 radians.
  constexpr int log2_phase_error = -252;
  const Rounded rounded = round_to_bits(value, DataType::float32, log2_phase_error);
  return std::bit_cast<float>(static_cast<std::uint32_t>(rounded.bits));
}

Turns turns_of(float phase) noexcept { return leading<4>(to_turns<5>(to_double(phase))); }

}  // namespace

namespace in_integers {

bool is_exp_above(float x, double midpoint) noexcept {
  const Wide argument = to_fraction<5>(std::ldexp(-to_double(x), -log_unit_bits));
  return less(to_fraction<5>(midpoint), exp_minus(argument));
}

bool is_power_above(float base, float exponent, double midpoint) noexcept {
  const Wide logarithm =
      natural_logarithm<5>(to_double(base)) * to_fraction<5>(std::fabs(to_double(exponent)) / 2);
  const Wide inverse = exp_minus(logarithm * 2);  // base^-|exponent|
  if (exponent < 0) return midpoint < 1 && less(to_fraction<5>(midpoint), inverse);
  // base^exponent > midpoint if inverse * midpoint < 1. All factors are scaled to be fractions.
  const int unit = std::ilogb(midpoint) + 2;
  const Wide product = inverse * to_fraction<5>(std::ldexp(midpoint, -unit));
  return less(product, to_fraction<5>(std::ldexp(1.0, -unit)));
}

float nearest_sine(float phase) noexcept { return nearest_of(sine(turns_of(phase))); }
float nearest_cosine(float phase) noexcept { return nearest_of(cosine(turns_of(phase))); }

}  // namespace in_integers

float nearest_exp(float x) noexcept {
  return nearest(std::exp(to_double(x)), [=](float below, float above, double midpoint) {
    return in_integers::is_exp_above(x, midpoint) ? above : below;
  });
}

float nearest_power(float base, float exponent) noexcept {
  const double power = std::pow(to_double(base), to_double(exponent));
  return nearest(power, [=](float below, float above, double midpoint) {
    return in_integers::is_power_above(base, exponent, midpoint) ? above : below;
  });
}

float nearest_sine(float phase) noexcept {
  return nearest(std::sin(to_double(phase)),
                 [=](auto...) { return in_integers::nearest_sine(phase); });
}

float nearest_cosine(float phase) noexcept {
  return nearest(std::cos(to_double(phase)),
                 [=](auto...) { return in_integers::nearest_cosine(phase); });
}

}  // namespace posenc::detail
