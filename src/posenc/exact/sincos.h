// Sine and cosine of an exactly reduced phase to 118 bits, in integers: the slow path of correct
// rounding. A rounding that 118 bits leave undecided is detected; entry.h then takes more.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/fixed_point.h"
#include "posenc/exact/frequency.h"

#include <cstddef>
#include <cstdint>

namespace posenc::detail {

/// A phase in radians, reduced to the nearest quarter turn: quadrant * pi / 2 + x, where
/// x = (negative ? -1 : 1) * mantissa * 2^exponent is at most pi / 4 in magnitude. The mantissa's
/// top bit is set, or the mantissa is 0. x is truncated, by a relative error below 2^-124.
struct ReducedAngle {
  unsigned quadrant = 0;
  bool negative = false;
  uint128 mantissa = 0;
  int exponent = 0;
};

ReducedAngle reduce_to_radians(const Turns& phase) noexcept;

/// (negative ? -1 : 1) * mantissa * 2^exponent. The mantissa's top bit is set, or the mantissa is
/// 0.
struct ExactValue {
  uint128 mantissa = 0;
  int exponent = 0;
  bool negative = false;
};

/// The relative error of sine() and cosine() is below 2^-sincos_precision for every phase, taken as
/// exact: that of the reduced angle, which keeps its 128 leading bits however small it is, is below
/// 2^-124; the series, whose sum is at least 1/2, loses at most 4 units of 2^-128 in each of 16
/// terms, and omits terms below 2^-128; and the last product loses 3 units.
inline constexpr int sincos_precision = 118;

/// sin and cos of 2 pi phase.
ExactValue sine(const Turns& phase) noexcept;
ExactValue cosine(const Turns& phase) noexcept;

/// log2 of the error in radians of a phase that is exact.
inline constexpr int no_phase_error = -1000;

/// The bits of the value of a type that is nearest to a computed one, and whether it is certain to
/// be the nearest to the exact one.
struct Rounded {
  std::uint64_t bits;
  bool is_certain;
};

/// Rounds to the nearest value of that type. It is certain unless a midpoint is as near as the
/// errors of the value, 2^-precision of it, and of its phase, 2^log2_phase_error radians. A float32
/// near 1 is uncertain with a probability of 2^-92, and a float64 with one of 2^-63.
Rounded round_to_bits(const ExactValue& value, DataType type, int log2_phase_error,
                      int precision = sincos_precision) noexcept;

}  // namespace posenc::detail
