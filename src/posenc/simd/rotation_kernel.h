// rotation: angle addition from exactly reduced anchors, in double, rounded once and correctly.
//
// For a frequency w, both columns v_n = sin(phase + n w) and cos(phase + n w) obey v_(n+1) = 2 cos(w) v_n - v_(n-1): one fused
// operation a value, whatever the layout, since the lanes of a vector stand for columns in the order of the row.
//   anchor   sine and cosine from the integer phase, every anchored_blocks blocks
//   block    the anchor rotated by block_rows w, every block_rows rows; two rows of it start the recurrence
//   row      the recurrence, for a tile of columns that stay in registers
//
// Fused operations are called by name: what xsimd calls fma is a product and a sum on some of its ISAs.
//
// Error bound, in units of u = 2^-53, of columns whose values stay below M in the block (M = 1, or (last position) w where that is less and
// the column is a sine):
//   anchor                       2 M
//   block, at most 31 rotations  3.5 M each: the constants (1) and up to three roundings a part
//   first two rows               3.5 M more, which the recurrence amplifies by at most n <= 15
//   recurrence                   sum over 14 steps of (15 - j) (1.2 + 1 [+ 2 without fused operations]) M <= 105 * 2.2 M [4.2 M]:
//                                the constant 2 cos(w), and the step's roundings; sin(n w) / sin(w) <= n
//   in all                       2 + 109 + 53 + 231 [441] = 395 [605]
// and 2^-70 for the 128 bits of the frequency. A double that far from the midpoint of two floats rounds as the exact value does. The
// others are recomputed exactly, so that every entry is correctly rounded, and its bits depend on nothing but its position.
#pragma once

namespace posenc::simd {
namespace {

#if defined(__FMA__) || defined(__aarch64__)
constexpr float error_in_units = 400.0f;
#else
constexpr float error_in_units = 620.0f;
#endif

/// The bits of a double that float32 drops, 29, are moved to the top of a word, with the midpoint at 0: |word| is the distance
/// to the midpoint in units of 2^(e - 55) for a value in [2^e, 2^(e+1)). The distance is thus at least |word value| 2^-56, which is
/// certain where it exceeds the error, error_in_units M u: where |word value| >= 8 error_in_units M (and a hair for its rounding).
constexpr float threshold_unit = 8.0f * error_in_units * 1.0001f;
constexpr float threshold_floor = 0x1p-14f;  // 2^-70 * 2^56

/// How certain the roundings of a column are: the least of many tells whether one is not.
#if defined(__SSE2__) && !defined(__SSE4_1__)
using Certainty = Floats;

inline Certainty certainty_of(Floats word, Floats value, Floats) { return xsimd::abs(word * value); }
inline auto is_uncertain(Certainty least, Floats threshold) { return least < threshold; }
inline Certainty all_certain() { return Certainty(std::numeric_limits<float>::max()); }
#else
/// word value + threshold, as bits: uncertain entries lie between 0 and twice the threshold, and the bits of floats below 0 are larger, as
/// unsigned numbers, than those above. Two operations where an absolute value and a minimum take three; SSE2 has no such minimum.
using Certainty = UnsignedWords;

inline Certainty certainty_of(Floats word, Floats value, Floats threshold) {
  return xsimd::bitwise_cast<UnsignedWords>(fused(word, value, threshold));
}
inline auto is_uncertain(Certainty least, Floats threshold) {
  return least < xsimd::bitwise_cast<UnsignedWords>(threshold + threshold);
}
inline Certainty all_certain() { return Certainty(std::numeric_limits<std::uint32_t>::max()); }
#endif

inline Certainty certainty(Doubles a, Doubles b, Floats rounded, Floats threshold) {
  const Words dropped = (low_words(a, b) << 3) ^ Words(std::numeric_limits<std::int32_t>::min());
  return certainty_of(xsimd::to_float(dropped), rounded, threshold);
}

/// Columns of one panel, in the order of the row, ready for the recurrence.
constexpr std::int64_t panel_frequencies = 256;

struct Panel {
  double value[2 * panel_frequencies];       ///< at the block's first row
  double next[2 * panel_frequencies];        ///< one row on
  double multiplier[2 * panel_frequencies];  ///< 2 cos(w)
  float threshold[2 * panel_frequencies];    ///< threshold_unit w of a sine, huge for a cosine: times the last position
};

/// Consecutive columns of the output that a part of the panel fills: all of an interleaved panel, or its sines, or its cosines.
struct Segment {
  std::int64_t begin;  ///< in the panel's arrays
  std::int64_t count;
  float* out;  ///< the block's first row, first column
};

constexpr std::int64_t tile_vectors = 2;
constexpr std::int64_t tile_columns = tile_vectors * float_lanes;

/// Two successive rows of a tile's columns.
struct Tile {
  Doubles row[2 * tile_vectors];
  Doubles next_row[2 * tile_vectors];
  Doubles multiplier[2 * tile_vectors];
  Floats threshold[tile_vectors];

  Tile(const Panel& panel, std::int64_t column, float last_position) {
    for (std::int64_t i = 0; i < 2 * tile_vectors; ++i) {
      row[i] = load(panel.value + column + i * double_lanes);
      next_row[i] = load(panel.next + column + i * double_lanes);
      multiplier[i] = load(panel.multiplier + column + i * double_lanes);
    }
    for (std::int64_t i = 0; i < tile_vectors; ++i) {
      const Floats of_small_values = load(panel.threshold + column + i * float_lanes) * Floats(last_position);
      threshold[i] = xsimd::min(Floats(threshold_unit), of_small_values) + Floats(threshold_floor);
    }
  }

  /// Two rows onwards.
  void step() {
    for (std::int64_t i = 0; i < 2 * tile_vectors; ++i) {
      row[i] = fused_minus(multiplier[i], next_row[i], row[i]);
      next_row[i] = fused_minus(multiplier[i], row[i], next_row[i]);
    }
  }
};

/// Rounds and stores one row of a tile; the least certainty of each column is kept.
inline void write_row(const Doubles* row, const Floats* threshold, Certainty* least, float* out) {
  for (std::int64_t i = 0; i < tile_vectors; ++i) {
    const Floats rounded = narrow(row[2 * i], row[2 * i + 1]);
    rounded.store_unaligned(out + i * float_lanes);
    least[i] = xsimd::min(least[i], certainty(row[2 * i], row[2 * i + 1], rounded, threshold[i]));
  }
}

/// Writes the tile's rows; true where every entry is certain.
inline bool write_tile(const Panel& panel, std::int64_t column, float last_position, std::int64_t rows, float* out,
                       std::ptrdiff_t stride) {
  Tile tile(panel, column, last_position);
  Certainty least[tile_vectors];
  for (Certainty& each : least) each = all_certain();
  for (std::int64_t pair = 0; pair < rows / 2; ++pair) {
    write_row(tile.row, tile.threshold, least, out);
    write_row(tile.next_row, tile.threshold, least, out + stride);
    tile.step();
    out += 2 * stride;
  }
  if (rows % 2 == 1) write_row(tile.row, tile.threshold, least, out);
  bool uncertain = false;
  for (std::int64_t i = 0; i < tile_vectors; ++i) uncertain |= xsimd::any(is_uncertain(least[i], tile.threshold[i]));
  return !uncertain;
}

/// Which entry of the encoding a panel's column is.
struct ColumnMap {
  const RotationTables& tables;
  std::int64_t first_frequency;
  std::int64_t panel_size;  ///< frequencies of the panel, padded

  float exact(std::int64_t position, std::int64_t column) const {
    const bool interleaved = tables.columns.interleaved;
    const bool cosine = interleaved ? column % 2 == 1 : column >= panel_size;
    const std::int64_t k = first_frequency + (interleaved ? column / 2 : column - (cosine ? panel_size : 0));
    return tables.exact_entry(tables.context, position, k, cosine);
  }
};

/// Goes over the tile once more and replaces every entry that is not certain.
[[gnu::noinline]] void correct_tile(const ColumnMap& map, const Panel& panel, std::int64_t column, std::int64_t columns,
                                    std::int64_t position, std::int64_t rows, float* out, std::ptrdiff_t stride) {
  Tile tile(panel, column, static_cast<float>(position + rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const Doubles* const values = row % 2 == 0 ? tile.row : tile.next_row;
    for (std::int64_t i = 0; i < tile_vectors; ++i) {
      const Doubles a = values[2 * i], b = values[2 * i + 1];
      bool uncertain[float_lanes];
      is_uncertain(certainty(a, b, narrow(a, b), tile.threshold[i]), tile.threshold[i]).store_unaligned(uncertain);
      for (std::int64_t lane = 0; lane < float_lanes; ++lane) {
        const std::int64_t offset = i * float_lanes + lane;
        if (offset < columns && uncertain[lane]) out[offset] = map.exact(position + row, column + offset);
      }
    }
    if (row % 2 == 1) tile.step();
    out += stride;
  }
}

inline void write_segment(const ColumnMap& map, const Panel& panel, const Segment& segment, std::int64_t position,
                          std::int64_t rows, std::ptrdiff_t stride) {
  const auto last_position = static_cast<float>(position + rows);
  std::int64_t done = 0;
  for (; done + tile_columns <= segment.count; done += tile_columns) {
    const std::int64_t column = segment.begin + done;
    if (!write_tile(panel, column, last_position, rows, segment.out + done, stride)) {
      correct_tile(map, panel, column, tile_columns, position, rows, segment.out + done, stride);
    }
  }
  if (done == segment.count) return;
  // The last columns of a row: a whole tile is computed, and what the row has is copied.
  float edge[block_rows * tile_columns];
  const std::int64_t column = segment.begin + done, columns = segment.count - done;
  if (!write_tile(panel, column, last_position, rows, edge, tile_columns)) {
    correct_tile(map, panel, column, columns, position, rows, edge, tile_columns);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < columns; ++i) segment.out[done + row * stride + i] = edge[row * tile_columns + i];
  }
}

/// A panel's columns from its frequencies: in the order of the row, or all sines before all cosines.
template <bool interleaved, class Batch, class T>
inline void spread(Batch sine, Batch cosine, T* columns, std::int64_t size, std::int64_t k) {
  if constexpr (interleaved) {
    const Interleaved<Batch> pairs = interleave(sine, cosine);
    pairs.first.store_unaligned(columns + 2 * k);
    pairs.second.store_unaligned(columns + 2 * k + static_cast<std::int64_t>(Batch::size));
  } else {
    sine.store_unaligned(columns + k);
    cosine.store_unaligned(columns + size + k);
  }
}

template <bool interleaved>
inline void fill_constants(Panel& panel, const RotationTables& tables, std::int64_t begin, std::int64_t size) {
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    const Doubles cos_row = load(tables.cos_row + begin + k);
    const Doubles multiplier = cos_row + cos_row;
    spread<interleaved>(multiplier, multiplier, panel.multiplier, size, k);
  }
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    const Floats slope = load(tables.radians + begin + k) * Floats(threshold_unit);
    spread<interleaved>(slope, Floats(std::numeric_limits<float>::max()), panel.threshold, size, k);
  }
}

/// The first two rows of a block from the sines and cosines at its first row.
template <bool interleaved>
inline void fill_start(Panel& panel, const RotationTables& tables, std::int64_t begin, std::int64_t size,
                       const double* sine, const double* cosine) {
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    const Doubles s = load(sine + k), c = load(cosine + k);
    const Doubles cos_row = load(tables.cos_row + begin + k), sin_row = load(tables.sin_row + begin + k);
    spread<interleaved>(s, c, panel.value, size, k);
    spread<interleaved>(fused(s, cos_row, c * sin_row), fused_minus(c, cos_row, s * sin_row), panel.next, size, k);
  }
}

inline void rotate(const RotationTables& tables, std::int64_t begin, std::int64_t size, double* sine, double* cosine) {
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    const Doubles s = load(sine + k), c = load(cosine + k);
    const Doubles cos_block = load(tables.cos_block + begin + k), sin_block = load(tables.sin_block + begin + k);
    fused(s, cos_block, c * sin_block).store_unaligned(sine + k);
    fused_minus(c, cos_block, s * sin_block).store_unaligned(cosine + k);
  }
}

/// All rows of the frequencies begin .. begin + used - 1.
template <bool interleaved>
inline void write_panel(const RotationTables& tables, std::int64_t begin, std::int64_t used, std::int64_t first,
                        std::int64_t count, float* out, std::ptrdiff_t stride) {
  const std::int64_t size = (used + tile_columns - 1) / tile_columns * tile_columns;
  const ColumnMap map{tables, begin, size};
  Panel panel;
  double sine[panel_frequencies], cosine[panel_frequencies];
  fill_constants<interleaved>(panel, tables, begin, size);
  for (std::int64_t row = 0, block = 0; row < count; row += block_rows, ++block) {
    if (block % anchored_blocks == 0) {
      anchor_kernel(size, tables.turns_high + begin, tables.turns_low + begin, static_cast<std::uint64_t>(first + row),
                    sine, cosine);
    } else {
      rotate(tables, begin, size, sine, cosine);
    }
    // Past the last frequency a column rests at 1, which is certain (the tables are padded with the frequency 0).
    for (std::int64_t k = used; k < size; ++k) sine[k] = 1.0;
    fill_start<interleaved>(panel, tables, begin, size, sine, cosine);
    const std::int64_t rows = count - row < block_rows ? count - row : block_rows;
    float* const block_out = out + row * stride;
    if constexpr (interleaved) {
      write_segment(map, panel, {0, 2 * used, block_out + tables.columns.sine + 2 * begin}, first + row, rows, stride);
    } else {
      write_segment(map, panel, {0, used, block_out + tables.columns.sine + begin}, first + row, rows, stride);
      write_segment(map, panel, {size, used, block_out + tables.columns.cosine + begin}, first + row, rows, stride);
    }
  }
}

void rotation_kernel(const RotationTables& tables, std::int64_t first, std::int64_t count, float* out,
                     std::ptrdiff_t stride) noexcept {
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += panel_frequencies) {
    const std::int64_t left = tables.frequencies - begin;
    const std::int64_t used = left < panel_frequencies ? left : panel_frequencies;
    (tables.columns.interleaved ? write_panel<true> : write_panel<false>)(tables, begin, used, first, count, out,
                                                                          stride);
  }
}

}  // namespace
}  // namespace posenc::simd
