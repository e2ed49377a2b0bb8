// Entries of an encoding, correctly rounded in integers: what rotation recomputes, and what tests
// compare with.
//
// Method  the phase of 256 bits, and the value to 118 (sincos.h); if a midpoint of the type is
//         within their errors, the frequency anew to 640 bits, and the value from it in 768
// Error   half an ulp, of entries farther than 2^-584 from a midpoint, the second stage's error
// Range   frequencies that are 0 or at least 2^-100 radians per position; any, but for float64,
//         of which such a one has no second stage
// Cost    0.2 us; 0.1 ms for the second stage, by chance of one float64 entry in 2^63
//
// docs/how-it-works.md says why no other entry is that near, and what is left to chance. Such a one
// would be rounded from the second stage's value, with the same bits everywhere.
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
