// rotation, to float64: angle addition in about 80 bits, rounded once and correctly.
//
// Method.
//   anchor  V and U, the sine and cosine at a block's first position: from the integer phase every
//           anchored_blocks64 blocks, else those of the block before, rotated by block_rows64 w
//   row n   sin(phase + n w) = V cos(n w) + U sin(n w), cos(phase + n w) = U cos(n w) - V sin(n w),
//           with sines and cosines of n w from a table that each call computes
//
// Error bound (Rotation64Error in error_bounds.h), absolute, in units of 2^-76:
//   angle addition  four products of low parts (2^-81 each), three sums (2^-80 + 2 * 2^-79), two
//                   factors high + low (2^-80 together) and a new low part (2^-81): below 1/2 for
//                   each component, so that the norm of both errors grows by less than 1
//   anchor          5 steps of Horner's rule at 2^-78.4, each damped by z <= 0.62; 2^-78 for the
//                   argument; and the last product: below 2
//   row table       up to four anchors, added: 4 * 2 + 3, and 1 for second-order terms
//   block j         2 for its anchor, and 1 + 2 for each rotation, of which 2 for its constants
// Truncated frequencies add 2^-125 for each position. An entry whose error decides its rounding is
// recomputed exactly.
//
// Valid range: every position up to max_position. At position 0, whose sines are 0, every sine is
// uncertain; the backend writes this row itself.
//
// Cost: about 14 operations a vector of doubles: 8 for the angle addition, 4 for the rounding, and
// 2 to collect uncertain entries.
//
// Source: the angle addition theorems.
#pragma once

#include "posenc/simd/fixed_pairs-inl.h"

namespace posenc::simd {
namespace {

/// A rounded sum, and whether its error decides the rounding.
struct Rounded64 {
  F64 value;
  U64 uncertain;  ///< 0 if the rounding is certain
};

inline Rounded64 round64(const Sum& sum, F64 error) {
  const F64 below = sum.high + (sum.low - error), above = sum.high + (sum.low + error);
  return {below, cast_bits<U64>(below) ^ cast_bits<U64>(above)};
}

inline bool any_uncertain(U64 uncertain) { return xsimd::any(uncertain != U64(std::uint64_t{0})); }

template <bool non_temporal>
inline void store64(F64 value, double* to) {
  if constexpr (non_temporal) {
    store_non_temporal(cast_bits<F32>(value), reinterpret_cast<float*>(to));
  } else {
    value.store_unaligned(to);
  }
}

template <bool interleaved, bool non_temporal>
inline void store_pairs(F64 sines, F64 cosines, double* sine, double* cosine) {
  if constexpr (interleaved) {
    const Both<F64> pairs = deinterleave_pairs(sines, cosines);
    store64<non_temporal>(pairs.first, sine);
    store64<non_temporal>(pairs.second, sine + double_lanes);
  } else {
    store64<non_temporal>(sines, sine);
    store64<non_temporal>(cosines, cosine);
  }
}

/// One row of a panel.
struct Row64 {
  double* sine;
  double* cosine;
  std::int64_t position;
  std::int64_t used;
};

/// Writes a row. True if every entry is certain.
template <bool interleaved, bool non_temporal>
inline bool write_row64(const FixedPairs& pairs, const FixedPairs& by, const Row64& row,
                        F64 error) {
  constexpr std::int64_t columns_each = interleaved ? 2 : 1;
  U64 uncertain(std::uint64_t{0});
  std::int64_t k = 0;
  const auto rounded = [&](std::int64_t at) {
    const FixedPair of = pairs.at(at), with = by.at(at);
    const Rounded64 s = round64(rotated_sine(of, with), error),
                    c = round64(rotated_cosine(of, with), error);
    uncertain = uncertain | s.uncertain | c.uncertain;
    return Both<F64>{s.value, c.value};
  };
  for (; k + double_lanes <= row.used; k += double_lanes) {
    const Both<F64> both = rounded(k);
    store_pairs<interleaved, non_temporal>(both.first, both.second, row.sine + columns_each * k,
                                           row.cosine + columns_each * k);
  }
  if (k < row.used) {
    double last[2 * double_lanes];
    const Both<F64> both = rounded(k);
    store_pairs<interleaved, false>(both.first, both.second, last, last + double_lanes);
    for (std::int64_t i = 0; i < columns_each * (row.used - k); ++i)
      row.sine[columns_each * k + i] = last[i];
    for (std::int64_t i = 0; !interleaved && i < row.used - k; ++i)
      row.cosine[k + i] = last[double_lanes + i];
  }
  return !any_uncertain(uncertain);
}

/// Computes the row once more and replaces every uncertain entry.
template <bool interleaved>
[[gnu::noinline]] void correct_row64(const RotationTables& tables, std::int64_t begin,
                                     const FixedPairs& pairs, const FixedPairs& by,
                                     const Row64& row, F64 error) {
  constexpr std::int64_t columns_each = interleaved ? 2 : 1;
  const auto correct = [&](std::int64_t k, U64 uncertain, bool cosine, double* column) {
    std::uint64_t lanes[double_lanes];
    uncertain.store_unaligned(lanes);
    for (std::int64_t i = 0; i < double_lanes && k + i < row.used; ++i) {
      if (lanes[place64<interleaved>(i)] == 0) continue;
      column[columns_each * (k + i)] = std::bit_cast<double>(tables.exact_entry(
          tables.context, row.position, begin + k + i, cosine, DataType::float64));
    }
  };
  for (std::int64_t k = 0; k < row.used; k += double_lanes) {
    const FixedPair of = pairs.at(k), with = by.at(k);
    const U64 s = round64(rotated_sine(of, with), error).uncertain,
              c = round64(rotated_cosine(of, with), error).uncertain;
    if (any_uncertain(s)) correct(k, s, false, row.sine);
    if (any_uncertain(c)) correct(k, c, true, interleaved ? row.sine + 1 : row.cosine);
  }
}

/// The error of an entry, `blocks` blocks after an anchor and at most at `position`.
inline double error64(std::int64_t blocks, std::int64_t position) {
  return 0x1p-76 * Rotation64Error().total(blocks) +
         frequency_error * static_cast<double>(position);
}

template <bool interleaved, bool non_temporal>
inline void write_panel64(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                          const RowTask& task) {
  const std::int64_t size = (used + double_lanes - 1) / double_lanes * double_lanes;
  const std::int64_t first_column = interleaved ? 2 * begin : begin;
  FixedPairs pairs, block_step, by[block_rows64];
  fill_rows<interleaved>(tables, begin, size, task.count < block_rows64 ? task.count : block_rows64,
                         by);
  if (task.count > block_rows64)
    anchor_kernel64<interleaved>(tables, begin, size, block_rows64, block_step);
  for (std::int64_t row = 0, block = 0; row < task.count; row += block_rows64, ++block) {
    const std::int64_t position = task.first + row, since_anchor = block % anchored_blocks64;
    if (since_anchor == 0) {
      anchor_kernel64<interleaved>(tables, begin, size, static_cast<std::uint64_t>(position),
                                   pairs);
      fill_padding<interleaved>(used, size, pairs);
    } else {
      rotate(pairs, block_step, size, pairs);
    }
    const std::int64_t rows = task.count - row < block_rows64 ? task.count - row : block_rows64;
    const F64 error(error64(since_anchor, position + rows));
    for (std::int64_t n = 0; n < rows; ++n) {
      double* const out = task.row<double>(row + n) + first_column;
      const Row64 to = {out + tables.columns.sine, out + tables.columns.cosine, position + n, used};
      if (!write_row64<interleaved, non_temporal>(pairs, by[n], to, error)) {
        correct_row64<interleaved>(tables, begin, pairs, by[n], to, error);
      }
    }
  }
}

inline void write_rows64(const RotationTables& tables, const RowTask& task) {
  const auto write =
      tables.columns.interleaved
          ? (task.non_temporal ? write_panel64<true, true> : write_panel64<true, false>)
          : (task.non_temporal ? write_panel64<false, true> : write_panel64<false, false>);
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += panel64) {
    const std::int64_t left = tables.frequencies - begin;
    write(tables, begin, left < panel64 ? left : panel64, task);
  }
  if (task.non_temporal) fence();
}

}  // namespace
}  // namespace posenc::simd
