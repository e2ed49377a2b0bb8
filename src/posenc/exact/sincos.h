// Sine and cosine of an exactly reduced phase to 120 bits, in integers: the slow path behind
// correct rounding.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/fixed_point.h"
#include "posenc/exact/frequency.h"
#include "posenc/support/float_format.h"

#include <cstdint>

namespace posenc {

/// A phase in radians, reduced to the nearest quarter turn: quadrant * pi / 2 + (negative ? -1 : 1)
/// * mantissa * 2^exponent, at most pi / 4 in magnitude; the mantissa's top bit is set, or it is 0.
/// Truncated: within 2^-125, relatively.
struct ReducedAngle {
  unsigned quadrant = 0;
  bool negative = false;
  uint128 mantissa = 0;
  int exponent = 0;
};

ReducedAngle reduce_to_radians(const Turns& phase) noexcept;

/// (negative ? -1 : 1) * mantissa * 2^exponent, with the mantissa's top bit set, or 0.
struct ExactValue {
  uint128 mantissa = 0;
  int exponent = 0;
  bool negative = false;
};

/// sin and cos of 2 pi phase, off by less than 2^-118 of their value, relatively, as long as the
/// phase's nearest multiple of a quarter turn is at least 2^-120 turns away (or the phase is one).
/// No entry of any encoding is nearer than that by chance.
ExactValue sine(const Turns& phase) noexcept;
ExactValue cosine(const Turns& phase) noexcept;

/// The bits of the nearest value of that type. A value whose bits from the type's precision to 118
/// are all zeros or all ones after the first could be rounded either way: one float32 entry in 2^93
/// is, one float64 entry in 2^64.
std::uint64_t round_to_bits(const ExactValue& value, DataType type) noexcept;

float round_to_float(const ExactValue& value) noexcept;

}  // namespace posenc
