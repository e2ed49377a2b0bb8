// rotation: angle addition from exactly reduced anchors, in double, rounded once and correctly, to
// float32 or a 16-bit type. For float64 see rotation64_kernel.h.
//
// For a frequency w, both columns v_n = sin(phase + n w) and cos(phase + n w) obey v_(n+1) = 2
// cos(w) v_n - v_(n-1): one fused operation a value, whatever the layout, since the lanes of a
// vector stand for columns in the order of the row.
//   anchor   sine and cosine from the integer phase, every anchored_blocks blocks
//   block    the anchor rotated by block_rows w, every block_rows rows: the row in the middle. With
//            the one after it, it starts two runs of
//            the recurrence, upwards and downwards, which share the work of starting
//   row      the recurrence, for a tile of columns that stay in registers
//
// Fused operations are called by name: what xsimd calls fma is a product and a sum on some of its
// ISAs.
//
// Bound of the speed: with AVX2, 32 entries take 56 vector operations (8 of the recurrence, 20 of
// the rounding, 12 of the sign, 16 of the check) and 4 stores. Zen 4 does those alone, from
// registers, in 14.6 cycles (AVX-512: 13.6); a table in cache takes 20 (18), with 2 for starting
// blocks and 3 for starting tiles and storing. An unchecked rounding would take 10. So a third of
// what its stores could do is this method's end in cache.
//
// Error bound, in units of u = 2^-53, of columns whose values stay below M in the block (M = 1, or
// (last position) w where that is less and the column is a sine):
//   anchor                       2 M
//   block, at most 15 rotations  3.5 M each: the constants (1) and up to three roundings a part
//   second row                   3.5 M more, which the recurrence amplifies by at most n <= 16
//   recurrence                   sum over 15 steps of (16 - j) (1.2 + 1 [+ 2 without fused
//                                operations]) M <= 120 * 2.2 M [4.2 M]:
//                                the constant 2 cos(w), and the step's roundings; sin(n w) / sin(w)
//                                    <= n
//   in all                       2 + 53 + 56 + 264 [504] = 375 [615]
// and 2^-70 for the 128 bits of the frequency. A double that far from the midpoint of two
// neighbours rounds as the exact value does. The others are recomputed exactly, so that every entry
// is correctly rounded, and its bits depend on nothing but its position.
#pragma once

namespace posenc::simd {
namespace {

constexpr float anchor_error_in_units = 3.0f;  // 2, and one for the sine relative to its own value
constexpr float error_in_units = fused_rounds_once ? 400.0f : 620.0f;

// Rounding to float32. The recurrence runs on values times 2^-896: it is linear, and the exponent
// of such a double is, in its low 8 bits, that of the float. So the float is bits 29 to 59 of the
// double, after half of the dropped part is added, with the sign before them; and what is then left
// in the low 29 bits tells how far the value was from the midpoint between two floats. Two vectors
// give one of floats and one of distances with shifts and moves that run on every port, where
// conversions would hold up.

/// a < b: there is an instruction for their maximum, and none for this.
inline auto is_below(U32 a, U32 b) { return xsimd::max(a, b) != a; }

/// How certain the roundings of a column are: the minimum over a tile shows whether any entry must
/// be recomputed. With a minimum of unsigned words, distance * value + threshold is kept as bits:
/// uncertain entries lie between 0 and twice the threshold, and the bits of floats below 0 are
/// larger, as unsigned numbers, than those above. That is two operations, where an absolute value
/// and a minimum take three.
using RoundingMargin32 = std::conditional_t<has_word_minimum, U32, F32>;

template <class RoundingMargin>
inline RoundingMargin margin_of(F32 distance, F32 magnitude, F32 threshold) {
  if constexpr (std::is_same_v<RoundingMargin, U32>) {
    return cast_bits<U32>(fused(distance, magnitude, threshold));
  } else {
    return xsimd::abs(distance * magnitude);
  }
}
inline auto is_uncertain_float(U32 least, F32 threshold) {
  return is_below(least, cast_bits<U32>(threshold + threshold));
}
inline auto is_uncertain_float(F32 least, F32 threshold) { return least < threshold; }
inline RoundingMargin32 largest_margin32() {
  return RoundingMargin32(std::numeric_limits<typename RoundingMargin32::value_type>::max());
}

/// The last step of the recurrence: how two vectors of deinterleaved doubles, times value_scale,
/// become one of elements in the order of the columns, and how certain those are. Threshold: what a
/// column's margin is held against, from the bound M of its values.
struct RoundToFloat32 {
  using Element = float;
  using Bits = std::uint32_t;
  using Value = F32;
  using Threshold = F32;
  using RoundingMargin = RoundingMargin32;

  static constexpr bool adds = false;
  static constexpr std::int64_t stored_together = 1;  ///< vectors
  static constexpr double value_scale = 0x1p-896;

  /// |distance| is in units of 2^(e - 55) for a value in [2^e, 2^(e+1)), so that the value is at
  /// least |distance * value| 2^-56 away from the midpoint. Where that exceeds the error,
  /// error_in_units M u, the float is certain: |distance * value| > 8 error_in_units M (and a hair
  /// for the rounding of the product), and 2^-70 for the frequency's end.
  static Threshold threshold(F32 bound) {
    return fused(bound, F32(8.0f * error_in_units * 1.0001f), F32(0x1p-14f));
  }

  static Value round(F64 a, F64 b, Threshold threshold, RoundingMargin& least) {
    const U64 half(std::uint64_t{1} << 28);
    const U64 a_bits = cast_bits<U64>(a), b_bits = cast_bits<U64>(b);
    const U64 a_shifted = (a_bits + half) << 3, b_shifted = (b_bits + half) << 3;
    const F32 magnitude = high_halves(a_shifted, b_shifted);
    const I32 distance = cast_bits<I32>(low_halves(a_shifted, b_shifted));
    const F32 sign = high_halves(a_bits, b_bits) & F32(-0.0f);
    least = xsimd::min(least,
                       margin_of<RoundingMargin>(xsimd::to_float(distance), magnitude, threshold));
    return magnitude | sign;
  }

  static RoundingMargin largest_margin() { return largest_margin32(); }
  static auto is_uncertain(const RoundingMargin& least, Threshold threshold) {
    return is_uncertain_float(least, threshold);
  }

  template <bool non_temporal, std::int64_t vectors>
  static void store(const Value (&values)[vectors], Element* out) {
    for (std::int64_t i = 0; i < vectors; ++i) {
      if constexpr (non_temporal) {
        store_non_temporal(values[i], out + i * float_lanes);
      } else {
        values[i].store_unaligned(out + i * float_lanes);
      }
    }
  }
};

/// The same, added to something.
struct AddFloat32 : RoundToFloat32 {
  static constexpr bool adds = true;
};

/// To a 16-bit type, in the same way: 2^scale_exponent puts the type's exponent into the low bits
/// of the double's, and the shift to the top of a word, below the place of the sign. Its upper half
/// is then the rounded value, its lower half the distance to the midpoint: a unit of it is 2^-16 of
/// the type's ulp and, for values of least_magnitude or more, larger than the error. So only the
/// two distances around the midpoint, and smaller values, are uncertain; one entry in 2^15 is.
template <class T, int scale_exponent, int shift>
struct RoundTo16Bits {
  using Element = T;
  using Bits = std::uint16_t;
  using Value = I32;

  static constexpr bool adds = false;
  static constexpr std::int64_t stored_together = 2;
  static constexpr double value_scale =
      std::bit_cast<double>(std::uint64_t{1023 + scale_exponent} << 52);

  /// The upper half of a double whose magnitude is certain: as large as a unit of the distance must
  /// be, and normal in T.
  using Threshold = U32;
  static Threshold threshold(F32 bound) {
    // error_in_units u M < 2^-43.7 M, and a unit is at least 2^-24 of the value.
    constexpr float least_normal = std::is_same_v<T, Float16> ? 0x1p-14f : 0.0f;
    const F32 least = xsimd::max(fused(bound, F32(0x1p-19f), F32(0x1p-44f)), F32(least_normal));
    const I32 upper_half =
        (cast_bits<I32>(least) >> 3) + I32((1023 - 127 + scale_exponent) * (1 << 20));
    return cast_bits<U32>(upper_half);
  }

  struct RoundingMargin {
    U32 distance;
    U32 magnitude;
  };

  static Value round(F64 a, F64 b, Threshold, RoundingMargin& least) {
    // Half of what is dropped, and one unit of the distance, so that the uncertain ones are 0
    // and 1.
    const U64 half((std::uint64_t{1} << (47 - shift)) + (std::uint64_t{1} << (32 - shift)));
    const U64 a_bits = cast_bits<U64>(a), b_bits = cast_bits<U64>(b);
    const auto words = [](F32 x) { return cast_bits<I32>(x); };
    const I32 rounded = words(high_halves((a_bits + half) << shift, (b_bits + half) << shift));
    const I32 upper_half = words(high_halves(a_bits, b_bits));
    const I32 magnitude = upper_half & I32(0x7fffffff);
    least.distance = xsimd::min(least.distance, cast_bits<U32>(rounded << 16));
    least.magnitude = xsimd::min(least.magnitude, cast_bits<U32>(magnitude));
    return (rounded | (upper_half ^ magnitude)) >> 16;
  }

  static RoundingMargin largest_margin() {
    const U32 most(std::numeric_limits<std::uint32_t>::max());
    return {most, most};
  }
  static auto is_uncertain(const RoundingMargin& least, Threshold threshold) {
    return is_below(least.distance, U32(2 << 16)) || is_below(least.magnitude, threshold);
  }

  template <bool non_temporal, std::int64_t vectors>
  static void store(const Value (&values)[vectors], Element* out) {
    for (std::int64_t i = 0; i < vectors; i += 2) {
      const F32 packed = pack(values[i], values[i + 1 < vectors ? i + 1 : i]);
      auto* const to = reinterpret_cast<float*>(out + i * float_lanes);
      if constexpr (non_temporal) {
        store_non_temporal(packed, to);
      } else {
        packed.store_unaligned(to);
      }
    }
  }
};

using RoundToBFloat16 = RoundTo16Bits<BFloat16, -896, 3>;
using RoundToFloat16 = RoundTo16Bits<Float16, -944, 6>;

/// Columns of one panel, ready for the recurrence: doubles are deinterleaved, floats in the order
/// of the row.
constexpr std::int64_t panel_frequencies = 256;

struct alignas(64) Panel {
  static constexpr std::int64_t columns = 2 * panel_frequencies;
  static constexpr std::int64_t apart =
      8;  ///< of arrays of 4096 bytes: a load waits for a store at the same place of another page

  double middle[columns + apart];      ///< at the block's middle row, times value_scale
  double next[columns + apart];        ///< one row on
  double multiplier[columns + apart];  ///< 2 cos(w)
  double sine[panel_frequencies];      ///< at the middle row, by frequency
  double cosine[panel_frequencies];
  float slope[columns];  ///< w of a sine, huge for a cosine: times a position it bounds the value
};

/// Consecutive columns of the output that a part of the panel fills: all of an interleaved panel,
/// or its sines, or its cosines.
template <class Element>
struct Segment {
  std::int64_t begin;  ///< in the panel's arrays
  std::int64_t count;
  Element* out;  ///< the run's first row, first column
};

/// The rows from the middle of a block to one of its ends.
struct Run {
  const Panel& panel;
  const double* row;       ///< the panel's columns at the first row, and
  const double* before;    ///< at the one before it
  std::int64_t first;      ///< position of the first row
  std::int64_t direction;  ///< of the positions: 1 or -1
  std::int64_t rows;
  std::int64_t last_position;  ///< the block's
  std::ptrdiff_t stride;       ///< elements from one row to the next, with the direction's sign
  std::int64_t next_row;       ///< from the first row to the lowest of the next run
  std::int64_t next_rows;      ///< of the next run

  std::int64_t position(std::int64_t n) const { return first + n * direction; }
  std::ptrdiff_t upwards() const {
    return stride * direction;
  }  ///< elements from a row to the next position's
};

constexpr std::int64_t run_rows = block_rows / 2;

/// Two successive rows of some columns, which stay in registers: its arrays are initialised at once
/// because GCC keeps arrays in memory that are assigned to in a loop, in halves, which cannot be
/// loaded again before both have left the store buffer.
template <class Round, std::int64_t vectors>
struct Tile {
  static constexpr std::int64_t columns = vectors * float_lanes;

  F64 row[2 * vectors];
  F64 before[2 * vectors];
  F64 multiplier[2 * vectors];
  typename Round::Threshold
      threshold;  ///< of all its vectors: one that varies more would want registers

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
    return Round::threshold(
        xsimd::min(F32(1.0f), slope * F32(static_cast<float>(run.last_position))));
  }

  /// Replaces a row by the one after the next.
  void step(F64 (&from)[2 * vectors], const F64 (&next)[2 * vectors]) const {
    for (std::int64_t i = 0; i < 2 * vectors; ++i)
      from[i] = fused_minus(multiplier[i], next[i], from[i]);
  }
};

/// Columns of a tile: a whole cache line where stores go past the caches (a line written in parts
/// would go there in parts), else what the registers hold best.
template <class Round>
constexpr std::int64_t non_temporal_vectors =
    64 / static_cast<std::int64_t>(sizeof(typename Round::Element)) / float_lanes;
constexpr std::int64_t cached_vectors = 2;
constexpr std::int64_t most_tile_columns = 32;

/// Rounds and stores one row of a tile; the least margin of each column is kept.
template <class Round, bool non_temporal, std::int64_t vectors>
inline void write_row(const F64* row, typename Round::Threshold threshold,
                      typename Round::RoundingMargin& least, typename Round::Element* out) {
  constexpr std::int64_t together =
      vectors < Round::stored_together ? vectors : Round::stored_together;
  for (std::int64_t i = 0; i < vectors; i += together) {
    typename Round::Value values[together];
    for (std::int64_t j = 0; j < together; ++j) {
      values[j] = Round::round(row[2 * (i + j)], row[2 * (i + j) + 1], threshold, least);
    }
    Round::template store<non_temporal>(values, out + i * float_lanes);
  }
}

/// Writes the tile's rows; true where every entry is certain.
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
  return !xsimd::any(Round::is_uncertain(least, tile.threshold));
}

/// Which entry of the encoding a panel's column is.
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

/// Replaces what is not certain in one vector of a row, which starts at that column of the panel
/// and at `out`.
template <class Round>
[[gnu::noinline]] void correct_vector(const ColumnMap& map, std::int64_t column,
                                      std::int64_t columns, std::int64_t position,
                                      const bool* uncertain, typename Round::Element* out) {
  for (std::int64_t lane = 0; lane < columns; ++lane) {
    if (uncertain[lane]) out[lane] = map.exact<Round>(position, column + lane);
  }
}

/// Goes over the tile once more and replaces every entry that is not certain.
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

/// Whole tiles of a segment; the number of columns done.
template <class Round, std::int64_t vectors, bool non_temporal>
inline std::int64_t write_tiles(const ColumnMap& map, const Run& run,
                                const Segment<typename Round::Element>& segment) {
  constexpr std::int64_t columns = Tile<Round, vectors>::columns;
  std::int64_t done = 0;
  for (; done + columns <= segment.count; done += columns) {
    const std::int64_t column = segment.begin + done;
    if (!write_tile<Round, vectors, non_temporal>(run, column, segment.out + done, run.stride)) {
      correct_tile<Round, vectors>(map, run, column, columns, segment.out + done, run.stride);
    }
  }
  return done;
}

constexpr std::int64_t line_floats = 16;  ///< floats of a cache line

/// The memory that the next run adds to, fetched while this one computes: a line a call, row after
/// row, as memory likes to be read. (Tiles read a line of every row, which no hardware foresees.)
class LinesAhead {
 public:
  LinesAhead(const Run& run, const Segment<float>& segment, const Addition* addition)
      : at_(segment.out + addition->distance + run.next_row * run.upwards()),
        lines_((segment.count + line_floats - 1) / line_floats),
        to_next_row_(run.upwards() - lines_ * line_floats),
        in_row_(lines_),
        rows_(run.next_rows) {}

  void fetch() {
    if (rows_ <= 0) return;
    __builtin_prefetch(at_, 0, 2);
    at_ += line_floats;
    if (--in_row_ > 0) return;
    at_ += to_next_row_;
    in_row_ = lines_;
    --rows_;
  }

 private:
  const float* at_;
  std::int64_t lines_;
  std::ptrdiff_t to_next_row_;
  std::int64_t in_row_, rows_;
};

/// A tile of sums. What was added to is kept until the tile is known to be certain: the sums may
/// overwrite it.
template <std::int64_t vectors, bool non_temporal>
struct SumTile {
  static constexpr std::int64_t columns = vectors * float_lanes;
  static constexpr std::int64_t lines = (columns + line_floats - 1) / line_floats;

  float kept[run_rows * columns];

  static void write_row(const F64* row, F32 threshold, RoundingMargin32& least,
                        const Addition* addition, float* out, float* keep) {
    for (std::int64_t i = 0; i < vectors; ++i) {
      const F32 value = RoundToFloat32::round(row[2 * i], row[2 * i + 1], threshold, least);
      const F32 x = load(out + addition->distance + i * float_lanes);
      x.store_unaligned(keep + i * float_lanes);
      const F32 sum[1] = {x * F32(addition->scale) + value};
      RoundToFloat32::store<non_temporal>(sum, out + i * float_lanes);
    }
  }

  /// True where every entry is certain.
  bool write(const Run& run, std::int64_t column, const Addition* addition, float* out,
             LinesAhead& ahead) {
    Tile<RoundToFloat32, vectors> tile(run, column);
    RoundingMargin32 least = RoundToFloat32::largest_margin();
    float* keep = kept;
    for (std::int64_t row = 0; row < run.rows; row += 2) {
      for (std::int64_t i = 0; i < 2 * lines; ++i) ahead.fetch();
      write_row(tile.row, tile.threshold, least, addition, out, keep);
      if (row + 1 == run.rows) break;
      tile.step(tile.before, tile.row);
      write_row(tile.before, tile.threshold, least, addition, out + run.stride, keep + columns);
      tile.step(tile.row, tile.before);
      out += 2 * run.stride;
      keep += 2 * columns;
    }
    return !xsimd::any(RoundToFloat32::is_uncertain(least, tile.threshold));
  }

  /// Adds again, to the corrected encoding.
  [[gnu::noinline]] void correct(const ColumnMap& map, const Run& run, std::int64_t column,
                                 const Addition* addition, float* out) const {
    float encoding[run_rows * columns];
    write_tile<RoundToFloat32, vectors, false>(run, column, encoding, columns);
    correct_tile<RoundToFloat32, vectors>(map, run, column, columns, encoding, columns);
    for (std::int64_t row = 0; row < run.rows; ++row) {
      for (std::int64_t i = 0; i < columns; ++i) {
        out[row * run.stride + i] =
            kept[row * columns + i] * addition->scale + encoding[row * columns + i];
      }
    }
  }
};

/// Whole tiles of a segment, added; the number of columns done.
template <std::int64_t vectors, bool non_temporal>
inline std::int64_t add_tiles(const ColumnMap& map, const Run& run, const Segment<float>& segment,
                              const Addition* addition) {
  SumTile<vectors, non_temporal> sums;
  LinesAhead ahead(run, segment, addition);
  std::int64_t done = 0;
  for (; done + sums.columns <= segment.count; done += sums.columns) {
    const std::int64_t column = segment.begin + done;
    if (!sums.write(run, column, addition, segment.out + done, ahead)) {
      sums.correct(map, run, column, addition, segment.out + done);
    }
  }
  return done;
}

template <class Round>
inline std::int64_t write_whole_tiles(const ColumnMap& map, const Run& run,
                                      const Segment<typename Round::Element>& segment,
                                      bool non_temporal, const Addition* addition) {
  constexpr std::int64_t line_vectors = non_temporal_vectors<Round>;
  if constexpr (Round::adds) {
    // Two lines a row where the registers hold them: 1.2 to 1.5 times as fast as one where rows
    // stand 4096 bytes apart.
    constexpr std::int64_t wide = line_vectors > cached_vectors ? line_vectors : cached_vectors;
    return non_temporal ? add_tiles<wide, true>(map, run, segment, addition)
                        : add_tiles<cached_vectors, false>(map, run, segment, addition);
  } else {
    return non_temporal ? write_tiles<Round, line_vectors, true>(map, run, segment)
                        : write_tiles<Round, cached_vectors, false>(map, run, segment);
  }
}

template <class Round>
inline void write_segment(const ColumnMap& map, const Run& run,
                          const Segment<typename Round::Element>& segment, bool non_temporal,
                          const Addition* addition) {
  std::int64_t done = write_whole_tiles<Round>(map, run, segment, non_temporal, addition);
  // The last columns of a row: whole vectors are computed, and what the row has is copied.
  constexpr std::int64_t edge_stride = 2 * float_lanes;
  typename Round::Element edge[run_rows * edge_stride];
  for (; done < segment.count; done += float_lanes) {
    const std::int64_t column = segment.begin + done;
    const std::int64_t columns =
        segment.count - done < float_lanes ? segment.count - done : float_lanes;
    if (!write_tile<Round, 1, false>(run, column, edge, edge_stride)) {
      correct_tile<Round, 1>(map, run, column, columns, edge, edge_stride);
    }
    for (std::int64_t row = 0; row < run.rows; ++row) {
      auto* const out = segment.out + done + row * run.stride;
      const auto* const from = edge + row * edge_stride;
      if constexpr (Round::adds) {
        for (std::int64_t i = 0; i < columns; ++i)
          out[i] = out[i + addition->distance] * addition->scale + from[i];
      } else if (columns == float_lanes) {
        std::memcpy(out, from, float_lanes * sizeof *out);
      } else {
        std::memcpy(out, from, static_cast<std::size_t>(columns) * sizeof *out);
      }
    }
  }
}

/// float_lanes frequencies' columns, deinterleaved: in the order of the row, or all sines before
/// all cosines.
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
    store(dedeinterleave_pairs(sine[0], sine[1]), columns + k);
    store(dedeinterleave_pairs(cosine[0], cosine[1]), columns + size + k);
  }
}

template <bool interleaved>
inline void fill_constants(Panel& panel, const RotationTables& tables, std::int64_t begin,
                           std::int64_t size) {
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

/// The middle row of a block and the next one from the sines and cosines at the middle.
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

inline void rotate(const RotationTables& tables, std::int64_t begin, std::int64_t size,
                   double* sine, double* cosine) {
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    const F64 s = load(sine + k), c = load(cosine + k);
    const F64 cos_block = load(tables.cos_block + begin + k),
              sin_block = load(tables.sin_block + begin + k);
    fused(s, cos_block, c * sin_block).store_unaligned(sine + k);
    fused_minus(c, cos_block, s * sin_block).store_unaligned(cosine + k);
  }
}

/// Sines and cosines at a position, times scale. Past the last frequency a column rests at 1, which
/// is certain (the tables are padded with the frequency 0).
inline void set_anchors(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                        std::int64_t size, std::int64_t position, double scale, double* sine,
                        double* cosine) {
  anchor_kernel(size, tables.turns_high + begin, tables.turns_low + begin,
                static_cast<std::uint64_t>(position), sine, cosine);
  for (std::int64_t k = used; k < size; ++k) sine[k] = 1.0;
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    (load(sine + k) * F64(scale)).store_unaligned(sine + k);
    (load(cosine + k) * F64(scale)).store_unaligned(cosine + k);
  }
}

/// The parts of a run that are consecutive in a row.
template <bool interleaved, class Element, class Write>
inline void for_each_segment(const Columns& columns, std::int64_t begin, std::int64_t used,
                             std::int64_t size, Element* out, const Write& write) {
  if constexpr (interleaved) {
    write(Segment<Element>{0, 2 * used, out + columns.sine + 2 * begin});
  } else {
    write(Segment<Element>{0, used, out + columns.sine + begin});
    write(Segment<Element>{size, used, out + columns.cosine + begin});
  }
}

/// The columns of one row alone: what anchors are, and no recurrence is set up.
template <class Round>
inline void write_anchors(const ColumnMap& map, const double* values,
                          const Segment<typename Round::Element>& segment, std::int64_t position) {
  constexpr std::int64_t vectors = 2, step = vectors * float_lanes;
  const auto threshold = Round::threshold(F32(anchor_error_in_units / error_in_units));
  for (std::int64_t done = 0; done < segment.count; done += step) {
    const std::int64_t column = segment.begin + done;
    const std::int64_t columns = segment.count - done < step ? segment.count - done : step;
    typename Round::Element edge[step];
    typename Round::Element* const out = columns == step ? segment.out + done : edge;
    typename Round::Value rounded[vectors];
    typename Round::RoundingMargin margin[vectors];
    for (std::int64_t i = 0; i < vectors; ++i) {
      margin[i] = Round::largest_margin();
      const double* const from = values + column + i * float_lanes;
      rounded[i] = Round::round(load(from), load(from + double_lanes), threshold, margin[i]);
    }
    Round::template store<false>(rounded, out);
    for (std::int64_t i = 0; i < vectors; ++i) {
      const auto uncertain = Round::is_uncertain(margin[i], threshold);
      const std::int64_t left = columns - i * float_lanes;
      if (left <= 0 || !xsimd::any(uncertain)) continue;
      bool flags[float_lanes];
      uncertain.store_unaligned(flags);
      correct_vector<Round>(map, column + i * float_lanes, left < float_lanes ? left : float_lanes,
                            position, flags, out + i * float_lanes);
    }
    if (columns == step) continue;
    for (std::int64_t i = 0; i < columns; ++i) segment.out[done + i] = edge[i];
  }
}

constexpr std::int64_t padded_size(std::int64_t used) {
  return (used + most_tile_columns - 1) / most_tile_columns * most_tile_columns;
}

template <class Round, bool interleaved>
inline void write_single_row(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                             const RowTask& task, const Addition*) {
  const std::int64_t size = padded_size(used);
  double sine[panel_frequencies], cosine[panel_frequencies], values[2 * panel_frequencies];
  set_anchors(tables, begin, used, size, task.first, Round::value_scale, sine, cosine);
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    const F64 s[2] = {load(sine + k), load(sine + k + double_lanes)};
    const F64 c[2] = {load(cosine + k), load(cosine + k + double_lanes)};
    store_columns<interleaved>(s, c, values, size, k);
  }
  auto* const out = task.row<typename Round::Element>(0);
  for_each_segment<interleaved>(tables.columns, begin, used, size, out, [&](const auto& segment) {
    write_anchors<Round>({tables, begin, size}, values, segment, task.first);
  });
}

/// The rows of a block from its panel, which is at its row `middle`.
template <class Round, bool interleaved>
inline void write_block(const ColumnMap& map, const Panel& panel, std::int64_t used,
                        const RowTask& task, const Addition* addition, std::int64_t row,
                        std::int64_t middle, std::int64_t rows) {
  const std::int64_t position = task.first + row;
  const auto write = [&](const Run& run) {
    auto* const out = task.row<typename Round::Element>(run.first - task.first);
    for_each_segment<interleaved>(map.tables.columns, map.first_frequency, used, map.panel_size,
                                  out, [&](const auto& segment) {
                                    write_segment<Round>(map, run, segment, task.non_temporal,
                                                         addition);
                                  });
  };
  const std::int64_t upper = rows - middle - 1, left = task.count - row - rows;
  write({panel, panel.middle, panel.next, position + middle, -1, middle + 1, position + rows,
         -task.stride, 1, upper});
  write({panel, panel.next, panel.middle, position + middle + 1, 1, upper, position + rows,
         task.stride, upper, left < run_rows ? left : run_rows});
}

/// All rows of the frequencies begin .. begin + used - 1.
template <class Round, bool interleaved>
inline void write_panel(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                        const RowTask& task, const Addition* addition) {
  const std::int64_t size = padded_size(used);
  const ColumnMap map{tables, begin, size};
  Panel panel;
  fill_constants<interleaved>(panel, tables, begin, size);
  for (std::int64_t row = 0, block = 0; row < task.count; row += block_rows, ++block) {
    const std::int64_t rows = task.count - row < block_rows ? task.count - row : block_rows;
    // A last block of few rows has an anchor of its own; else the one that the others' would turn
    // into.
    const bool is_short = rows <= run_rows;
    const std::int64_t middle = is_short ? (rows - 1) / 2 : run_rows - 1;
    if (block % anchored_blocks == 0 || is_short) {
      set_anchors(tables, begin, used, size, task.first + row + middle, Round::value_scale,
                  panel.sine, panel.cosine);
    } else {
      rotate(tables, begin, size, panel.sine, panel.cosine);
    }
    fill_start<interleaved>(panel, tables, begin, size);
    write_block<Round, interleaved>(map, panel, used, task, addition, row, middle, rows);
  }
}

template <class Round>
inline void write_rows(const RotationTables& tables, const RowTask& task,
                       const Addition* addition) {
  const bool interleaved = tables.columns.interleaved;
  const auto write =
      task.count == 1 && !Round::adds
          ? (interleaved ? write_single_row<Round, true> : write_single_row<Round, false>)
          : (interleaved ? write_panel<Round, true> : write_panel<Round, false>);
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += panel_frequencies) {
    const std::int64_t left = tables.frequencies - begin;
    write(tables, begin, left < panel_frequencies ? left : panel_frequencies, task, addition);
  }
  if (task.non_temporal) fence();
}

void rotation_kernel(const RotationTables& tables, const RowTask& task,
                     const Addition* addition) noexcept {
  switch (task.type) {
    case DataType::float32:
      return addition != nullptr ? write_rows<AddFloat32>(tables, task, addition)
                                 : write_rows<RoundToFloat32>(tables, task, addition);
    case DataType::float16: return write_rows<RoundToFloat16>(tables, task, nullptr);
    case DataType::bfloat16: return write_rows<RoundToBFloat16>(tables, task, nullptr);
    case DataType::float64: return write_rows64(tables, task);
  }
}

}  // namespace
}  // namespace posenc::simd
