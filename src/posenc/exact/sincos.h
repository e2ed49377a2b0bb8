// Sine and cosine of an exactly reduced phase in integers, and their rounding to every element
// type: the slow path of correct rounding. A rounding that is undecided is detected; entry.h then
// takes more bits.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/fixed_point.h"
#include "posenc/exact/frequency.h"
#include "posenc/exact/wide.h"

#include <cstddef>
#include <cstdint>

namespace posenc::detail {

/// 2 pi times the rest of a reduced phase, which is at most 1/8; low by less than 4 Limbs units.
template <std::size_t Limbs, std::size_t PhaseLimbs>
Fraction<Limbs> radians_of(const Fraction<PhaseLimbs>& rest) noexcept {
  return leading<Limbs>(rest * 4) * leading<Limbs>(quarter_pi) * 2;
}

/// The limbs of the radians of a phase of 256 bits, with which each but 0, however small, has a
/// relative error below 2^-125: 24 units of 2^-384, and it is at least 2 pi 2^-256.
inline constexpr std::size_t radian_limbs = 6;

/// (negative ? -1 : 1) * magnitude.
template <std::size_t Limbs = radian_limbs>
struct ExactValue {
  Fraction<Limbs> magnitude;  ///< 1 becomes 1 less a unit
  bool negative;
};

/// The relative error of the values of a phase of 256 bits is below 2^-sincos_precision, for every
/// phase, taken as exact: that of the radians is below 2^-125; their square loses 5 units of
/// 2^-128, which the series halves, its terms less than 2^4, and the last product 2^4 of 2^-384;
/// and a sine is at least 0.9 of its angle.
inline constexpr int sincos_precision = 118;

/// sin of 2 pi phase.
ExactValue<> sine(const Turns& phase) noexcept;

/// The same within 2^8 units of 2^-768.
ExactValue<12> sine(const Widest& phase) noexcept;

/// cos of 2 pi phase.
template <std::size_t Limbs>
auto cosine(const Fraction<Limbs>& phase) noexcept {
  return sine(phase + power_of_2<Limbs>(-2));
}

/// log2 of the error of what is exact.
inline constexpr int no_error = -1000;

/// The bits of the value of a type that is nearest to a computed one, and whether it is certain to
/// be the nearest to the exact one.
struct Rounded {
  std::uint64_t bits;
  bool is_certain;
};

/// Rounds to the nearest value of that type. It is certain if both ends of the interval within the
/// errors round alike: that of the value, 2^log2_relative_error of it, and that of its phase,
/// 2^log2_phase_error radians. A float32 near 1 is uncertain with a probability of 2^-92, and a
/// float64 with one of 2^-63. 0 is the value of a phase of 0, and exact.
template <std::size_t Limbs>
Rounded round_to_bits(const ExactValue<Limbs>& value, DataType type, int log2_phase_error,
                      int log2_relative_error = -sincos_precision) noexcept;

}  // namespace posenc::detail
