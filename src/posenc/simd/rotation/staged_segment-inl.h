// rotation: the rows of a run by way of a buffer in the L1 cache, for tables beyond the caches
// whose rows do not begin at cache lines or are whole pages apart.
//
// Method  tiles write some columns of all rows to the buffer; each row then goes to memory at once
// Error   none: out = x * scale + encoding, too, is rounded as by other tiles
// Range   every output of floats
// Cost    one load and one store a vector, and the incomplete lines at the ends of a row
//
// The cache line that crosses two buffers is kept until it is whole (stores-inl.h). Storing one
// buffer between the tiles of another, so that both overlap, gained nothing: the loads, the stores
// and their loop take the time, not the wait for memory (Zen 5).
#pragma once

#include "posenc/simd/rotation/addition-inl.h"
#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// In place of LinesAhead, if no input is read.
struct NoLinesAhead {
  template <class... From>
  explicit NoLinesAhead(const From&...) {}
  void fetch(std::int64_t) {}
};

/// Writes a segment of a run.
template <class Round>
inline void write_staged(const ColumnMap& map, const Run& run,
                         const Segment<typename Round::Element>& segment,
                         const Addition* addition) {
  using Element = typename Round::Element;
  using Row = StagedRow<Element, Round::adds>;
  // 1024 bytes of a row: with 512, short bursts of stores cost a tenth; with 2048, the buffer of a
  // run leaves no room for the panel in a cache of 32 KiB.
  constexpr std::int64_t most_columns = 1024 / static_cast<std::int64_t>(sizeof(Element));
  // A row's buffer: the line before the columns, the columns, and a line for what a last vector
  // that is not full writes behind them.
  constexpr std::int64_t stride = Row::line + most_columns + Row::line;
  StagingBuffer<Element, run_rows * stride> memory;
  Element* const buffer = memory.place_for(segment.out);
  const Run staged = run.with_stride(stride);
  for (std::int64_t n = 0; n < run.rows; ++n)
    Row{nullptr, segment.out + n * run.stride}.prefetch_ends(segment.count);
  std::conditional_t<Round::adds, LinesAhead, NoLinesAhead> ahead(run, segment, addition);
  for (std::int64_t begin = 0; begin < segment.count; begin += most_columns) {
    const std::int64_t left = segment.count - begin,
                       end = left < most_columns ? segment.count : begin + most_columns;
    const Segment<Element> part = {segment.begin + begin, end - begin, buffer + Row::line};
    const std::int64_t done =
        write_tiles(PlainTiles<Round, cached_vectors, false>{map, staged}, part);
    write_tiles<true>(PlainTiles<Round, 1, false>{map, staged}, part.after(done));
    for (std::int64_t n = 0; n < run.rows; ++n) {
      ahead.fetch(most_columns / Row::line);
      Element* const kept = buffer + n * stride;  // the incomplete line of earlier columns
      const Row row = {kept + Row::line - begin, segment.out + n * run.stride, addition};
      const bool is_last = end == segment.count;
      row.store(begin == 0 ? 0 : row.whole_lines(begin), is_last ? end : row.whole_lines(end));
      if (!is_last) std::memcpy(kept, kept + end - begin, Row::line * sizeof(Element));
    }
  }
}

}  // namespace
}  // namespace posenc::simd
