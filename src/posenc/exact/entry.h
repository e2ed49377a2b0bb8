// Entries of an encoding, correctly rounded in integers. `rotation` recomputes uncertain entries
// this way, and tests use them for comparison.
//
// Method  First stage: the phase in 256 bits and the value to 118 bits (sincos.h). If a midpoint of
//         the type lies within the errors, the second stage computes the frequency again, to 640
//         bits, and from it the value in 768 bits.
// Error   Half an ulp, for entries farther than 2^-584, the error of the second stage, from a
//         midpoint.
// Range   Frequencies that are 0 or at least 2^-100 radians per position. Smaller frequencies are
//         allowed, but a float64 of such a frequency has no second stage.
// Cost    0.2 us. The second stage takes 0.1 ms; by chance, one float64 entry in 2^63 needs it.
//
// docs/how-it-works.md says why no other entry is that near to a midpoint, and what is left to
// chance. Such an entry would be rounded from the second stage's value, with the same bits
// everywhere.
#pragma once

#include "posenc/data_type.h"
#include "posenc/exact/frequency.h"
#include "posenc/exact/sincos.h"

#include <cstdint>

namespace posenc::detail {

/// At every position, the absolute error of the second stage's values is below 2^-widest_precision.
/// The phase contributes 2 pi 2^(53 - 640) < 2^-584.3, and the series less than 2^8 units of
/// 2^-768.
inline constexpr int widest_precision = 584;

/// The precisions that the stages claim. Tests claim less, so that the second stage has to decide
/// or leaves an entry uncertain.
struct EntryPrecision {
  int first = sincos_precision;
  int second = widest_precision;
};

/// A rounded entry. It is uncertain only in the cases named at the top of this file.
struct RoundedEntry : Rounded {
  bool by_second_stage;
};

/// The bits of the value of `type` that is nearest to the sine or cosine of frequency k at
/// `position`.
RoundedEntry rounded_entry(const Frequencies& frequencies, std::int64_t k, std::int64_t position,
                           bool is_cosine, DataType type, EntryPrecision precision = {}) noexcept;

}  // namespace posenc::detail
