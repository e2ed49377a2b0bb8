// The lengths of the kernels' blocks, and the error bounds that follow from them. The kernels
// derive each term where it arises; tests/simd/error_bounds_test.cpp measures them.
#pragma once

#include <cstdint>

namespace posenc::simd {

/// Unit roundoffs: half the spacing of floats and doubles in [1, 2), relative to 1.
inline constexpr double float_roundoff = 0x1p-24;
inline constexpr double double_roundoff = 0x1p-53;

// rotation, to float32 and 16-bit types: see recurrence-inl.h.

/// Rows that the recurrence computes from one anchor, half of them in each direction.
inline constexpr std::int64_t block_rows = 32;
inline constexpr std::int64_t run_rows = block_rows / 2;
/// Blocks of which the first has an anchor of its own, and the others rotate it.
inline constexpr std::int64_t anchored_blocks = 16;

/// The error of an entry before it is rounded, in units of double_roundoff times the largest
/// magnitude M of its column in the block.
struct RotationError {
  double anchor = 2;      ///< of the anchor
  double rotation = 3.5;  ///< of one rotation of sine and cosine: 1 for its constants, 2.5 for its
                          ///< roundings
  double multiplier = 1.2;  ///< of 2 cos(w) times a row, averaged over the steps of a run
  double step;              ///< of the roundings of one step of the recurrence

  explicit constexpr RotationError(bool has_fused_operations)
      : step(has_fused_operations ? 1 : 3) {}

  /// An error of one step grows with every later one: it counts sin(n w) / sin(w) <= n times after
  /// n of them.
  static constexpr double growth = static_cast<double>(run_rows * (run_rows - 1) / 2);

  constexpr double blocks() const { return static_cast<double>(anchored_blocks - 1) * rotation; }
  constexpr double second_row() const { return static_cast<double>(run_rows) * rotation; }
  constexpr double recurrence() const { return growth * (multiplier + step); }
  constexpr double total() const { return anchor + blocks() + second_row() + recurrence(); }
};

// rotation32: see rotation32-inl.h.

/// Rows that share an anchor, and blocks whose phases are sums from an exact one.
inline constexpr std::int64_t block_rows32 = 16;
inline constexpr std::int64_t anchored_blocks32 = 32;

/// Of the anchors: the angle, at most pi / 4, has two roundings; the series and its last rounding.
inline constexpr double anchor_error32 = 2 * float_roundoff * 0.7854 + 2e-9 + float_roundoff;
/// Of an entry: an angle addition of an anchor and an entry of the row table, which is rounded
/// once, and its own two roundings.
inline constexpr double rotation32_error =
    1.41422 * (anchor_error32 + float_roundoff / 2) + 2 * float_roundoff / 2;

// rotation, to float64: see rotation64-inl.h.

inline constexpr std::int64_t block_rows64 = 16;
inline constexpr std::int64_t anchored_blocks64 = 8;

/// In units of 2^-76.
struct Rotation64Error {
  double anchor = 2;
  double addition = 1;  ///< of one angle addition, beyond the errors of its operands
  /// Row n is a sum of powers of two, at most four of them, each an anchor of its own.
  constexpr double row_table() const {
    int powers = 0;
    for (std::int64_t rows = block_rows64; rows > 1; rows /= 2) ++powers;
    return powers * anchor + (powers - 1) * addition + 1;
  }
  /// Of an entry, so many blocks after an anchor.
  constexpr double total(std::int64_t blocks) const {
    return anchor + static_cast<double>(blocks) * (anchor + addition) + row_table() + addition;
  }
};

/// The frequencies' leading 128 bits, of turns: what they are off by, in radians a position.
inline constexpr double frequency_error = 6.2832 * 0x1p-128;

}  // namespace posenc::simd
