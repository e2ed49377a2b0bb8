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

/// Prefetches the input of the next run while this run computes, row after row.
/// (Hardware does not predict the order of the tiles, which read a line or two of every row.)
class LinesAhead {
 public:
  LinesAhead(const Run& run, const Segment<float>& segment, const Addition* addition)
      : at_(segment.out + addition->distance + run.next_row * run.upwards()),
        lines_((segment.count + cache_line_floats - 1) / cache_line_floats),
        to_next_row_(run.upwards() - lines_ * cache_line_floats),
        in_row_(lines_),
        rows_(run.next_rows) {}

  void fetch(std::int64_t lines) {
    for (; lines > 0 && rows_ > 0; --lines) {
      __builtin_prefetch(at_, 0, 2);
      at_ += cache_line_floats;
      if (--in_row_ > 0) continue;
      at_ += to_next_row_;
      in_row_ = lines_;
      --rows_;
    }
  }

 private:
  const float* at_;
  std::int64_t lines_;
  std::ptrdiff_t to_next_row_;
  std::int64_t in_row_, rows_;
};

/// Tiles that are added to an input. `kept` holds a copy of the input of a tile until every entry
/// is known to be certain, because the sums may overwrite the input.
template <class Round, std::int64_t vectors, bool non_temporal>
struct SumTiles {
  using Element = float;
  static constexpr std::int64_t columns = vectors * float_lanes;

  const ColumnMap& map;
  const Run& run;
  const Addition& addition;
  float* kept;  ///< run_rows * columns floats
  LinesAhead ahead;

  [[gnu::always_inline]] bool write(std::int64_t column, float* out) {
    Tile<Round, vectors> tile(run, column);
    const std::ptrdiff_t stride = run.stride, distance = addition.distance;  // in registers
    const F32 scale(addition.scale);
    float* keep = kept;
    tile.for_each_row(
        run.rows, [&](const F64* values) __attribute__((always_inline)) {
          ahead.fetch((columns + cache_line_floats - 1) / cache_line_floats);
          for (std::int64_t i = 0; i < vectors; ++i) {
            const F32 x = load(out + distance + i * float_lanes);
            x.store_unaligned(keep + i * float_lanes);
            store_vector<non_temporal>(x * scale + tile.round(values, i), out + i * float_lanes);
          }
          out += stride;
          keep += columns;
        });
    return tile.is_certain();
  }

  /// Computes the sums again, with the corrected encoding.
  [[gnu::noinline]] void correct(std::int64_t column, std::int64_t, float* out) const {
    float encoding[run_rows * columns];
    const Run buffered = run.with_stride(columns);
    const PlainTiles<RoundToFloat32, vectors, false> tiles = {map, buffered};
    tiles.write(column, encoding);
    tiles.correct(column, columns, encoding);
    for (std::int64_t row = 0; row < run.rows; ++row) {
      for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i)
        out[row * (run.stride - columns) + i] = kept[i] * addition.scale + encoding[i];
    }
  }
};

}  // namespace
}  // namespace posenc::simd
