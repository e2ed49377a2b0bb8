// rotation: out = x * scale + encoding in float32, without materialising the table.
//
// Method  the rounded values of a tile are added to the input before they are stored
// Error   the bits of encode(), then a multiplication, then an addition: each operation rounds
// Range   every position up to max_position; x may be the output
// Cost    a load, a product and a sum a vector; a copy of the input while entries are checked
#pragma once

#include "posenc/simd/rotation/tile-inl.h"

namespace posenc::simd {
namespace {

/// Prefetches the input of the next run while this run computes: one line a call, row after row.
/// (Hardware does not predict the order of the tiles, which read a line or two of every row.)
class LinesAhead {
 public:
  LinesAhead(const Run& run, const Segment<float>& segment, const Addition& addition)
      : at_(segment.out + addition.distance + run.next_row * run.upwards()),
        lines_((segment.count + cache_line_floats - 1) / cache_line_floats),
        to_next_row_(run.upwards() - lines_ * cache_line_floats),
        in_row_(lines_),
        rows_(run.next_rows) {}

  void fetch() {
    if (rows_ <= 0) return;
    __builtin_prefetch(at_, 0, 2);
    at_ += cache_line_floats;
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

/// Replaces the sums of a tile by those with the corrected encoding, given the input.
template <std::int64_t vectors>
[[gnu::noinline]] void correct_sums(const ColumnMap& map, const Run& run, const Addition& addition,
                                    std::int64_t column, const float* input, float* out) {
  constexpr std::int64_t columns = vectors * float_lanes;
  float encoding[run_rows * columns];
  const Run buffered = run.with_stride(columns);
  const PlainTiles<RoundToFloat32, vectors, false> tiles = {map, buffered};
  tiles.write(column, encoding);
  tiles.correct(column, columns, encoding);
  for (std::int64_t row = 0; row < run.rows; ++row) {
    for (std::int64_t i = 0; i < columns; ++i) {
      out[row * run.stride + i] =
          input[row * columns + i] * addition.scale + encoding[row * columns + i];
    }
  }
}

/// The tiles of a run, added to an input. `kept` holds a copy of the input of a tile until every
/// entry is known to be certain, because the sums may overwrite the input.
template <class Round, std::int64_t vectors, bool non_temporal>
struct SumTiles {
  static constexpr std::int64_t columns = vectors * float_lanes;

  const ColumnMap& map;
  const Run& run;
  const Addition& addition;
  float* kept;
  LinesAhead ahead;

  /// True if every entry is certain.
  [[gnu::always_inline]] bool write(std::int64_t column, float* out) {
    constexpr std::int64_t lines = (columns + cache_line_floats - 1) / cache_line_floats;
    Tile<Round, vectors> tile(run, column);
    typename Round::RoundingMargin least = Round::largest_margin();
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
    return !xsimd::any(Round::is_uncertain(least, tile.threshold));
  }

  void correct(std::int64_t column, std::int64_t, float* out) const {
    correct_sums<vectors>(map, run, addition, column, kept, out);
  }

  static void write_row(const F64* row, F32 threshold, typename Round::RoundingMargin& least,
                        const Addition& addition, float* out, float* keep) {
    for (std::int64_t i = 0; i < vectors; ++i) {
      const F32 value = Round::round(row[2 * i], row[2 * i + 1], threshold, least);
      const F32 x = load(out + addition.distance + i * float_lanes);
      x.store_unaligned(keep + i * float_lanes);
      store_vector<non_temporal>(x * F32(addition.scale) + value, out + i * float_lanes);
    }
  }
};

/// Adds the whole tiles of a segment. Returns the number of columns written.
template <class Round, std::int64_t vectors, bool non_temporal>
inline std::int64_t add_tiles(const ColumnMap& map, const Run& run, const Segment<float>& segment,
                              const Addition& addition) {
  float kept[run_rows * vectors * float_lanes];
  return write_tiles(SumTiles<Round, vectors, non_temporal>{map, run, addition, kept,
                                                            LinesAhead(run, segment, addition)},
                     segment);
}

}  // namespace
}  // namespace posenc::simd
