// rotation: recomputes the entries whose rounding is uncertain, exactly.
//
// Method. A tile with an uncertain entry is computed a second time, and each uncertain entry is
// replaced by RotationTables::exact_entry, which rounds it in integers.
//
// Cost: one entry in about 50 000 is too close to a midpoint for the error bound.
#pragma once

#include "posenc/simd/rotation/tile-inl.h"

namespace posenc::simd {
namespace {

/// Maps the columns of a panel to entries of the encoding.
struct ColumnMap {
  const RotationTables& tables;
  std::int64_t first_frequency;
  std::int64_t panel_size;  ///< frequencies of the panel, padded

  template <class Round>
  typename Round::Element exact(std::int64_t position, std::int64_t column) const {
    using Element = typename Round::Element;
    const bool interleaved = tables.columns.interleaved;
    const bool cosine = interleaved ? column % 2 == 1 : column >= panel_size;
    const std::int64_t k =
        first_frequency + (interleaved ? column / 2 : column - (cosine ? panel_size : 0));
    const std::uint64_t bits =
        tables.exact_entry(tables.context, position, k, cosine, data_type_of<Element>);
    return std::bit_cast<Element>(static_cast<typename Round::Bits>(bits));
  }
};

/// Replaces the uncertain entries of one vector of a row, which starts at the panel's column
/// `column` and at `out`.
template <class Round>
[[gnu::noinline]] void correct_vector(const ColumnMap& map, std::int64_t column,
                                      std::int64_t columns, std::int64_t position,
                                      const bool* uncertain, typename Round::Element* out) {
  for (std::int64_t lane = 0; lane < columns; ++lane) {
    if (uncertain[lane]) out[lane] = map.exact<Round>(position, column + lane);
  }
}

/// Computes the tile once more and replaces every uncertain entry.
template <class Round, std::int64_t vectors>
[[gnu::noinline]] void correct_tile(const ColumnMap& map, const Run& run, std::int64_t column,
                                    std::int64_t columns, typename Round::Element* out,
                                    std::ptrdiff_t stride) {
  Tile<Round, vectors> tile(run, column);
  for (std::int64_t row = 0; row < run.rows; ++row) {
    const bool even = row % 2 == 0;
    const F64* const values = even ? tile.row : tile.before;
    for (std::int64_t i = 0; i < vectors; ++i) {
      typename Round::RoundingMargin found = Round::largest_margin();
      Round::round(values[2 * i], values[2 * i + 1], tile.threshold, found);
      const auto uncertain = Round::is_uncertain(found, tile.threshold);
      if (!xsimd::any(uncertain)) continue;
      bool flags[float_lanes];
      uncertain.store_unaligned(flags);
      const std::int64_t offset = i * float_lanes;
      const std::int64_t used = columns - offset < float_lanes ? columns - offset : float_lanes;
      correct_vector<Round>(map, column + offset, used, run.position(row), flags, out + offset);
    }
    even ? tile.step(tile.before, tile.row) : tile.step(tile.row, tile.before);
    out += stride;
  }
}

/// Writes the tile's rows, of which `columns` columns are used.
template <class Round, std::int64_t vectors, bool non_temporal>
[[gnu::always_inline]] inline void write_correct_tile(const ColumnMap& map, const Run& run,
                                                      std::int64_t column, std::int64_t columns,
                                                      typename Round::Element* out,
                                                      std::ptrdiff_t stride) {
  const bool is_certain = write_tile<Round, vectors, non_temporal>(run, column, out, stride);
  if constexpr (Round::checks) {
    if (!is_certain) correct_tile<Round, vectors>(map, run, column, columns, out, stride);
  }
}

/// Writes the whole tiles of a segment. Returns the number of columns written.
template <class Round, std::int64_t vectors, bool non_temporal>
inline std::int64_t write_tiles(const ColumnMap& map, const Run& run,
                                const Segment<typename Round::Element>& segment) {
  constexpr std::int64_t columns = Tile<Round, vectors>::columns;
  std::int64_t done = 0;
  for (; done + columns <= segment.count; done += columns) {
    const std::int64_t column = segment.begin + done;
    write_correct_tile<Round, vectors, non_temporal>(map, run, column, columns, segment.out + done,
                                                     run.stride);
  }
  return done;
}

}  // namespace
}  // namespace posenc::simd
