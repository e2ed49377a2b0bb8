// rotation: out = x * scale + encoding in float32, without materialising the table.
//
// Method. The rounded values of a tile are added to the input before they are stored. Each
// operation rounds: the bits are those of encode(), then a multiplication, then an addition.
//
// Error bound, valid range and source: those of rotation (see recurrence-inl.h).
#pragma once

#include "posenc/simd/rotation/correction-inl.h"

namespace posenc::simd {
namespace {

/// Prefetches the input of the next run while this run computes: one line a call, row after row.
/// (Hardware does not predict the order of the tiles, which read a line or two of every row.)
class LinesAhead {
 public:
  LinesAhead(const Run& run, const Segment<float>& segment, const Addition* addition)
      : at_(segment.out + addition->distance + run.next_row * run.upwards()),
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

/// A tile of sums. If entries are checked, it keeps a copy of the input until every entry is known
/// to be certain, because the sums may overwrite the input.
template <class Round, std::int64_t vectors, bool non_temporal>
struct SumTile {
  static constexpr std::int64_t columns = vectors * float_lanes;
  static constexpr std::int64_t lines = (columns + cache_line_floats - 1) / cache_line_floats;

  float kept[Round::checks ? run_rows * columns : columns];

  static void write_row(const F64* row, F32 threshold, typename Round::RoundingMargin& least,
                        const Addition* addition, float* out, [[maybe_unused]] float* keep) {
    for (std::int64_t i = 0; i < vectors; ++i) {
      const F32 value = Round::round(row[2 * i], row[2 * i + 1], threshold, least);
      const F32 x = load(out + addition->distance + i * float_lanes);
      if constexpr (Round::checks) x.store_unaligned(keep + i * float_lanes);
      const F32 sum[1] = {x * F32(addition->scale) + value};
      Round::template store<non_temporal>(sum, out + i * float_lanes);
    }
  }

  /// True if every entry is certain.
  bool write(const Run& run, std::int64_t column, const Addition* addition, float* out,
             LinesAhead& ahead) {
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
    if constexpr (Round::checks) return !xsimd::any(Round::is_uncertain(least, tile.threshold));
    return true;
  }

  /// Replaces the sums by those with the corrected encoding.
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

/// Adds the whole tiles of a segment. Returns the number of columns written.
template <class Round, std::int64_t vectors, bool non_temporal>
inline std::int64_t add_tiles(const ColumnMap& map, const Run& run, const Segment<float>& segment,
                              const Addition* addition) {
  SumTile<Round, vectors, non_temporal> sums;
  LinesAhead ahead(run, segment, addition);
  std::int64_t done = 0;
  for (; done + sums.columns <= segment.count; done += sums.columns) {
    const std::int64_t column = segment.begin + done;
    const bool is_certain = sums.write(run, column, addition, segment.out + done, ahead);
    if constexpr (Round::checks) {
      if (!is_certain) sums.correct(map, run, column, addition, segment.out + done);
    }
  }
  return done;
}

}  // namespace
}  // namespace posenc::simd
