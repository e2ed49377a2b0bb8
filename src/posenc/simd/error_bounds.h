// The lengths of the kernels' blocks, and the error bounds that follow from them.
// docs/how-it-works.md derives the terms, and tests/simd/error_bounds_test.cpp measures them.
#pragma once

#include <cstdint>

namespace posenc::simd {

/// Unit roundoffs: half the spacing of floats and doubles in [1, 2), relative to 1.
inline constexpr double float_roundoff = 0x1p-24;
inline constexpr double double_roundoff = 0x1p-53;

// rotation, to float32 and 16-bit types: see rotation/rotation-inl.h.

/// Rows that the recurrence computes from one anchor, half of them in each direction.
inline constexpr std::int64_t block_rows = 32;
inline constexpr std::int64_t run_rows = block_rows / 2;
/// Blocks that share an exact anchor: the first computes it, and the others rotate it.
inline constexpr std::int64_t anchored_blocks = 16;

/// Errors before rounding, in units of double_roundoff times M, the largest magnitude of a column
/// in a block.
struct RotationError {
  bool has_fused_operations;

  /// The error of an anchor. The error of a sine is relative to its own value.
  static constexpr double anchor_cosine = 2, anchor_sine = 3;
  static constexpr double anchor = anchor_sine;
  /// The error of one angle addition: the errors of its constants, which are anchors, the roundings
  /// of two products, whose magnitudes add up to at most sqrt(2) M, and the rounding of their sum.
  static constexpr double rotation_roundings = 1.4143 + 1;
  static constexpr double rotation = anchor_cosine + anchor_sine + rotation_roundings;
  /// The error of 2 cos(w) times a row, averaged over the steps of a run.
  static constexpr double multiplier = 1.2;
  /// The error of one step of the recurrence: the rounding of its result and, without fused
  /// operations, of a product up to 2 M.
  constexpr double step() const { return has_fused_operations ? 1 : 3; }
  /// The growth of the errors of steps, summed over the steps of a run. The error of a step has
  /// grown by at most n after n more steps.
  static constexpr double growth = static_cast<double>(run_rows * (run_rows - 1) / 2);

  /// The absolute error of truncation: frequencies are truncated to 2^-128 turns, and phases to
  /// 2^-106 turns.
  static constexpr double truncation = 0x1p-70;

  static constexpr double middle_row() {
    return anchor + static_cast<double>(anchored_blocks - 1) * rotation;
  }
  static constexpr double second_row() { return static_cast<double>(run_rows) * rotation; }
  constexpr double recurrence() const { return growth * (multiplier + step()); }
  constexpr double total() const { return middle_row() + second_row() + recurrence(); }
};

// rotation32: see rotation32/rotation32-inl.h.

/// Rows that share a centre, and blocks whose phases are sums from one exact phase.
inline constexpr std::int64_t paired_block_rows = 32;
inline constexpr std::int64_t grouped_blocks = 8;

/// Errors in units of float_roundoff.
struct Rotation32Error {
  bool has_fused_operations;

  /// The error of the sine or cosine of a centre, for every phase: proofs/rotation32/centre.cc
  /// tries all phases.
  constexpr double centre() const { return has_fused_operations ? 1.44 : 1.86; }
  /// The error of the cosine or sine of an angle in the table.
  static constexpr double angle = 0.5;
  /// The roundings of u, of the sum and, without fused operations, of the other product.
  constexpr double addition() const { return has_fused_operations ? 1 : 1.5; }
  constexpr double total() const { return 1.41422 * (centre() + angle) + addition(); }
};

// rotation, to 16-bit types: see rotation/rotation_to_16_bits-inl.h.

static_assert(paired_block_rows == block_rows, "both use the constants that advance by one block");

/// The distances of the bounds from the exact value, in units of float_roundoff.
struct RotationTo16BitsError {
  bool has_fused_operations;

  /// The rounding of the sine or cosine of a centre or an angle. Its error before this rounding is
  /// far smaller.
  static constexpr double rounded = 0.5, before_rounding = 1e-6;
  /// The rounding of u and, without fused operations, of the products.
  constexpr double addition() const { return 0.5 + (has_fused_operations ? 0 : 1); }
  /// The error of the value, without the rounding of the sum.
  constexpr double value() const { return 1.41422 * 2 * (rounded + before_rounding) + addition(); }
  /// The rounding of a bound.
  static constexpr double bound = 0.5;
  constexpr double total() const { return value() + bound; }
  /// The distance from one bound to the other.
  constexpr double width() const { return 2 * total() + bound; }
};

// rotation, to float64: see rotation/rotation_to_float64-inl.h.

/// Rows on either side of a block's middle row.
inline constexpr std::int64_t float64_side_rows = 8;
inline constexpr std::int64_t float64_block_rows = 2 * float64_side_rows + 1;
inline constexpr std::int64_t float64_anchored_blocks = 8;

/// Absolute errors in units of 2^-76.
struct RotationToFloat64Error {
  double anchor = 2;
  double addition = 1;  ///< one angle addition, beyond the errors of its operands
  /// The error of row n of the table. The row is a sum of at most three powers of two, and each
  /// power is an anchor.
  constexpr double row_table() const {
    int powers = 0;
    for (std::int64_t rows = float64_side_rows; rows > 1; rows /= 2) ++powers;
    return powers * anchor + (powers - 1) * addition + 1;
  }
  /// The error of an entry that is `blocks` blocks after an anchor.
  constexpr double total(std::int64_t blocks) const {
    return anchor + static_cast<double>(blocks) * (anchor + addition) + row_table() + addition;
  }
};

/// The error of a frequency truncated to 128 bits of a turn, in radians per position.
inline constexpr double frequency_error = 6.2832 * 0x1p-128;

}  // namespace posenc::simd
