// rotation: the tile loop, which computes, rounds and stores the rows of a few columns.
//
// Method  v_(n+1) = 2 cos(w) v_n - v_(n-1) for each column, from two rows that stay in registers
// Error   RotationError; uncertain entries are computed again and rounded in integers
// Range   every position up to max_position
// Cost    one operation per vector of doubles, and the rounding; one entry in 50 000 is uncertain
#pragma once

#include "posenc/simd/anchors-inl.h"
#include "posenc/simd/rotation/rounding-inl.h"
#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

constexpr std::int64_t panel_frequencies = 256;

/// The columns of up to panel_frequencies frequencies, ready for the recurrence. Doubles are
/// deinterleaved (see isa-inl.h), and floats are in the order of the row.
struct alignas(64) Panel {
  static constexpr std::int64_t columns = 2 * panel_frequencies;
  static constexpr std::int64_t padding = 8;  ///< prevents 4K aliasing

  double middle[columns + padding];      ///< columns at the block's middle row, times value_scale
  double next[columns + padding];        ///< columns at the row after it
  double multiplier[columns + padding];  ///< 2 cos(w)
  double sine[panel_frequencies];        ///< sines at the middle row, by frequency
  double cosine[panel_frequencies];
  /// slope times a position, which is at least 1, bounds the value. The slope is w for a sine and 1
  /// for a cosine.
  float slope[columns];
};

/// Frequencies that fill the widest tile. Panels and their constants hold whole tiles.
constexpr std::int64_t most_tile_columns = 32;
static_assert(Panel::columns % most_tile_columns == 0 && padding % most_tile_columns == 0 &&
              panel_frequencies % padding == 0);

/// The rows from the middle of a block to one of its ends.
struct Run {
  const Panel& panel;
  const double* row;       ///< the panel's columns at the first row
  const double* before;    ///< the panel's columns at the row before it
  std::int64_t first;      ///< position of the first row
  std::int64_t direction;  ///< 1 if positions ascend, -1 otherwise
  std::int64_t rows;
  std::int64_t last_position;  ///< at least every position of the block
  std::int64_t stride;         ///< elements from one row to the next, with the direction's sign
  std::int64_t next_row;       ///< rows from the first row to the lowest row of the next run
  std::int64_t next_rows;      ///< rows of the next run

  /// Elements from a row to the row of the next position.
  std::int64_t upwards() const { return stride * direction; }
  /// The run in a buffer with this stride.
  Run with_stride(std::int64_t of_buffer) const {
    Run buffered = *this;
    buffered.stride = of_buffer;
    return buffered;
  }
};

/// Consecutive columns of the output: an interleaved panel, or the sines or the cosines of a panel.
template <class Element>
struct Segment {
  std::int64_t begin;  ///< first column in the panel's arrays
  std::int64_t count;
  Element* out;  ///< first column of the first row

  /// The segment without its first columns.
  Segment after(std::int64_t columns) const {
    return {begin + columns, count - columns, out + columns};
  }
};

/// Maps the columns of a panel to entries of the encoding.
struct ColumnMap {
  const RotationTables& tables;
  std::int64_t first_frequency;
  std::int64_t used;        ///< frequencies of the panel
  std::int64_t panel_size;  ///< `used`, padded

  ColumnMap(const RotationTables& of, std::int64_t begin, std::int64_t frequencies)
      : tables(of),
        first_frequency(begin),
        used(frequencies),
        panel_size(rounded_up(used, most_tile_columns)) {}

  /// Calls visit(segment) for the segments of the panel in the row at `out`.
  template <bool interleaved, class Element, class Visit>
  void for_each_segment(Element* out, const Visit& visit) const {
    if constexpr (interleaved) {
      visit(Segment<Element>{0, 2 * used, out + 2 * first_frequency});
    } else {
      out += first_frequency;
      visit(Segment<Element>{0, used, out + tables.columns.sine});
      visit(Segment<Element>{panel_size, used, out + tables.columns.cosine});
    }
  }

  /// The entry in that column of the panel.
  template <class Element>
  Element exact(std::int64_t position, std::int64_t column) const {
    const bool interleaved = tables.columns.interleaved;
    const bool cosine = interleaved ? column % 2 == 1 : column >= panel_size;
    const std::int64_t k =
        first_frequency + (interleaved ? column / 2 : column - (cosine ? panel_size : 0));
    return exact_element<Element>(tables, position, k, cosine);
  }
};

/// The number of vectors of a tile that the registers hold best.
constexpr std::int64_t cached_vectors = 2;
/// Non-temporal stores need a whole cache line at once: if a line is written in parts, each part
/// goes to memory separately. Two lines of a row are better than one if the registers hold them
/// (with AVX-512, 1.3 times as fast on an Intel Xeon), because they go to different channels of the
/// memory.
constexpr std::int64_t line_vectors = cache_line_floats / float_lanes;
constexpr std::int64_t non_temporal_vectors =
    line_vectors > cached_vectors ? line_vectors : cached_vectors;
/// With AVX-512, which has 32 registers, tiles of rows that are whole pages apart have this many
/// vectors. They are then 1.3 times as fast (Zen 5). For other rows, so many vectors cost up to a
/// tenth.
constexpr std::int64_t widest_vectors = has_line_vectors ? 4 : cached_vectors;

/// Two successive rows of a few columns, which stay in registers. If a loop filled these arrays, or
/// if the functions that take them were not always inlined, GCC would write them to the stack. This
/// would cost a fifth of the time.
template <class Round, std::int64_t vectors>
struct Tile {
  F64 row[2 * vectors];
  F64 before[2 * vectors];
  F64 multiplier[2 * vectors];
  /// The largest threshold of the vectors. One threshold per vector would need more registers.
  typename Round::Threshold threshold;
  typename Round::RoundingMargin least = Round::largest_margin();

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
    return Round::threshold(largest);
  }

  /// Advances `from` by two rows, given the row in between.
  [[gnu::always_inline]] void step(F64 (&from)[2 * vectors], const F64 (&next)[2 * vectors]) const {
    for (std::int64_t i = 0; i < 2 * vectors; ++i)
      from[i] = fused_minus(multiplier[i], next[i], from[i]);
  }

  /// Calls take(values) for the values of each row in turn, as deinterleaved vectors.
  template <class Take>
  [[gnu::always_inline]] void for_each_row(std::int64_t rows, const Take& take) {
    for (std::int64_t pairs = rows / 2; pairs > 0; --pairs) {
      take(row);
      step(before, row);
      take(before);
      step(row, before);
    }
    if (rows % 2 == 1) take(row);
  }

  /// Rounds vector i of a row. The margin is a copy: taking the address of `least` would force it
  /// out of a register.
  [[gnu::always_inline]] auto round(const F64* values, std::int64_t i) {
    typename Round::RoundingMargin margin = least;
    const auto rounded = Round::round(values[2 * i], values[2 * i + 1], threshold, margin);
    least = margin;
    return rounded;
  }

  /// True if every value that was rounded is certain.
  bool is_certain() const { return !xsimd::any(Round::is_uncertain(least, threshold)); }
};

/// Replaces the uncertain entries of one vector of a row. Only the first `columns` columns are
/// used.
template <class Element, class Mask>
[[gnu::noinline]] void correct_vector(const ColumnMap& map, std::int64_t column,
                                      std::int64_t columns, std::int64_t position, Mask uncertain,
                                      Element* out) {
  bool is_uncertain[float_lanes];
  uncertain.store_unaligned(is_uncertain);
  for (std::int64_t lane = 0; lane < float_lanes && lane < columns; ++lane) {
    if (is_uncertain[lane]) out[lane] = map.exact<Element>(position, column + lane);
  }
}

/// Computes a tile once more and corrects it. Only the first `columns` columns are used.
template <class Round, std::int64_t vectors>
[[gnu::noinline]] void correct_tile(const ColumnMap& map, const Run& run, std::int64_t column,
                                    std::int64_t columns, typename Round::Element* out) {
  Tile<Round, vectors> tile(run, column);
  // for_each_row() would take three copies of this code.
  for (std::int64_t row = 0; row < run.rows; ++row) {
    const bool even = row % 2 == 0;
    for (std::int64_t i = 0; i < vectors; ++i) {
      tile.least = Round::largest_margin();
      tile.round(even ? tile.row : tile.before, i);
      const auto uncertain = Round::is_uncertain(tile.least, tile.threshold);
      const std::int64_t offset = i * float_lanes;
      if (xsimd::any(uncertain)) {
        correct_vector(map, column + offset, columns - offset, run.first + row * run.direction,
                       uncertain, out + offset);
      }
    }
    even ? tile.step(tile.before, tile.row) : tile.step(tile.row, tile.before);
    out += run.stride;
  }
}

/// The tiles of a run. write(column, out) writes the rows of a tile, and returns true if every
/// entry is certain. Otherwise, correct(column, used, out) corrects its first `used` columns. These
/// tiles are stored as they are; segment-inl.h has others.
template <class Round, std::int64_t vectors, bool non_temporal>
struct PlainTiles {
  using Element = typename Round::Element;
  static constexpr std::int64_t columns = vectors * float_lanes;

  const ColumnMap& map;
  const Run& run;

  [[gnu::always_inline]] bool write(std::int64_t column, Element* out) const {
    Tile<Round, vectors> tile(run, column);
    const std::int64_t stride = run.stride;  // in a register: stores may alias the run
    tile.for_each_row(
        run.rows, [&](const F64* values) __attribute__((always_inline)) {
          for (std::int64_t i = 0; i < vectors; ++i)
            store_vector<non_temporal>(tile.round(values, i), out + i * float_lanes);
          out += stride;
        });
    return tile.is_certain();
  }

  void correct(std::int64_t column, std::int64_t used, Element* out) const {
    correct_tile<Round, vectors>(map, run, column, used, out);
  }
};

/// Writes the whole tiles of a segment and, if `padded`, part of another. Returns the number of
/// their columns.
template <bool padded = false, class Tiles>
[[gnu::always_inline]] inline std::int64_t write_tiles(
    Tiles tiles, const Segment<typename Tiles::Element>& segment) {
  constexpr std::int64_t columns = Tiles::columns;
  std::int64_t done = 0;
  for (; done + (padded ? 1 : columns) <= segment.count; done += columns) {
    const std::int64_t column = segment.begin + done;
    if (!tiles.write(column, segment.out + done))
      tiles.correct(column, smaller(segment.count - done, columns), segment.out + done);
  }
  return done;
}

}  // namespace
}  // namespace posenc::simd
