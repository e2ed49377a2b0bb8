// rotation: the rows of a run by way of a buffer in the L1 cache, for tables beyond the caches
// whose rows do not begin at cache lines or are whole pages apart.
//
// Method. Tiles write to the buffer, some columns of all rows of the run, and each of its rows goes
// to memory at once (stores-inl.h). The cache line that crosses two buffers is kept until it is
// whole. out = x * scale + encoding reads its input in the same order.
//
// Error bound, valid range and source: those of rotation (see recurrence-inl.h). Each operation of
// an addition rounds: the bits are those of encode(), then a multiplication, then an addition.
#pragma once

#include "posenc/simd/rotation/addition-inl.h"
#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// In place of LinesAhead, if no input is read.
template <class Element>
struct NoLinesAhead {
  NoLinesAhead(const Run&, const Segment<Element>&, const Addition*) {}
  void fetch() {}
};

/// The rows of a run in a segment of columns.
template <class Round>
class StagedRun {
 public:
  using Element = typename Round::Element;

  StagedRun(const ColumnMap& map, const Run& run, const Segment<Element>& segment,
            const Addition* addition)
      : map_(map),
        run_(run),
        segment_(segment),
        addition_(addition),
        ahead_(run, segment, addition),
        buffer_(memory_.place_for(segment.out)) {}

  void write() {
    for (std::int64_t n = 0; n < run_.rows; ++n)
      Row{nullptr, segment_.out + n * run_.stride}.prefetch_ends(segment_.count);
    for (std::int64_t begin = 0; begin < segment_.count; begin += most_columns) {
      const std::int64_t left = segment_.count - begin;
      const std::int64_t end = left < most_columns ? segment_.count : begin + most_columns;
      compute(begin, end);
      store(begin, end);
    }
  }

 private:
  using Row = StagedRow<Element, Round::adds>;
  using Ahead = std::conditional_t<Round::adds, LinesAhead, NoLinesAhead<Element>>;

  /// 1024 bytes of a row: with 512, short bursts of stores cost a tenth; with 2048, the buffer of a
  /// run leaves no room for the panel in a cache of 32 KiB.
  static constexpr std::int64_t most_columns = 1024 / static_cast<std::int64_t>(sizeof(Element));
  /// A row's buffer: the line before the columns, the columns, and a line for what a last vector
  /// that is not full writes behind them.
  static constexpr std::int64_t stride = Row::line + most_columns + Row::line;

  template <std::int64_t vectors>
  [[gnu::always_inline]] void compute_tile(const Run& staged, std::int64_t begin,
                                           std::int64_t column, std::int64_t columns) {
    write_correct_tile<Round, vectors, false>(map_, staged, segment_.begin + column, columns,
                                              buffer_ + Row::line + column - begin, stride);
    for (std::int64_t i = 0; i < run_.rows; ++i) ahead_.fetch();
  }

  void compute(std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t wide = cached_vectors * float_lanes;
    Run staged = run_;
    staged.stride = stride;
    std::int64_t column = begin;
    for (; column + wide <= end; column += wide)
      compute_tile<cached_vectors>(staged, begin, column, wide);
    for (; column < end; column += float_lanes) {
      const std::int64_t left = end - column;
      compute_tile<1>(staged, begin, column, left < float_lanes ? left : float_lanes);
    }
  }

  void store(std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = 0; n < run_.rows; ++n) {
      store_part<Round::adds>(buffer_ + n * stride, begin, end, segment_.count,
                              segment_.out + n * run_.stride, addition_);
    }
  }

  const ColumnMap& map_;
  const Run& run_;
  const Segment<Element> segment_;
  const Addition* addition_;
  Ahead ahead_;
  StagingBuffer<Element, run_rows * stride> memory_;
  Element* const buffer_;
};

}  // namespace
}  // namespace posenc::simd
