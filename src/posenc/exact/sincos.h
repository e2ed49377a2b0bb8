// The sine and cosine of an exactly reduced phase in integers, and their rounding to every element
// type: the slow path of correct rounding. If a rounding is undecided, this is detected, and
// entry.h uses more bits.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/fixed_point.h"
#include "posenc/exact/frequency.h"
#include "posenc/exact/wide.h"

#include <cstddef>
#include <cstdint>

namespace posenc::detail {

/// 2 pi times the rest of a reduced phase, where the rest is at most 1/8. The result is too low by
/// less than 4 Limbs units.
template <std::size_t Limbs, std::size_t PhaseLimbs>
Fraction<Limbs> radians_of(const Fraction<PhaseLimbs>& rest) noexcept {
  return leading<Limbs>(rest * 4) * leading<Limbs>(quarter_pi) * 2;
}

/// The number of limbs for the radians of a 256-bit phase. With these limbs, every value other than
/// 0, however small, has a relative error below 2^-125: the error is below 24 units of 2^-384, and
/// the value is at least 2 pi 2^-256.
inline constexpr std::size_t radian_limbs = 6;

/// The value (negative ? -1 : 1) * magnitude.
template <std::size_t Limbs = radian_limbs>
struct ExactValue {
  Fraction<Limbs> magnitude;  ///< a magnitude of 1 becomes 1 less one unit
  bool negative;
};

/// For every 256-bit phase, taken as exact, the relative error of the value is below
/// 2^-sincos_precision. The radians contribute less than 2^-125. Their square loses 5 units of
/// 2^-128, which the series halves; the terms of the series lose less than 2^4 such units. The last
/// product loses 2^4 units of 2^-384. A sine is at least 0.9 of its angle.
inline constexpr int sincos_precision = 118;

/// The sine of 2 pi phase.
ExactValue<> sine(const Turns& phase) noexcept;

/// The sine of 2 pi phase, within 2^8 units of 2^-768.
ExactValue<12> sine(const Widest& phase) noexcept;

/// The cosine of 2 pi phase.
template <std::size_t Limbs>
auto cosine(const Fraction<Limbs>& phase) noexcept {
  return sine(phase + power_of_2<Limbs>(-2));
}

/// log2 of the error of exact values.
inline constexpr int no_error = -1000;

/// The bits of the value of a type that is nearest to a computed value. They are certain if they
/// are also nearest to the exact value.
struct Rounded {
  std::uint64_t bits;
  bool is_certain;
};

/// Rounds to the nearest value of `type`. The error of the value is 2^log2_relative_error of it,
/// and the error of its phase is 2^log2_phase_error radians. The result is certain if both ends of
/// the interval within these errors round alike. A float32 near 1 is uncertain with a probability
/// of 2^-92, and a float64 with a probability of 2^-63. The value 0 means a phase of 0, and is
/// exact.
template <std::size_t Limbs>
Rounded round_to_bits(const ExactValue<Limbs>& value, DataType type, int log2_phase_error,
                      int log2_relative_error = -sincos_precision) noexcept;

}  // namespace posenc::detail
