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
  void fetch() {}
};

/// The rows of a run in a segment.
template <class Round>
class StagedSegment {
 public:
  using Element = typename Round::Element;

  StagedSegment(const ColumnMap& map, const Run& run, const Segment<Element>& segment,
                const Addition* addition)
      : map_(map),
        run_(run),
        segment_(segment),
        addition_(addition),
        ahead_(ahead_of(run, segment, addition)),
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
  using Ahead = std::conditional_t<Round::adds, LinesAhead, NoLinesAhead>;

  static Ahead ahead_of(const Run& run, const Segment<Element>& segment, const Addition* addition) {
    if constexpr (Round::adds) {
      return {run, segment, *addition};
    } else {
      return {};
    }
  }

  /// 1024 bytes of a row: with 512, short bursts of stores cost a tenth; with 2048, the buffer of a
  /// run leaves no room for the panel in a cache of 32 KiB.
  static constexpr std::int64_t most_columns = 1024 / static_cast<std::int64_t>(sizeof(Element));
  /// A row's buffer: the line before the columns, the columns, and a line for what a last vector
  /// that is not full writes behind them.
  static constexpr std::int64_t stride = Row::line + most_columns + Row::line;

  /// Tiles that are written to the buffer while the input of the next run is prefetched.
  template <std::int64_t vectors>
  struct Tiles : PlainTiles<Round, vectors, false> {
    Ahead& ahead;

    [[gnu::always_inline]] bool write(std::int64_t column, Element* out) const {
      const bool is_certain = PlainTiles<Round, vectors, false>::write(column, out);
      for (std::int64_t i = 0; i < this->run.rows; ++i) ahead.fetch();
      return is_certain;
    }
  };

  void compute(std::int64_t begin, std::int64_t end) {
    const Run staged = run_.with_stride(stride);
    const Segment<Element> part = {segment_.begin + begin, end - begin, buffer_ + Row::line};
    const std::int64_t done = write_tiles(Tiles<cached_vectors>{{map_, staged}, ahead_}, part);
    write_tiles<true>(Tiles<1>{{map_, staged}, ahead_}, part.after(done));
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
