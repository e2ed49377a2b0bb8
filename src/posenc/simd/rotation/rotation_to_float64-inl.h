// rotation, to float64: angle addition in about 80 bits, rounded once and correctly.
//
// Method  anchors and angle additions with two doubles each; both bounds must round alike
// Error   half an ulp: an entry whose bounds round differently is recomputed in integers
// Range   every position up to max_position (position 0 is written by the backend)
// Cost    12 operations per vector: 5 add angles, 4 round bounds, 2 collect uncertain entries, 1
//         stores
//
// V and U are the sine and cosine at a block's middle row. Every float64_anchored_blocks blocks,
// they come from the integer phase. In other blocks, they are V and U of the previous block,
// rotated by float64_block_rows w. The rows n above and below the middle row are
// V cos(n w) +- U sin(n w) and U cos(n w) -+ V sin(n w): four products for two rows. Each call
// computes a table of the sines and cosines of n w.
//
// For the error before rounding, see RotationToFloat64Error in error_bounds.h, which
// docs/how-it-works.md derives. Truncated frequencies add 2^-125 for each position.
#pragma once

#include "posenc/simd/rotation/fixed-inl.h"
#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// A value between the bounds high + least and high + most, rounded.
struct RoundedDoubles {
  F64 high, least;
  F64 value;
  U64 uncertain;  ///< 0 if both bounds round alike

  RoundedDoubles() = default;
  [[gnu::always_inline]] RoundedDoubles(F64 of_high, F64 of_least, F64 most)
      : high(of_high),
        least(of_least),
        value(high + least),
        uncertain(cast_bits<U64>(value) ^ cast_bits<U64>(high + most)) {}
};

/// One row of a panel.
struct PanelRow {
  double* sine;
  double* cosine;
  std::int64_t position;
};

/// The rows at one distance from the middle row, with the angles of `by`. The first row is below
/// the middle row. The second row is above it, and is missing at distance 0 and at the end of the
/// rows.
struct SideRows {
  const FixedPairs& pairs;
  const FixedPairs& by;
  F64 error;
  PanelRow row[2];
  std::int64_t count;  ///< rows that exist, 1 or 2

  /// Computes a vector of frequencies of both rows.
  [[gnu::always_inline]] void at(std::int64_t k, RoundedDoubles (&sines)[2],
                                 RoundedDoubles (&cosines)[2]) const {
    const FixedPair of = pairs.at(k), with = by.at(k);
    const F64 sine = with.sine.high + with.sine.low, cosine = with.cosine.high + with.cosine.low;
    // Computes a cos(n w) - b sin(n w), and a cos(n w) + b sin(n w).
    const auto rotate = [&](const Fixed& a, const Fixed& b, RoundedDoubles& difference,
                            RoundedDoubles& sum) __attribute__((always_inline)) {
      const F64 least = fused(a.high, with.cosine.low, fused_minus(a.low, cosine, error));
      const F64 most = least + (error + error);
      const F64 low = low_product(b, with.sine, sine);
      const F64 high = a.high * with.cosine.high, other_high = b.high * with.sine.high;
      difference = {high - other_high, least - low, most - low};
      sum = {high + other_high, least + low, most + low};
    };
    rotate(of.sine, of.cosine, sines[0], sines[1]);
    rotate(of.cosine, of.sine, cosines[1], cosines[0]);
  }
};

/// Writes whole vectors of `count` rows, at least `used` frequencies. Returns true if all entries
/// are certain.
template <bool interleaved, bool non_temporal, std::int64_t count>
inline bool write_vectors_of(const SideRows& rows, std::int64_t used) {
  U64 uncertain(std::uint64_t{0});
  const auto store = [](F64 value, double* to) {
    store_vector<non_temporal>(cast_bits<F32>(value), to);
  };
  for (std::int64_t k = 0; k < used; k += double_lanes) {
    RoundedDoubles sines[2], cosines[2];
    rows.at(k, sines, cosines);
    for (std::int64_t i = 0; i < count; ++i) {
      uncertain = uncertain | sines[i].uncertain | cosines[i].uncertain;
      if constexpr (interleaved) {
        const Both<F64> pairs = deinterleave_pairs(sines[i].value, cosines[i].value);
        store(pairs.first, rows.row[i].sine + 2 * k);
        store(pairs.second, rows.row[i].sine + 2 * k + double_lanes);
      } else {
        store(sines[i].value, rows.row[i].sine + k);
        store(cosines[i].value, rows.row[i].cosine + k);
      }
    }
  }
  return !xsimd::any(uncertain != U64(std::uint64_t{0}));
}

template <bool interleaved, bool non_temporal>
inline bool write_vectors(const SideRows& rows, std::int64_t used) {
  return rows.count == 2 ? write_vectors_of<interleaved, non_temporal, 2>(rows, used)
                         : write_vectors_of<interleaved, non_temporal, 1>(rows, used);
}

/// Writes `used` frequencies of rows. Returns true if every entry is certain. Rows that end within
/// a vector are stored from a buffer. So are non-temporal rows if a line takes several stores,
/// which take twice the time if they alternate between two rows whole pages apart.
template <bool interleaved>
inline bool write_float64_rows(const SideRows& rows, std::int64_t used, bool non_temporal) {
  const bool are_whole = used % double_lanes == 0;
  if (are_whole && !non_temporal) return write_vectors<interleaved, false>(rows, used);
  if (are_whole && has_line_vectors)
    return write_vectors<interleaved, has_line_vectors>(rows, used);
  double buffer[2][2 * fixed_panel];
  SideRows buffered = rows;
  for (std::int64_t i = 0; i < 2; ++i) buffered.row[i] = {buffer[i], buffer[i] + fixed_panel, 0};
  const bool is_certain = write_vectors<interleaved, false>(buffered, used);
  const auto store = [&](const double* from, double* out) {
    const std::int64_t count = interleaved ? 2 * used : used;
    const StagedRow<double> row = {from, out};
    if (non_temporal) return row.store(0, count);
    for (std::int64_t i = 0; i < count; ++i) row.store_one(i);
  };
  for (std::int64_t i = 0; i < rows.count; ++i) {
    store(buffered.row[i].sine, rows.row[i].sine);
    if constexpr (!interleaved) store(buffered.row[i].cosine, rows.row[i].cosine);
  }
  return is_certain;
}

/// Computes rows once more and replaces every uncertain entry.
template <bool interleaved>
[[gnu::noinline]] void correct_float64_rows(const RotationTables& tables, std::int64_t begin,
                                            const SideRows& rows, std::int64_t used) {
  const auto correct = [&](std::int64_t position, std::int64_t k, U64 uncertain, bool cosine,
                           double* column) {
    std::uint64_t lanes[double_lanes];
    uncertain.store_unaligned(lanes);
    for (std::int64_t i = 0; i < double_lanes && k + i < used; ++i) {
      if (lanes[fixed_place<interleaved>(i)] == 0) continue;
      column[(interleaved ? 2 : 1) * (k + i)] =
          exact_element<double>(tables, position, begin + k + i, cosine);
    }
  };
  for (std::int64_t k = 0; k < used; k += double_lanes) {
    RoundedDoubles sines[2], cosines[2];
    rows.at(k, sines, cosines);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const PanelRow& row = rows.row[i];
      correct(row.position, k, sines[i].uncertain, false, row.sine);
      correct(row.position, k, cosines[i].uncertain, true, interleaved ? row.sine + 1 : row.cosine);
    }
  }
}

/// Calls visit(rows) for the SideRows of all rows of a panel.
template <bool interleaved, class Visit>
inline void for_each_float64_rows(const RotationTables& tables, std::int64_t begin,
                                  std::int64_t used, const RowTask& task, const Visit& visit) {
  const std::int64_t size = rounded_up(used, fixed_anchor_vectors * double_lanes);
  const std::int64_t first_column = interleaved ? 2 * begin : begin;
  FixedPairs pairs, block_step, by[float64_side_rows + 1];
  fill_rows<interleaved>(tables, begin, size, smaller(task.count / 2, float64_side_rows), by);
  if (task.count >= 2 * float64_block_rows)
    set_fixed_anchors<interleaved>(tables, begin, size, float64_block_rows, block_step);
  for (std::int64_t row = 0, block = 0; row < task.count; row += float64_block_rows, ++block) {
    // A shorter last block has an anchor at its own middle row.
    const std::int64_t rows = smaller(task.count - row, float64_block_rows), middle = rows / 2;
    const std::int64_t since_anchor =
        rows < float64_block_rows ? 0 : block % float64_anchored_blocks;
    if (since_anchor == 0) {
      set_fixed_anchors<interleaved>(tables, begin, size,
                                     static_cast<std::uint64_t>(task.first + row + middle), pairs);
      fill<interleaved>(used, size, 0.75, 0.75, pairs);  // the rounding of padding is certain
    } else {
      rotate(pairs, block_step, size, pairs);
    }
    const F64 error(0x1p-76 * RotationToFloat64Error().total(since_anchor) +
                    frequency_error * static_cast<double>(task.first + row + rows));
    const auto to = [&](std::int64_t n) {
      double* const out = task.row<double>(row + n) + first_column;
      return PanelRow{out + tables.columns.sine, out + tables.columns.cosine, task.first + row + n};
    };
    for (std::int64_t n = 0; n <= middle; ++n) {
      const bool has_above = n > 0 && middle + n < rows;
      const PanelRow above = has_above ? to(middle + n) : PanelRow{};
      visit(SideRows{pairs, by[n], error, {to(middle - n), above}, has_above ? 2 : 1});
    }
  }
}

template <bool interleaved>
inline void write_float64_panel(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                                const RowTask& task) {
  const bool non_temporal = task.stores.method != StoreMethod::plain;
  for_each_float64_rows<interleaved>(tables, begin, used, task, [&](const auto& rows) {
    if (!write_float64_rows<interleaved>(rows, used, non_temporal))
      correct_float64_rows<interleaved>(tables, begin, rows, used);
  });
}

inline void rotation_to_float64(const RotationTables& tables, const RowTask& task) {
  const auto write =
      tables.columns.interleaved ? write_float64_panel<true> : write_float64_panel<false>;
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += fixed_panel) {
    write(tables, begin, smaller(tables.frequencies - begin, fixed_panel), task);
  }
  finish(task.stores);
}

}  // namespace
}  // namespace posenc::simd
