// rotation: writes a segment of a run, as it is or added to an input.
//
// Method  store_plan.cpp chooses the method; each method has its tiles; the last columns go through
//         a buffer
// Error   none beyond the error of the tile: x * scale + encoding has the bits of separate
//         operations
// Range   every output; x may be the output
// Cost    one store per vector. A sum: a load, a product and a sum, and a copy of the input while
//         entries are checked. Staged: one load and one store more, and incomplete lines at the
//         ends of a row. Realigned: see realigned-inl.h
//
// Staged rows serve tables beyond the caches whose rows do not begin at cache lines or are whole
// pages apart. Tiles write some columns of all rows to a buffer in the L1 cache, and each row then
// goes to memory at once. The cache line that crosses two buffers is kept until it is whole.
#pragma once

#include "posenc/simd/rotation/realigned-inl.h"
#include "posenc/simd/rotation/tile-inl.h"
#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// Prefetches the input of the next run while this run computes, because hardware does not predict
/// tiles.
class LinesAhead {
 public:
  LinesAhead(const Run& run, const Segment<float>& segment, const Addition* addition)
      : at_(segment.out + addition->distance + run.next_row * run.upwards()),
        lines_(rounded_up(segment.count, cache_line_floats) / cache_line_floats),
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
  std::int64_t lines_, to_next_row_, in_row_, rows_;
};

/// Tiles that are added to an input. Sums may overwrite the input, so `kept` holds the input of a
/// tile until every entry is known to be certain.
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
    const std::int64_t stride = run.stride, distance = addition.distance;  // in registers
    const F32 scale(addition.scale);
    float* keep = kept;
    tile.for_each_row(
        run.rows, [&](const F64* values) __attribute__((always_inline)) {
          ahead.fetch(rounded_up(columns, cache_line_floats) / cache_line_floats);
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

/// Writes a segment of a run through a buffer.
template <class Round>
inline void write_staged(const ColumnMap& map, const Run& run,
                         const Segment<typename Round::Element>& segment,
                         const Addition* addition) {
  using Element = typename Round::Element;
  using Row = StagedRow<Element, Round::adds>;
  // 1024 bytes of a row: with 512, short bursts of stores cost a tenth. With 2048, the buffer of a
  // run leaves no room for the panel in a cache of 32 KiB.
  constexpr std::int64_t most_columns = 1024 / static_cast<std::int64_t>(sizeof(Element));
  // Room for the line before the columns, and for the columns that a last vector writes behind
  // them.
  constexpr std::int64_t stride = Row::line + most_columns + Row::line;
  StagingBuffer<Element, run_rows * stride> memory;
  Element* const buffer = memory.place_for(segment.out);
  const Run staged = run.with_stride(stride);
  for (std::int64_t n = 0; n < run.rows; ++n)
    Row{nullptr, segment.out + n * run.stride}.prefetch_ends(segment.count);
  std::optional<LinesAhead> ahead;
  if constexpr (Round::adds) ahead.emplace(run, segment, addition);
  for (std::int64_t begin = 0; begin < segment.count; begin += most_columns) {
    const std::int64_t end = smaller(segment.count, begin + most_columns);
    const Segment<Element> part = {segment.begin + begin, end - begin, buffer + Row::line};
    const std::int64_t done =
        write_tiles(PlainTiles<Round, cached_vectors, false>{map, staged}, part);
    write_tiles<true>(PlainTiles<Round, 1, false>{map, staged}, part.after(done));
    for (std::int64_t n = 0; n < run.rows; ++n) {
      if constexpr (Round::adds) ahead->fetch(most_columns / Row::line);
      Element* const kept = buffer + n * stride;  // the incomplete line of earlier columns
      const Row row = {kept + Row::line - begin, segment.out + n * run.stride, addition};
      const bool is_last = end == segment.count;
      row.store(begin == 0 ? 0 : row.whole_lines(begin), is_last ? end : row.whole_lines(end));
      if (!is_last) std::memcpy(kept, kept + end - begin, Row::line * sizeof(Element));
    }
  }
}

/// Writes the last columns of a segment, which do not fill a tile, through a buffer.
template <class Round>
inline void write_edge(const ColumnMap& map, const Run& run,
                       const Segment<typename Round::Element>& segment, const Addition* addition) {
  using Element = typename Round::Element;
  constexpr std::int64_t edge_stride = 2 * float_lanes;
  Element edge[run_rows * edge_stride];
  const Run buffered = run.with_stride(edge_stride);
  for (std::int64_t done = 0; done < segment.count; done += float_lanes) {
    const std::int64_t columns = smaller(segment.count - done, float_lanes);
    write_tiles<true>(PlainTiles<Round, 1, false>{map, buffered},
                      Segment<Element>{segment.begin + done, columns, edge});
    for (std::int64_t n = 0; n < run.rows; ++n) {
      const StagedRow<Element, Round::adds> row = {edge + n * edge_stride,
                                                   segment.out + done + n * run.stride, addition};
      if (!Round::adds && columns == float_lanes) {
        std::memcpy(row.out, row.from, float_lanes * sizeof(Element));
      } else {
        for (std::int64_t i = 0; i < columns; ++i) row.store_one(i);
      }
    }
  }
}

/// Writes a segment of a run: first its whole tiles as planned, and then the last columns.
template <class Round>
[[gnu::noinline]] inline void write_segment(const ColumnMap& map, const Run& run,
                                            const Segment<typename Round::Element>& segment,
                                            StorePlan stores, const Addition* addition) {
  if (stores.method == StoreMethod::staged) return write_staged<Round>(map, run, segment, addition);
  if constexpr (can_realign<Round>) {
    if (stores.method == StoreMethod::realigned) return write_realigned<Round>(map, run, segment);
  }
  const auto write_whole = [&]<std::int64_t vectors, bool lines>() {
    if constexpr (Round::adds) {
      float kept[run_rows * vectors * float_lanes];
      return write_tiles(
          SumTiles<Round, vectors, lines>{map, run, *addition, kept, {run, segment, addition}},
          segment);
    } else {
      return write_tiles(PlainTiles<Round, vectors, lines>{map, run}, segment);
    }
  };
  std::int64_t done = 0;
  if (stores.method == StoreMethod::lines) {
    done = write_whole.template operator()<non_temporal_vectors, true>();
  } else if (!Round::adds && widest_vectors != cached_vectors && stores.at_pages) {
    done = write_whole.template operator()<widest_vectors, false>();
  } else {
    done = write_whole.template operator()<cached_vectors, false>();
  }
  write_edge<Round>(map, run, segment.after(done), addition);
}

}  // namespace
}  // namespace posenc::simd
