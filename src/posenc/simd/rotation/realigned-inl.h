// rotation: writes a segment whose rows begin within cache lines, if a vector is a cache line
// (AVX-512).
//
// Method  each line is joined from two successive vectors of a row, and stored non-temporally
// Error   none beyond the error of the tile
// Range   every output of float32; the store plan selects this method for long rows
// Cost    a permutation per vector; a load and a store per tile and row; incomplete lines at the
//         ends of a row
//
// Example: vectors and lines of 8 floats (AVX-512 has 16), and a row of 24 columns that begins at
// lane 3 of a line.
//
//     lines    |- - - - L0 ----|------ L1 -----|------ L2 -----|- L3 - - - - - |
//     vectors        |------ v0 -----|------ v1 -----|------ v2 -----|
//     columns        0         5     8         13    16        21    24
//
// Each vector completes one line: v0 completes L0, v1 completes L1, and v2 completes L2. A line
// such as L1 consists of the last lanes of v0 and the first lanes of v1. L0 and L3 also hold memory
// outside the row, so only their lanes within the row are stored. No vector completes L3: it is
// stored last, from the rest of v2.
//
// A tile is a few vectors wide and writes all rows of a run. The last vector of each of its rows
// stays in memory (RowEnds), where the next tile finds the vector before its first vector.
#pragma once

#include "posenc/simd/rotation/tile-inl.h"
#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// The last vector of each row of a run.
using RowEnds = float[run_rows * float_lanes];

/// The lines of a segment's row. If `at_edge`, the row may begin or end within a line.
template <bool at_edge>
struct RealignedRow {
  float* out;         ///< column 0
  std::int64_t end;   ///< number of columns
  std::int64_t lane;  ///< lane of column 0 in its line

  RealignedRow(float* to, std::int64_t columns)
      : out(to),
        end(columns),
        lane(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float)) %
             float_lanes) {}

  /// Stores the line that the vector at `column` completes, given the vector before it.
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

/// The tiles of a segment, which are written from the first one on.
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
    const std::int64_t stride = run.stride;
    float* out = segment.out;
    float* ended = ends;
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

  /// Corrects the entries in memory and the entries of the last vector, which is stored again.
  void correct(std::int64_t column, std::int64_t used, float* out) const {
    constexpr std::int64_t before_last = columns - float_lanes;
    correct_tile<Round, vectors>(map, run, column, used, out);
    if (used > before_last) {
      correct_tile<Round, 1>(map, run.with_stride(float_lanes), column + before_last,
                             used - before_last, ends);
    }
  }
};

/// True if the ISA and the rounding support realigned lines.
template <class Round>
constexpr bool can_realign =
    has_line_vectors && !Round::adds && std::is_same_v<typename Round::Element, float>;

/// Writes a segment of a run in realigned lines.
template <class Round>
inline void write_realigned(const ColumnMap& map, const Run& run, const Segment<float>& segment) {
  using Row = StagedRow<float>;
  alignas(cache_line_bytes) RowEnds ends = {};
  for (std::int64_t n = 0; n < run.rows; ++n)
    Row{nullptr, segment.out + n * run.stride}.prefetch_ends(segment.count);
  constexpr std::int64_t wide = cached_vectors, step = wide * float_lanes;
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    return Segment<float>{segment.begin + begin, end - begin, segment.out + begin};
  };
  const RealignedTiles<Round, wide, true> first = {map, run, segment, ends};
  const RealignedTiles<Round, wide, false> inner = {map, run, segment, ends};
  const RealignedTiles<Round, 1, true> last = {map, run, segment, ends};
  const std::int64_t whole = segment.count / step * step;
  if (whole > 0) write_tiles(first, part(0, step));
  write_tiles(inner, part(step, whole));
  write_tiles<true>(last, part(whole, segment.count));
  // No vector completes the last line of a row (L3 in the example).
  const std::int64_t written = rounded_up(segment.count, float_lanes);
  for (std::int64_t n = 0; n < run.rows; ++n) {
    const auto end = load(ends + n * float_lanes);
    RealignedRow<true>(segment.out + n * run.stride, segment.count).store(end, end, written);
  }
}

}  // namespace
}  // namespace posenc::simd
