// rotation: the rows of a tile, which is some vectors of columns that stay in registers: computed
// by the recurrence, rounded, and stored.
//
// Method, error bound, valid range and cost: see recurrence-inl.h and rounding-inl.h.
#pragma once

#include "posenc/simd/rotation/rounding-inl.h"

namespace posenc::simd {
namespace {

/// Rounds as `Round` does, without looking for uncertain entries.
template <class Round>
struct RoundUnchecked : Round {
  using RoundingMargin = NoMargin;

  static constexpr bool checks = false;

  static RoundingMargin largest_margin() { return {}; }
};

/// Vectors of a tile. Non-temporal stores need a whole cache line at once: if it is written in
/// parts, each part goes to memory separately. Other tiles have as many vectors as the registers
/// hold best.
template <class Round>
constexpr std::int64_t line_vectors =
    cache_line_bytes / static_cast<std::int64_t>(sizeof(typename Round::Element)) / float_lanes;
template <class Round>
constexpr std::int64_t non_temporal_vectors = line_vectors<Round> > 0 ? line_vectors<Round> : 1;
constexpr std::int64_t cached_vectors = 2;
/// With AVX-512, whose 32 registers hold more, tiles may also have this many. This is faster if
/// rows are whole pages apart: 1.3 times (Zen 5), or 1.6 times if nothing is checked. Otherwise it
/// costs up to a tenth, or gains 5 % if nothing is checked.
constexpr std::int64_t widest_vectors = has_line_vectors ? 4 : cached_vectors;

/// Rounds and stores one row of a tile. `least` keeps the smallest margin of each lane.
template <class Round, bool non_temporal, std::int64_t vectors>
[[gnu::always_inline]] inline void write_row(const F64* row, typename Round::Threshold threshold,
                                             typename Round::RoundingMargin& least,
                                             typename Round::Element* out) {
  for (std::int64_t i = 0; i < vectors; ++i) {
    const typename Round::Value value[] = {
        Round::round(row[2 * i], row[2 * i + 1], threshold, least)};
    Round::template store<non_temporal>(value, out + i * float_lanes);
  }
}

/// Writes the tile's rows. True if every entry is certain.
template <class Round, std::int64_t vectors, bool non_temporal>
[[gnu::always_inline]] inline bool write_tile(const Run& run, std::int64_t column,
                                              typename Round::Element* out, std::ptrdiff_t stride) {
  Tile<Round, vectors> tile(run, column);
  typename Round::RoundingMargin least = Round::largest_margin();
  for (std::int64_t pairs = run.rows / 2; pairs > 0; --pairs) {
    write_row<Round, non_temporal, vectors>(tile.row, tile.threshold, least, out);
    tile.step(tile.before, tile.row);
    write_row<Round, non_temporal, vectors>(tile.before, tile.threshold, least, out + stride);
    tile.step(tile.row, tile.before);
    out += 2 * stride;
  }
  if (run.rows % 2 == 1)
    write_row<Round, non_temporal, vectors>(tile.row, tile.threshold, least, out);
  if constexpr (Round::checks) return !xsimd::any(Round::is_uncertain(least, tile.threshold));
  return true;
}

}  // namespace
}  // namespace posenc::simd
