#include "posenc/exact/sincos.h"
#include "posenc/support/float_format.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace posenc {
namespace {

constexpr uint128 quarter_pi =
    (static_cast<uint128>(0xc90fdaa22168c234) << 64) | 0xc4c6628b80dc1cd1;  // Q128

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
  constexpr Turns eighth = {{std::uint64_t{1} << 61, 0, 0, 0}};
  ReducedAngle angle;
  Turns rest = phase + eighth;
  angle.quadrant = static_cast<unsigned>(rest.limb[0] >> 62);
  rest.limb[0] &= ~std::uint64_t{0} >> 2;
  angle.negative = rest.limb[0] < eighth.limb[0];
  rest = angle.negative ? eighth - rest : rest - eighth;

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
  angle.mantissa = multiply_high(top, quarter_pi);
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

std::uint64_t round_to_bits(const ExactValue& value, DataType type) noexcept {
  const int sign_bit = static_cast<int>(8 * size_of(type)) - 1;
  const std::uint64_t sign = value.negative ? std::uint64_t{1} << sign_bit : 0;
  if (value.mantissa == 0) return 0;
  // A tie in the top 64 bits has more bits below them: the sine and cosine of an algebraic number
  // other than 0 are transcendental. (A frequency on Llama 3.1's ramp holds 1 / pi and is not
  // algebraic. There a tie is as improbable as an undecided rounding.)
  const auto top = static_cast<std::uint64_t>(value.mantissa >> 64);
  return sign | round_to_bits(format_of(type), top, value.exponent + 64, true);
}

float round_to_float(const ExactValue& value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(round_to_bits(value, DataType::float32)));
}

}  // namespace posenc
