// rotation: values in double by a three-term recurrence.
//
// Method. For a frequency w, both columns v_n = sin(phase + n w) and cos(phase + n w) obey
// v_(n+1) = 2 cos(w) v_n - v_(n-1): one fused operation a value in every layout, because each lane
// of a vector is a column.
//   anchor      sine and cosine from the reduced phase, every anchored_blocks blocks
//   middle row  the anchor, rotated by block_rows w from block to block
//   second row  the middle row, rotated by w
//   other rows  the recurrence from these two, upwards and downwards, in tiles of columns that
//               stay in registers
//
// Error bound (RotationError in error_bounds.h), in units of u = 2^-53. M bounds the values of a
// column in the block: min(1, last position times w) for a sine, 1 for a cosine.
//   anchor       2 for a cosine; 3 times its value, at most 3 M, for a sine
//   middle row   7.4 M for each rotation: the errors of its constants, which are anchors, and the
//                roundings of two products and their sum
//   second row   one more rotation, whose error the recurrence amplifies by at most run_rows
//   recurrence   run_rows - 1 steps. The error of step j grows by sin(n w) / sin(w) <= n, where
//                n = run_rows - j. Rounding a step costs M, or 3 M without fused operations. The
//                error of 2 cos(w) is at most u (1 + 8 w^2); if this is large, sin(n w) / sin(w) is
//                small. The average over the steps is 1.2 M.
// Truncated frequencies and phases add an absolute error of 2^-70.
//
// Valid range: every position up to max_position.
//
// Cost: one operation a vector of doubles.
//
// Source: the three-term recurrence of Chebyshev polynomials. Computing rows in both directions
// from the middle halves its length.
#pragma once

#include "posenc/simd/anchors-inl.h"

namespace posenc::simd {
namespace {

constexpr std::int64_t panel_frequencies = 256;

/// The columns of up to panel_frequencies frequencies, ready for the recurrence. Doubles are
/// deinterleaved (see isa-inl.h), floats are in the order of the row.
struct alignas(64) Panel {
  static constexpr std::int64_t columns = 2 * panel_frequencies;
  /// Padding against 4K aliasing.
  static constexpr std::int64_t padding = 8;

  double middle[columns + padding];      ///< at the block's middle row, times value_scale
  double next[columns + padding];        ///< at the row after it
  double multiplier[columns + padding];  ///< 2 cos(w)
  double sine[panel_frequencies];        ///< at the middle row, by frequency
  double cosine[panel_frequencies];
  /// slope times a position bounds the value: w for a sine, the largest float for a cosine.
  float slope[columns];
  float error_bounds;  ///< see RotationTables
};

/// Consecutive columns of the output: an interleaved panel, or the sines or cosines of another one.
template <class Element>
struct Segment {
  std::int64_t begin;  ///< in the panel's arrays
  std::int64_t count;
  Element* out;  ///< first column of the run's first row
};

/// The rows from the middle of a block to one of its ends.
struct Run {
  const Panel& panel;
  const double* row;       ///< the panel's columns at the first row
  const double* before;    ///< the panel's columns at the row before it
  std::int64_t first;      ///< position of the first row
  std::int64_t direction;  ///< 1 if positions ascend, else -1
  std::int64_t rows;
  std::int64_t last_position;  ///< at least every position of the block
  std::ptrdiff_t stride;       ///< elements from one row to the next, with the direction's sign
  std::int64_t next_row;       ///< rows from the first row to the lowest row of the next run
  std::int64_t next_rows;      ///< rows of the next run

  std::int64_t position(std::int64_t n) const { return first + n * direction; }
  /// Elements from a row to the row of the next position.
  std::ptrdiff_t upwards() const { return stride * direction; }
};

/// Two successive rows of a few columns, which stay in registers. All lanes are initialised at
/// once: if a loop fills these arrays, GCC spills them, and the reloads miss store forwarding.
/// What takes a tile's arrays is always inlined: if GCC inlines it late, each tile is also written
/// to the stack, which costs a fifth of the time if memory decides.
template <class Round, std::int64_t vectors>
struct Tile {
  static constexpr std::int64_t columns = vectors * float_lanes;

  F64 row[2 * vectors];
  F64 before[2 * vectors];
  F64 multiplier[2 * vectors];
  /// The largest threshold of the vectors: one for each vector would need more registers.
  typename Round::Threshold threshold;

  [[gnu::always_inline]] Tile(const Run& run, std::int64_t column)
      : Tile(run, column, std::make_index_sequence<2 * vectors>()) {}

  template <std::size_t... i>
  [[gnu::always_inline]] Tile(const Run& run, std::int64_t column, std::index_sequence<i...>)
      : row{load(run.row + column + i * double_lanes)...},
        before{load(run.before + column + i * double_lanes)...},
        multiplier{load(run.panel.multiplier + column + i * double_lanes)...},
        threshold(threshold_of(run, column)) {}

  static typename Round::Threshold threshold_of(const Run& run, std::int64_t column) {
    F32 slope = load(run.panel.slope + column);
    for (std::int64_t i = 1; i < vectors; ++i) {
      slope = xsimd::max(slope, load(run.panel.slope + column + i * float_lanes));
    }
    const F32 largest = xsimd::min(F32(1.0f), slope * F32(static_cast<float>(run.last_position)));
    return Round::threshold(largest * F32(run.panel.error_bounds));
  }

  /// Advances `from` by two rows, given the row in between.
  [[gnu::always_inline]] void step(F64 (&from)[2 * vectors], const F64 (&next)[2 * vectors]) const {
    for (std::int64_t i = 0; i < 2 * vectors; ++i)
      from[i] = fused_minus(multiplier[i], next[i], from[i]);
  }
};

/// Stores the columns of float_lanes frequencies, deinterleaved: in the order of the row, or all
/// sines before all cosines.
template <bool interleaved>
inline void store_columns(const F64 (&sine)[2], const F64 (&cosine)[2], double* columns,
                          std::int64_t size, std::int64_t k) {
  const auto store = [](Both<F64> deinterleaved, double* to) {
    deinterleaved.first.store_unaligned(to);
    deinterleaved.second.store_unaligned(to + double_lanes);
  };
  if constexpr (interleaved) {
    store(deinterleave_pairs(sine[0], cosine[0]), columns + 2 * k);
    store(deinterleave_pairs(sine[1], cosine[1]), columns + 2 * k + float_lanes);
  } else {
    store(deinterleave(sine[0], sine[1]), columns + k);
    store(deinterleave(cosine[0], cosine[1]), columns + size + k);
  }
}

template <bool interleaved>
inline void fill_constants(Panel& panel, const RotationTables& tables, std::int64_t begin,
                           std::int64_t size) {
  panel.error_bounds = static_cast<float>(tables.error_bounds);
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    const F64 cos_row[2] = {load(tables.cos_row + begin + k),
                            load(tables.cos_row + begin + k + double_lanes)};
    const F64 multiplier[2] = {cos_row[0] + cos_row[0], cos_row[1] + cos_row[1]};
    store_columns<interleaved>(multiplier, multiplier, panel.multiplier, size, k);
    const F32 slope = load(tables.radians + begin + k);
    const F32 huge(std::numeric_limits<float>::max());
    if constexpr (interleaved) {
      const Both<F32> pairs = interleave(slope, huge);
      pairs.first.store_unaligned(panel.slope + 2 * k);
      pairs.second.store_unaligned(panel.slope + 2 * k + float_lanes);
    } else {
      slope.store_unaligned(panel.slope + k);
      huge.store_unaligned(panel.slope + size + k);
    }
  }
}

/// Computes the middle row of a block and the row after it from the panel's sines and cosines.
template <bool interleaved>
inline void fill_start(Panel& panel, const RotationTables& tables, std::int64_t begin,
                       std::int64_t size) {
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    F64 s[2], c[2], next_s[2], next_c[2];
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::int64_t at = k + i * double_lanes;
      const F64 cos_row = load(tables.cos_row + begin + at),
                sin_row = load(tables.sin_row + begin + at);
      s[i] = load(panel.sine + at);
      c[i] = load(panel.cosine + at);
      next_s[i] = fused(s[i], cos_row, c[i] * sin_row);
      next_c[i] = fused_minus(c[i], cos_row, s[i] * sin_row);
    }
    store_columns<interleaved>(s, c, panel.middle, size, k);
    store_columns<interleaved>(next_s, next_c, panel.next, size, k);
  }
}

/// Advances sines and cosines by angles, given the angles' cosines and sines.
inline void rotate(const double* cos_angle, const double* sin_angle, std::int64_t size,
                   double* sine, double* cosine) {
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    const F64 s = load(sine + k), c = load(cosine + k);
    const F64 cos_a = load(cos_angle + k), sin_a = load(sin_angle + k);
    fused(s, cos_a, c * sin_a).store_unaligned(sine + k);
    fused_minus(c, cos_a, s * sin_a).store_unaligned(cosine + k);
  }
}

/// Advances sines and cosines by one block.
inline void rotate(const RotationTables& tables, std::int64_t begin, std::int64_t size,
                   double* sine, double* cosine) {
  rotate(tables.cos_block + begin, tables.sin_block + begin, size, sine, cosine);
}

/// Frequencies that fill the widest tile. The arrays of a panel, and the constants that it is made
/// of, hold whole tiles.
constexpr std::int64_t most_tile_columns = 32;
static_assert(Panel::columns % most_tile_columns == 0 && padding % most_tile_columns == 0 &&
              panel_frequencies % padding == 0);
constexpr std::int64_t padded_size(std::int64_t used) {
  return (used + most_tile_columns - 1) / most_tile_columns * most_tile_columns;
}

/// Sines and cosines at a position, times scale. The tables are padded with the frequency 0, whose
/// sines are replaced by 1: it is far from a midpoint, so that padding needs no correction.
inline void set_anchors(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                        std::int64_t size, std::int64_t position, double scale, double* sine,
                        double* cosine) {
  scaled_anchors(size, tables.w.from(begin), static_cast<std::uint64_t>(position), scale, sine,
                 cosine);
  for (std::int64_t k = used; k < size; ++k) sine[k] = scale;
}

}  // namespace
}  // namespace posenc::simd
