// rotation: the rows of a run that do not begin at cache lines, for tables beyond the caches, if a
// vector is a cache line.
//
// Method  each line is joined from two successive vectors of a row, and stored non-temporally
// Error   none: values are rounded as by other tiles
// Range   every output of floats
// Cost    a permutation a vector; a load and a store a tile and row; incomplete lines at the ends
//
//   vectors of a row    |0 ... 15|16 ... 31|32 ... 47|     lane of column 0 in its line: 5
//   lines          |....0 ... 10|11 ... 26|27 ... 42|43 ... 47 .....|
#pragma once

#include "posenc/simd/rotation/tile-inl.h"
#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// The last vector of each row of a run. Some of its columns are not stored yet: their line also
/// takes columns of the next tile.
struct alignas(cache_line_bytes) RowEnds {
  float vector[run_rows * float_lanes];
};

/// The lines of a segment's row. `at_edge`: the row may begin or end within a line.
template <bool at_edge>
struct RealignedRow {
  float* out;         ///< column 0
  std::int64_t end;   ///< columns
  std::int64_t lane;  ///< of column 0 in its line

  RealignedRow(float* to, std::int64_t columns)
      : out(to),
        end(columns),
        lane(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float)) %
             float_lanes) {}

  /// Stores the line that ends within the vector at `column`, given the vector before it.
  template <class Vector>
  [[gnu::always_inline]] void store(Vector before, Vector vector, std::int64_t column) const {
    const Vector line = consecutive_lanes(before, vector, float_lanes - lane);
    const std::int64_t first = column - lane;
    if constexpr (at_edge) {
      if (first < 0 || first + float_lanes > end) {
        const std::int64_t begin = first < 0 ? -first : 0;
        if (first < end) store_lanes(line, out + first, begin, end - first);
        return;
      }
    }
    store_vector<true>(line, out + first);
  }
};

/// The tiles of a segment, from the first on.
template <class Round, std::int64_t vectors, bool at_edge>
struct RealignedTiles {
  using Element = float;
  static constexpr std::int64_t columns = vectors * float_lanes;

  const ColumnMap& map;
  const Run& run;
  const Segment<float>& segment;
  RowEnds& ends;

  [[gnu::always_inline]] bool write(std::int64_t column, float*) const {
    Tile<Round, vectors> tile(run, column);
    const std::int64_t done = column - segment.begin;
    const std::ptrdiff_t stride = run.stride;
    float* out = segment.out;
    float* ended = ends.vector;
    tile.for_each_row(
        run.rows, [&](const F64* values) __attribute__((always_inline)) {
          const RealignedRow<at_edge> lines(out, segment.count);
          auto before = load(ended);
          for (std::int64_t i = 0; i < vectors; ++i) {
            const auto value = tile.round(values, i);
            lines.store(before, value, done + i * float_lanes);
            before = value;
          }
          store_vector<false>(before, ended);
          out += stride;
          ended += float_lanes;
        });
    return tile.is_certain();
  }

  /// Corrects the entries in memory, and those of the last vector, which is stored again.
  void correct(std::int64_t column, std::int64_t used, float* out) const {
    constexpr std::int64_t before_last = columns - float_lanes;
    correct_tile<Round, vectors>(map, run, column, used, out);
    if (used > before_last) {
      correct_tile<Round, 1>(map, run.with_stride(float_lanes), column + before_last,
                             used - before_last, ends.vector);
    }
  }
};

/// True if the ISA and the rounding have realigned lines.
template <class Round>
constexpr bool can_realign =
    has_line_vectors && !Round::adds && std::is_same_v<typename Round::Element, float>;

/// Writes a segment of a run.
template <class Round>
inline void write_realigned(const ColumnMap& map, const Run& run, const Segment<float>& segment) {
  using Row = StagedRow<float>;
  RowEnds ends = {};
  for (std::int64_t n = 0; n < run.rows; ++n)
    Row{nullptr, segment.out + n * run.stride}.prefetch_ends(segment.count);
  constexpr std::int64_t wide = cached_vectors, step = wide * float_lanes;
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    return Segment<float>{segment.begin + begin, end - begin, segment.out + begin};
  };
  using First = RealignedTiles<Round, wide, true>;
  using Last = RealignedTiles<Round, 1, true>;
  const std::int64_t whole = segment.count / step * step;
  if (whole > 0) write_tiles(First{map, run, segment, ends}, part(0, step));
  write_tiles(RealignedTiles<Round, wide, false>{map, run, segment, ends}, part(step, whole));
  write_tiles<true>(Last{map, run, segment, ends}, part(whole, segment.count));
  const std::int64_t written = (segment.count + float_lanes - 1) / float_lanes * float_lanes;
  for (std::int64_t n = 0; n < run.rows; ++n) {
    const auto last = load(ends.vector + n * float_lanes);
    RealignedRow<true>(segment.out + n * run.stride, segment.count).store(last, last, written);
  }
}

}  // namespace
}  // namespace posenc::simd
