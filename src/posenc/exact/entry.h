// Entries of an encoding, correctly rounded in integers: what rotation recomputes, and what tests
// compare with.
//
// Method. First stage: the phase of 256 bits, and the value to 118 bits (sincos.h). If a midpoint
// between two values of the type is within the errors of the value and of its phase, the second
// stage computes the frequency anew to 640 bits, and the value from it in 768.
//
// Error bound: every entry is correctly rounded that is farther than 2^-584 from a midpoint. The
// first stage decides only what is farther than its errors, and the second has an absolute error
// below 2^-584.
//
// Valid range: frequencies that are 0 or at least 2^-100 radians per position; any frequency, if
// the type is not float64. A float64 of another frequency has no second stage.
//
// What is proven, and what is not. No entry is a midpoint itself, since sine and cosine of an
// algebraic number other than 0 are transcendental. (On Llama 3.1's ramp a frequency holds 1 / pi
// and is not algebraic; there only chance excludes a midpoint.) Frequencies in turns give algebraic
// values, of which the rational ones, 0, 1/2 and 1, are no midpoints. An entry may be close to one
// for a reason: if x = position * w has few digits, as with w = 2^-90, the first terms of the
// series, such as x of sin(x) = x - x^3 / 6 + ..., may be a midpoint. Its distance is the next
// term, at least x^3 / 6: 2^-453 if a float32 is not 0, and 2^-303 for float64. The second stage
// decides these. In all others, the digits below the last one of the type are as good as random.
// One that is within 2^-584 of a midpoint, of a spacing of 2^-180 or more, has a probability below
// 2^-400, and any in a spec of at most 2^73 entries, one below 2^-327. This is not a proof, but
// surer than any machine that runs it. If there were one, it would be rounded from the second
// stage's value, with the same bits everywhere.
//
// Cost: about 0.2 microseconds for the first stage, and 0.1 milliseconds for the second.
// By chance it runs for one float64 entry in 2^63.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/frequency.h"
#include "posenc/exact/sincos.h"

#include <cstdint>

namespace posenc::detail {

/// The absolute error of the second stage's values is below 2^-widest_precision at every position:
/// 2 pi 2^(53 - 640) < 2^-584.3 of the phase, and less than 2^8 units of 2^-768 of the series.
inline constexpr int widest_precision = 584;

/// The precisions that the stages claim. Tests claim less, so that the second stage has to decide,
/// or leaves an entry uncertain.
struct EntryPrecision {
  int first = sincos_precision;
  int second = widest_precision;
};

/// It is uncertain only for what is said above.
struct RoundedEntry : Rounded {
  bool by_second_stage;
};

/// The bits of the value of `type` nearest to the sine or cosine of frequency k at a position.
RoundedEntry rounded_entry(const Frequencies& frequencies, std::int64_t k, std::int64_t position,
                           bool is_cosine, DataType type, EntryPrecision precision = {}) noexcept;

}  // namespace posenc::detail
