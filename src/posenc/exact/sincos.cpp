#include "posenc/exact/sincos.h"

#include "posenc/exact/wide.h"
#include "posenc/support/float_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace posenc::detail {
namespace {

constexpr uint128 leading_quarter_pi =
    (static_cast<uint128>(quarter_pi.limb[0]) << 64) | quarter_pi.limb[1];  // Q128

constexpr std::size_t terms = 16;

/// 1/start!, 1/(start + 2)!, ... in Q128. The coefficient 1 is 2^128 - 1, just below its value.
template <std::uint64_t start>
constexpr auto taylor_coefficients() noexcept {
  std::array<uint128, terms> coefficients{};
  uint128 value = ~static_cast<uint128>(0);
  std::uint64_t n = start;
  for (uint128& each : coefficients) {
    each = value;
    value /= (n + 1) * (n + 2);
    n += 2;
  }
  return coefficients;
}

/// c0 - z (c1 - z (c2 - ...)) in Q128 for z = square. At z = (pi/4)^2 the last term, z^15 / 30!, is
/// below 2^-118, and the first omitted one, z^16 / 32!, below 2^-128.
uint128 alternating_series(const std::array<uint128, terms>& coefficients,
                           uint128 square) noexcept {
  uint128 sum = 0;
  for (std::size_t i = coefficients.size(); i-- > 0;)
    sum = coefficients[i] - multiply_high(square, sum);
  return sum;
}

int leading_zeros(uint128 x) noexcept {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
}

ExactValue normalised(uint128 mantissa, int exponent, bool negative) noexcept {
  const int zeros = leading_zeros(mantissa);
  return {mantissa << zeros, exponent - zeros, negative};
}

}  // namespace

ReducedAngle reduce_to_radians(const Turns& phase) noexcept {
  const ReducedPhase reduced(phase);
  const Turns& rest = reduced.rest;
  ReducedAngle angle;
  angle.quadrant = reduced.quadrant;
  angle.negative = reduced.negative;

  std::size_t first = 0;
  while (first < rest.limb.size() && rest.limb[first] == 0) ++first;
  if (first == rest.limb.size()) {
    angle.exponent = -256;  // below every other angle
    return angle;
  }
  const auto limb = [&rest](std::size_t i) { return i < rest.limb.size() ? rest.limb[i] : 0; };
  const int shift = std::countl_zero(limb(first));
  uint128 top = (static_cast<uint128>(limb(first)) << 64) | limb(first + 1);
  if (shift > 0) top = (top << shift) | (limb(first + 2) >> (64 - shift));
  // top 2^-128 2^(-64 first - shift) turns, times 2 pi = 8 quarter_pi
  angle.mantissa = multiply_high(top, leading_quarter_pi);
  angle.exponent = -128 - 64 * static_cast<int>(first) - shift + 3;
  const int zeros = leading_zeros(angle.mantissa);
  angle.mantissa <<= zeros;
  angle.exponent -= zeros;
  return angle;
}

ExactValue sine(const Turns& phase) noexcept {
  const ReducedAngle angle = reduce_to_radians(phase);
  // At least 0, because mantissa 2^exponent < 1.
  const int shift = -128 - angle.exponent;
  const uint128 fraction = shift < 128 ? angle.mantissa >> shift : 0;
  const uint128 square = multiply_high(fraction, fraction);
  if (angle.quadrant % 2 == 1) {
    static constexpr auto coefficients = taylor_coefficients<0>();
    return normalised(alternating_series(coefficients, square), -128, angle.quadrant == 3);
  }
  if (angle.mantissa == 0) return {};
  static constexpr auto coefficients = taylor_coefficients<1>();
  // sin(x) = x (1 - x^2/3! + ...). The factor x keeps its relative precision, even if it is small.
  const uint128 factor = alternating_series(coefficients, square);
  return normalised(multiply_high(angle.mantissa, factor), angle.exponent,
                    (angle.quadrant == 2) != angle.negative);
}

ExactValue cosine(const Turns& phase) noexcept {
  constexpr Turns quarter = {{std::uint64_t{1} << 62, 0, 0, 0}};
  return sine(phase + quarter);
}

Rounded round_to_bits(const ExactValue& value, DataType type, int log2_phase_error,
                      int precision) noexcept {
  if (value.mantissa == 0) return {0, true};
  const FloatFormat format = format_of(type);
  const auto is_certain = [&] {
    // The mantissa's bits below the last one that the type keeps. From 130 on, the value is below a
    // quarter of the type's least, and so far from its half that no error reaches it.
    const int dropped = std::max(128 - format.precision, format.least_exponent - value.exponent);
    if (dropped >= 130) return true;
    const auto bit = [](int n) { return static_cast<uint128>(1) << n; };
    // The distance from the midpoint 2^(dropped - 1), without the bits that are kept. The midpoint
    // 2^128 wraps to 0, and the mantissa is below it.
    const uint128 rest = dropped < 128 ? value.mantissa & (bit(dropped) - 1) : value.mantissa;
    const uint128 half = dropped < 129 ? bit(dropped - 1) : 0;
    const uint128 distance = dropped < 129 && rest > half ? rest - half : half - rest;
    // log2 of twice the larger error, which bounds their sum, in units of the mantissa.
    const int error = std::max(128 - precision, log2_phase_error - value.exponent) + 1;
    return error < 127 && distance > bit(error);
  };
  const int sign_bit = static_cast<int>(8 * size_of(type)) - 1;
  const std::uint64_t sign = value.negative ? std::uint64_t{1} << sign_bit : 0;
  // What is certain is no tie, so that the top 64 bits have others below them.
  const auto top = static_cast<std::uint64_t>(value.mantissa >> 64);
  return {sign | round_to_bits(format, top, value.exponent + 64, true), is_certain()};
}

}  // namespace posenc::detail
