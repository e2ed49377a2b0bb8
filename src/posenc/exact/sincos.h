// Sine and cosine of an exactly reduced phase to 118 bits, in integers: the slow path of correct
// rounding.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/fixed_point.h"
#include "posenc/exact/frequency.h"

#include <cstdint>

namespace posenc {

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

/// sin and cos of 2 pi phase. The relative error is below 2^-118 if the phase is a multiple of a
/// quarter turn, or at least 2^-120 turns away from the nearest one. No entry of an encoding is
/// closer by chance.
ExactValue sine(const Turns& phase) noexcept;
ExactValue cosine(const Turns& phase) noexcept;

/// The bits of the nearest value of that type. The rounding is undecided if, between the type's
/// precision and bit 118, all bits after the first are 0 or all are 1. This holds for one float32
/// entry in 2^93 and one float64 entry in 2^64.
std::uint64_t round_to_bits(const ExactValue& value, DataType type) noexcept;

float round_to_float(const ExactValue& value) noexcept;

}  // namespace posenc
