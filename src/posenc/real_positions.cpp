#include "posenc/real_positions.h"

#include "posenc/error.h"
#include "posenc/spec.h"
#include "posenc/support/float_format.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

constexpr int most_bits = 64;  ///< the largest log2 of a denominator

/// Throws InvalidArgument unless each position is in -most to most. Refuses NaN, too.
void check_positions(std::span<const double> positions, double most) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] >= -most && positions[i] <= most) continue;
    throw_invalid("positions[{}] is {}; allowed: {} to {}", i, positions[i], -most, most);
  }
}

int bits_of_denominator(double denominator) {
  int exponent = 0;
  const bool is_power = std::frexp(denominator, &exponent) == 0.5;
  if (is_power && exponent >= 1 && exponent <= most_bits + 1) return exponent - 1;
  throw_invalid("denominator is {}; allowed: a power of two, 1 to 2^64", denominator);
}

/// log2 of the smallest denominator that makes all positions exact, or of the largest allowed one.
int enough_bits(std::span<const double> positions) {
  int wanted = 0;
  double most = 0;
  for (const double position : positions) {
    if (position != 0) wanted = std::max(wanted, -OddMantissa(position).exponent);
    most = std::max(most, std::fabs(position));
  }
  wanted = std::min(wanted, most_bits);
  while (std::ldexp(most, wanted) > static_cast<double>(max_position)) --wanted;
  return wanted;
}

}  // namespace

RealPositions real_positions(std::span<const double> positions, std::optional<double> denominator) {
  const int given_bits = denominator ? bits_of_denominator(*denominator) : 0;
  check_positions(positions, std::ldexp(static_cast<double>(max_position), -given_bits));
  const int bits = denominator ? given_bits : enough_bits(positions);
  RealPositions real;
  real.denominator = std::ldexp(1.0, bits);
  real.multiples.reserve(positions.size());
  double most_rounded = 0;  // in units of 1 / denominator
  for (const double position : positions) {
    // Both steps are exact: ldexp() scales by a power of two, and the part that is rounded off
    // consists of bits of `scaled`.
    const double scaled = std::ldexp(position, bits), multiple = std::nearbyint(scaled);
    most_rounded = std::max(most_rounded, std::fabs(multiple - scaled));
    real.multiples.push_back(static_cast<std::int64_t>(multiple));
  }
  real.max_error = std::ldexp(most_rounded, -bits);
  return real;
}

}  // namespace posenc
