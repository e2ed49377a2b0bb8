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

constexpr float anchor_error_in_units = 3.0f;  // 2, and one for the sine relative to its own value
#if defined(__FMA__) || defined(__aarch64__)
constexpr float error_in_units = 400.0f;
#else
constexpr float error_in_units = 620.0f;
#endif

// Rounding. The recurrence runs on values times 2^-896: it is linear, and the exponent of such a double is, in its low 8 bits, that of the
// float. So the float is bits 29 to 59 of the double, after half of the dropped part is added, with the sign before them; and what is then left
// in the low 29 bits tells how far the value was from the midpoint between two floats. Two vectors give one of floats and one of distances
// with shifts and moves that run on every port, where conversions would hold up.
constexpr double value_scale = 0x1p-896;

/// |distance| is in units of 2^(e - 55) for a value in [2^e, 2^(e+1)), so that the value is at least |distance * value| 2^-56 away from the
/// midpoint. Where that exceeds the error, error_in_units M u, the float is certain: |distance * value| > 8 error_in_units M (and a hair for
/// the rounding of the product).
constexpr float threshold_unit = 8.0f * error_in_units * 1.0001f;
constexpr float threshold_floor = 0x1p-14f;  // 2^-70 * 2^56

/// How certain the roundings of a column are: the least of many tells whether one is not.
#if defined(__SSE2__) && !defined(__SSE4_1__)
using Certainty = Floats;

inline Certainty certainty_of(Floats distance, Floats magnitude, Floats) { return xsimd::abs(distance * magnitude); }
inline auto is_uncertain(Certainty least, Floats threshold) { return least < threshold; }
inline Certainty all_certain() { return Certainty(std::numeric_limits<float>::max()); }
#else
/// distance * value + threshold, as bits: uncertain entries lie between 0 and twice the threshold, and the bits of floats below 0 are larger,
/// as unsigned numbers, than those above. Two operations where an absolute value and a minimum take three; SSE2 has no such minimum.
using Certainty = UnsignedWords;

inline Certainty certainty_of(Floats distance, Floats magnitude, Floats threshold) {
  return xsimd::bitwise_cast<UnsignedWords>(fused(distance, magnitude, threshold));
}
inline auto is_uncertain(Certainty least, Floats threshold) {
  return least < xsimd::bitwise_cast<UnsignedWords>(threshold + threshold);
}
inline Certainty all_certain() { return Certainty(std::numeric_limits<std::uint32_t>::max()); }
#endif

struct Rounded {
  Floats value;
  Certainty certainty;
};

/// Dealt doubles times value_scale to floats in the order of the columns.
inline Rounded round_dealt(Doubles a, Doubles b, Floats threshold) {
  const Quads half(std::uint64_t{1} << 28);
  const Quads a_bits = xsimd::bitwise_cast<Quads>(a), b_bits = xsimd::bitwise_cast<Quads>(b);
  const Quads a_shifted = (a_bits + half) << 3, b_shifted = (b_bits + half) << 3;
  const Floats magnitude = high_words(a_shifted, b_shifted);
  const Words distance = xsimd::bitwise_cast<Words>(low_words(a_shifted, b_shifted));
  const Floats sign = high_words(a_bits, b_bits) & Floats(-0.0f);
  return {magnitude | sign, certainty_of(xsimd::to_float(distance), magnitude, threshold)};
}

/// Columns of one panel, ready for the recurrence: doubles are dealt, floats in the order of the row.
constexpr std::int64_t panel_frequencies = 256;

struct Panel {
  double value[2 * panel_frequencies];       ///< at the block's first row, times value_scale
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

/// Two successive rows of some columns, which stay in registers.
template <std::int64_t vectors>
struct Tile {
  static constexpr std::int64_t columns = vectors * float_lanes;

  Doubles row[2 * vectors];
  Doubles next_row[2 * vectors];
  Doubles multiplier[2 * vectors];
  Floats threshold[vectors];

  Tile(const Panel& panel, std::int64_t column, float last_position) {
    for (std::int64_t i = 0; i < 2 * vectors; ++i) {
      row[i] = load(panel.value + column + i * double_lanes);
      next_row[i] = load(panel.next + column + i * double_lanes);
      multiplier[i] = load(panel.multiplier + column + i * double_lanes);
    }
    for (std::int64_t i = 0; i < vectors; ++i) {
      const Floats of_small_values = load(panel.threshold + column + i * float_lanes) * Floats(last_position);
      threshold[i] = xsimd::min(Floats(threshold_unit), of_small_values) + Floats(threshold_floor);
    }
  }

  /// Two rows onwards.
  void step() {
    for (std::int64_t i = 0; i < 2 * vectors; ++i) {
      row[i] = fused_minus(multiplier[i], next_row[i], row[i]);
      next_row[i] = fused_minus(multiplier[i], row[i], next_row[i]);
    }
  }
};

/// Columns of a tile: a whole cache line where stores go past the caches (a line written in parts would go there in parts), else what the
/// registers hold best.
constexpr std::int64_t streamed_vectors = 16 / float_lanes;
constexpr std::int64_t cached_vectors = 2;
constexpr std::int64_t most_tile_columns = 16 > cached_vectors* float_lanes ? 16 : cached_vectors* float_lanes;

/// Rounds and stores one row of a tile; the least certainty of each column is kept.
template <std::int64_t vectors, bool streamed>
inline void write_row(const Doubles* row, const Floats* threshold, Certainty* least, float* out) {
  for (std::int64_t i = 0; i < vectors; ++i) {
    const Rounded rounded = round_dealt(row[2 * i], row[2 * i + 1], threshold[i]);
    if constexpr (streamed) {
      stream(rounded.value, out + i * float_lanes);
    } else {
      rounded.value.store_unaligned(out + i * float_lanes);
    }
    least[i] = xsimd::min(least[i], rounded.certainty);
  }
}

/// Writes the tile's rows; true where every entry is certain.
template <std::int64_t vectors, bool streamed>
inline bool write_tile(const Panel& panel, std::int64_t column, float last_position, std::int64_t rows, float* out,
                       std::ptrdiff_t stride) {
  Tile<vectors> tile(panel, column, last_position);
  Certainty least[vectors];
  for (Certainty& each : least) each = all_certain();
  for (std::int64_t pair = 0; pair < rows / 2; ++pair) {
    write_row<vectors, streamed>(tile.row, tile.threshold, least, out);
    write_row<vectors, streamed>(tile.next_row, tile.threshold, least, out + stride);
    tile.step();
    out += 2 * stride;
  }
  if (rows % 2 == 1) write_row<vectors, streamed>(tile.row, tile.threshold, least, out);
  auto uncertain = is_uncertain(least[0], tile.threshold[0]);
  for (std::int64_t i = 1; i < vectors; ++i) uncertain = uncertain | is_uncertain(least[i], tile.threshold[i]);
  return !xsimd::any(uncertain);
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
template <std::int64_t vectors>
[[gnu::noinline]] void correct_tile(const ColumnMap& map, const Panel& panel, std::int64_t column, std::int64_t columns,
                                    std::int64_t position, std::int64_t rows, float* out, std::ptrdiff_t stride) {
  Tile<vectors> tile(panel, column, static_cast<float>(position + rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const Doubles* const values = row % 2 == 0 ? tile.row : tile.next_row;
    for (std::int64_t i = 0; i < vectors; ++i) {
      const Certainty found = round_dealt(values[2 * i], values[2 * i + 1], tile.threshold[i]).certainty;
      const auto uncertain = is_uncertain(found, tile.threshold[i]);
      if (!xsimd::any(uncertain)) continue;
      bool flags[float_lanes];
      uncertain.store_unaligned(flags);
      for (std::int64_t lane = 0; lane < float_lanes; ++lane) {
        const std::int64_t offset = i * float_lanes + lane;
        if (offset < columns && flags[lane]) out[offset] = map.exact(position + row, column + offset);
      }
    }
    if (row % 2 == 1) tile.step();
    out += stride;
  }
}

/// Whole tiles of a segment; the number of columns done.
template <std::int64_t vectors, bool streamed>
inline std::int64_t write_tiles(const ColumnMap& map, const Panel& panel, const Segment& segment, std::int64_t position,
                                std::int64_t rows, std::ptrdiff_t stride) {
  constexpr std::int64_t columns = Tile<vectors>::columns;
  std::int64_t done = 0;
  for (; done + columns <= segment.count; done += columns) {
    const std::int64_t column = segment.begin + done;
    const auto last_position = static_cast<float>(position + rows);
    if (!write_tile<vectors, streamed>(panel, column, last_position, rows, segment.out + done, stride)) {
      correct_tile<vectors>(map, panel, column, columns, position, rows, segment.out + done, stride);
    }
  }
  return done;
}

inline void write_segment(const ColumnMap& map, const Panel& panel, const Segment& segment, std::int64_t position,
                          std::int64_t rows, std::ptrdiff_t stride) {
  std::int64_t done = map.tables.streamed
                          ? write_tiles<streamed_vectors, true>(map, panel, segment, position, rows, stride)
                          : write_tiles<cached_vectors, false>(map, panel, segment, position, rows, stride);
  // The last columns of a row: whole vectors are computed, and what the row has is copied.
  float edge[block_rows * float_lanes];
  for (; done < segment.count; done += float_lanes) {
    const std::int64_t column = segment.begin + done;
    const std::int64_t columns = segment.count - done < float_lanes ? segment.count - done : float_lanes;
    if (!write_tile<1, false>(panel, column, static_cast<float>(position + rows), rows, edge, float_lanes)) {
      correct_tile<1>(map, panel, column, columns, position, rows, edge, float_lanes);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < columns; ++i) segment.out[done + row * stride + i] = edge[row * float_lanes + i];
    }
  }
}

/// float_lanes frequencies' columns, dealt: in the order of the row, or all sines before all cosines.
template <bool interleaved>
inline void spread(const Doubles (&sine)[2], const Doubles (&cosine)[2], double* columns, std::int64_t size,
                   std::int64_t k) {
  const auto store = [](Both<Doubles> dealt, double* to) {
    dealt.first.store_unaligned(to);
    dealt.second.store_unaligned(to + double_lanes);
  };
  if constexpr (interleaved) {
    store(deal_pairs(sine[0], cosine[0]), columns + 2 * k);
    store(deal_pairs(sine[1], cosine[1]), columns + 2 * k + float_lanes);
  } else {
    store(deal(sine[0], sine[1]), columns + k);
    store(deal(cosine[0], cosine[1]), columns + size + k);
  }
}

template <bool interleaved>
inline void fill_constants(Panel& panel, const RotationTables& tables, std::int64_t begin, std::int64_t size) {
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    const Doubles cos_row[2] = {load(tables.cos_row + begin + k), load(tables.cos_row + begin + k + double_lanes)};
    const Doubles multiplier[2] = {cos_row[0] + cos_row[0], cos_row[1] + cos_row[1]};
    spread<interleaved>(multiplier, multiplier, panel.multiplier, size, k);
    const Floats slope = load(tables.radians + begin + k) * Floats(threshold_unit);
    const Floats huge(std::numeric_limits<float>::max());
    if constexpr (interleaved) {
      const Both<Floats> pairs = interleave(slope, huge);
      pairs.first.store_unaligned(panel.threshold + 2 * k);
      pairs.second.store_unaligned(panel.threshold + 2 * k + float_lanes);
    } else {
      slope.store_unaligned(panel.threshold + k);
      huge.store_unaligned(panel.threshold + size + k);
    }
  }
}

/// The first two rows of a block from the sines and cosines at its first row.
template <bool interleaved>
inline void fill_start(Panel& panel, const RotationTables& tables, std::int64_t begin, std::int64_t size,
                       const double* sine, const double* cosine) {
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    Doubles s[2], c[2], next_s[2], next_c[2];
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::int64_t at = k + i * double_lanes;
      const Doubles cos_row = load(tables.cos_row + begin + at), sin_row = load(tables.sin_row + begin + at);
      s[i] = load(sine + at);
      c[i] = load(cosine + at);
      next_s[i] = fused(s[i], cos_row, c[i] * sin_row);
      next_c[i] = fused_minus(c[i], cos_row, s[i] * sin_row);
    }
    spread<interleaved>(s, c, panel.value, size, k);
    spread<interleaved>(next_s, next_c, panel.next, size, k);
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

/// Sines and cosines at a position, times value_scale. Past the last frequency a column rests at 1, which is certain (the tables are padded
/// with the frequency 0).
inline void set_anchors(const RotationTables& tables, std::int64_t begin, std::int64_t used, std::int64_t size,
                        std::int64_t position, double* sine, double* cosine) {
  anchor_kernel(size, tables.turns_high + begin, tables.turns_low + begin, static_cast<std::uint64_t>(position), sine,
                cosine);
  for (std::int64_t k = used; k < size; ++k) sine[k] = 1.0;
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    (load(sine + k) * Doubles(value_scale)).store_unaligned(sine + k);
    (load(cosine + k) * Doubles(value_scale)).store_unaligned(cosine + k);
  }
}

/// One row alone: its anchors are its values, within 2 u M, and no recurrence is set up.
template <bool interleaved>
inline void write_single_row(const RotationTables& tables, std::int64_t begin, std::int64_t used, std::int64_t position,
                             float* out) {
  const std::int64_t size = (used + most_tile_columns - 1) / most_tile_columns * most_tile_columns;
  const ColumnMap map{tables, begin, size};
  Panel panel;
  double sine[panel_frequencies], cosine[panel_frequencies];
  set_anchors(tables, begin, used, size, position, sine, cosine);
  const auto write = [&](const Segment& segment) {
    for (std::int64_t done = 0; done < segment.count; done += float_lanes) {
      const std::int64_t column = segment.begin + done;
      const std::int64_t columns = segment.count - done < float_lanes ? segment.count - done : float_lanes;
      const Floats threshold(threshold_unit * (anchor_error_in_units / error_in_units));
      const Rounded rounded =
          round_dealt(load(panel.value + column), load(panel.value + column + double_lanes), threshold);
      float row[float_lanes];
      bool flags[float_lanes];
      const auto uncertain = is_uncertain(rounded.certainty, threshold);
      if (columns == float_lanes && !xsimd::any(uncertain)) {
        rounded.value.store_unaligned(segment.out + done);
        continue;
      }
      rounded.value.store_unaligned(row);
      uncertain.store_unaligned(flags);
      for (std::int64_t lane = 0; lane < columns; ++lane) {
        segment.out[done + lane] = flags[lane] ? map.exact(position, column + lane) : row[lane];
      }
    }
  };
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    const Doubles s[2] = {load(sine + k), load(sine + k + double_lanes)};
    const Doubles c[2] = {load(cosine + k), load(cosine + k + double_lanes)};
    spread<interleaved>(s, c, panel.value, size, k);
  }
  if constexpr (interleaved) {
    write({0, 2 * used, out + tables.columns.sine + 2 * begin});
  } else {
    write({0, used, out + tables.columns.sine + begin});
    write({size, used, out + tables.columns.cosine + begin});
  }
}

/// All rows of the frequencies begin .. begin + used - 1.
template <bool interleaved>
inline void write_panel(const RotationTables& tables, std::int64_t begin, std::int64_t used, std::int64_t first,
                        std::int64_t count, float* out, std::ptrdiff_t stride) {
  const std::int64_t size = (used + most_tile_columns - 1) / most_tile_columns * most_tile_columns;
  const ColumnMap map{tables, begin, size};
  Panel panel;
  double sine[panel_frequencies], cosine[panel_frequencies];
  fill_constants<interleaved>(panel, tables, begin, size);
  for (std::int64_t row = 0, block = 0; row < count; row += block_rows, ++block) {
    if (block % anchored_blocks == 0) {
      set_anchors(tables, begin, used, size, first + row, sine, cosine);
    } else {
      rotate(tables, begin, size, sine, cosine);
    }
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
