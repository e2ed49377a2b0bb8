#include "posenc/exact/entry.h"

#include "posenc/exact/wide.h"
#include "posenc/support/float_format.h"

#include <bit>
#include <cstddef>
#include <tuple>

namespace posenc::detail {
namespace {

constexpr int widest_bits = 64 * static_cast<int>(std::tuple_size_v<decltype(Widest::limb)>);

/// The number of terms x^(2 n) / (2 n)!, |x| < 1, after which they are below a unit.
constexpr std::uint64_t series_terms() noexcept {
  int bits = 0;  // at most log2((2 n)!)
  std::uint64_t n = 0;
  while (bits < widest_bits) {
    ++n;
    bits += static_cast<int>(std::bit_width(2 * n - 1) + std::bit_width(2 * n)) - 2;
  }
  return n;
}

/// 1 - (1 - z / (s (s + 1)) (1 - z / ((s + 2) (s + 3)) (...))) for z = square < 1. Each term is
/// truncated by a unit, and its product with the rest, by less than 24; the next one keeps at most
/// half of that.
Widest complement_of_series(const Widest& square, std::uint64_t start) noexcept {
  Widest sum;
  for (std::uint64_t n = series_terms(); n-- > 0;) {
    const Widest term = square / ((start + 2 * n) * (start + 2 * n + 1));
    sum = term - term * sum;
  }
  return sum;
}

/// The bits, without a sign, of the value of that type nearest to a magnitude.
std::uint64_t round_to_bits(const Widest& magnitude, DataType type) noexcept {
  std::size_t first = 0;
  while (first < magnitude.limb.size() && magnitude.limb[first] == 0) ++first;
  if (first == magnitude.limb.size()) return 0;
  const int zeros = std::countl_zero(magnitude.limb[first]);
  const Widest shifted_up = magnitude * (std::uint64_t{1} << zeros);
  return round_to_bits(format_of(type), shifted_up.limb[first],
                       -64 * static_cast<int>(first + 1) - zeros, true);
}

/// Certain if both ends of the interval within the error round to the same value. An upper end of 1
/// or more becomes the largest fraction, which also rounds to 1.
Rounded round_to_bits(const WidestValue& value, DataType type, int precision) noexcept {
  Widest error;
  error.limb.back() = 1;
  error = shifted(error, widest_bits - precision);
  const Widest& magnitude = value.magnitude;
  const Widest low = less(magnitude, error) ? Widest{} : magnitude - error;
  Widest high = magnitude + error;
  if (less(high, magnitude)) high.limb.fill(~std::uint64_t{0});
  const int sign_bit = static_cast<int>(8 * size_of(type)) - 1;
  const std::uint64_t sign = value.negative ? std::uint64_t{1} << sign_bit : 0;
  return {sign | round_to_bits(magnitude, type),
          round_to_bits(low, type) == round_to_bits(high, type)};
}

/// True if the frequency is below 2^-100 radians per position, other than 0. In turns modulo 1, it
/// may be negative. 2^-103 < 2^-100 / (2 pi).
bool is_below_range(const Turns& turns) noexcept {
  const Turns magnitude = turns.limb[0] >> 63 != 0 ? Turns{} - turns : turns;
  return !is_zero(turns) && magnitude.limb[0] == 0 && magnitude.limb[1] >> (128 - 103) == 0;
}

/// The bits of the sine of that many quarter turns.
std::uint64_t bits_of_quarters(unsigned quarters, DataType type) noexcept {
  if (quarters % 2 == 0) return 0;
  const int sign_bit = static_cast<int>(8 * size_of(type)) - 1;
  const std::uint64_t sign = quarters % 4 == 3 ? std::uint64_t{1} << sign_bit : 0;
  return sign | round_to_bits(format_of(type), std::uint64_t{1} << 63, -63, false);
}

}  // namespace

[[gnu::cold]] WidestValue widest_sine(const Widest& phase) noexcept {
  const ReducedPhase reduced(phase);
  // The rest is at most 1/8 turn, and 2 pi times that is at most pi / 4.
  const Widest x = (reduced.rest * 4) * quarter_pi * 2;
  const Widest square = x * x;
  if (reduced.quadrant % 2 == 0) {
    return {x - x * complement_of_series(square, 2), (reduced.quadrant == 2) != reduced.negative};
  }
  // 1 is not a fraction: a cosine of 1 becomes the largest one.
  Widest below_1 = complement_of_series(square, 1);
  if (is_zero(below_1)) below_1.limb.back() = 1;
  return {Widest{} - below_1, reduced.quadrant == 3};
}

RoundedEntry rounded_entry(const Frequencies& frequencies, std::int64_t k, std::int64_t position,
                           bool is_cosine, DataType type, EntryPrecision precision) noexcept {
  if (const auto quarters = frequencies.whole_quarters(k, position)) {
    return {bits_of_quarters(is_cosine ? *quarters + 1 : *quarters, type), true, false};
  }
  const Turns phase = frequencies.phase(k, position);
  const Rounded first = round_to_bits(is_cosine ? cosine(phase) : sine(phase), type,
                                      Frequencies::log2_phase_error(position), precision.first);
  if (first.is_certain || (type == DataType::float64 && is_below_range(frequencies[k]))) {
    return {first.bits, first.is_certain, false};
  }
  Widest widest_phase = frequencies.widest(k) * static_cast<std::uint64_t>(position);
  if (is_cosine) {
    Widest quarter;
    quarter.limb[0] = std::uint64_t{1} << 62;
    widest_phase += quarter;
  }
  const Rounded second = round_to_bits(widest_sine(widest_phase), type, precision.second);
  return {second.bits, second.is_certain, true};
}

}  // namespace posenc::detail
