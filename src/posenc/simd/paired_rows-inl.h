// Writes the rows of aligned blocks in pairs around their centre: rotation to 16-bit types,
// rotation32.
//
// Method  panels of columns, groups of blocks, then tiles: pairs of rows in a few vectors
// Error   none beyond the error of the caller's tiles
// Range   every output; blocks begin at multiples of their length: a row depends on its position
// Cost    the cost of the tiles; rows that begin inside a cache line go through a buffer
//         (stores-inl.h)
//
// Pair j of a block consists of the rows (j + 1/2) w above and below its centre. A partial block
// has rows without a partner. Rows above the centre add the terms that rows below it subtract. A
// kernel that changes the signs of these terms treats rows below the centre as rows above it.
// Therefore there is one loop for pairs, and one for rows without a partner.
#pragma once

#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// Frequencies of a narrow and of a wide panel, and columns of the widest panel.
constexpr std::int64_t narrow_panel = 64, wide_panel = 512;
constexpr std::int64_t most_paired_columns = 2 * wide_panel;

/// Changes the signs of values where `sign` is `minus`, and keeps them where it is 0.
constexpr std::int32_t minus = std::numeric_limits<std::int32_t>::min();
inline F32 with_sign(F32 value, I32 sign) { return cast_bits<F32>(cast_bits<I32>(value) ^ sign); }

/// Some consecutive rows of a block.
struct BlockRows {
  static constexpr std::int64_t half = paired_block_rows / 2;

  std::int64_t below;  ///< rows from the first one to the centre; negative if they begin above it
  bool is_turned;      ///< true if rows without a partner are below the centre
  std::int64_t pairs;  ///< pairs next to the centre
  std::int64_t singles_begin, singles_end;  ///< the range of j of the rows without a partner

  /// Rows `begin` to `end` - 1 of the block.
  BlockRows(std::int64_t begin, std::int64_t end) : below(half - begin) {
    const std::int64_t above = end - half, fewer = smaller(above, below);
    is_turned = below > above;
    pairs = fewer > 0 ? fewer : 0;
    singles_begin = fewer > 0 ? fewer : -fewer;
    singles_end = is_turned ? below : above;
  }
};

/// The places of successive pairs of rows, or only of their first rows. First rows are `stride`
/// elements apart. Second rows are as far apart in the other direction.
template <class T, bool paired>
struct RowPairs {
  T* first;
  T* second;  ///< not used unless paired
  std::int64_t stride;

  /// The places from pair n on, starting at a column.
  [[gnu::always_inline]] RowPairs at(std::int64_t n, std::int64_t column) const {
    T* const other = paired ? second - n * stride + column : nullptr;
    return {first + n * stride + column, other, stride};
  }
};

/// Writes consecutive columns of the rows of a block, one tile at a time. Tiles have
///   wide, narrow           vectors of a tile, and of the last tile of a row
///   wide_pairs             pairs that are written before the next columns, in wide panels
///   staged_pairs           pairs of the widest rows that a buffer holds
///   write_tile             writes the pairs from j on, by lines or not. First rows are above the
///                          centre, or have no partner
///   collect_uncertain      called after some tiles, with the places of the first tile
///   write_uncertain        corrects the rows that tiles wrote, before they are copied
template <class Tiles>
class PairedRows {
 public:
  using T = typename Tiles::Element;

  PairedRows(const Tiles& tiles, std::int64_t columns) : tiles_(tiles), columns_(columns) {}

  /// Writes rows of a block, starting at `out`, `at_once` pairs at a time. Pairs are stored by
  /// `method`, and rows without a partner by plain stores.
  void write(const BlockRows& rows, std::int64_t at_once, T* out, std::int64_t stride,
             StoreMethod method) const {
    T* const above = out + rows.below * stride;
    T* const below = above - stride;
    if (rows.pairs > 0) {
      // The last columns of several rows are faster together. Partial blocks are few, and more than
      // half a block at once would compete for the sets of a cache.
      const bool is_whole =
          rows.pairs == BlockRows::half && columns_ >= Tiles::narrow * float_lanes;
      const std::int64_t some = is_whole ? at_once : BlockRows::half / 2;
      write_pairs(rows.pairs, some, {above, below, stride}, method);
    }
    const RowPairs<T, false> singles = {rows.is_turned ? below : above, nullptr,
                                        rows.is_turned ? -stride : stride};
    if (rows.singles_begin < rows.singles_end)
      store<false>(rows.singles_begin, rows.singles_end, BlockRows::half,
                   singles.at(rows.singles_begin, 0));
  }

 private:
  /// Stores the pairs j = begin .. end - 1, or only their first rows. `at_once` pairs are stored
  /// before the next columns. With `lines`, tiles store non-temporally, and rows begin at cache
  /// lines. The places are passed in registers: GCC copies a RowPairs as vectors, which misses
  /// store forwarding.
  template <bool lines, bool paired, class Number>
  [[gnu::noinline]] void store_rows(std::int64_t begin, std::int64_t end, Number at_once, T* first,
                                    T* second, std::int64_t stride) const {
    constexpr std::int64_t wide = Tiles::wide * float_lanes, narrow = Tiles::narrow * float_lanes;
    const Tiles tiles = tiles_;  // in registers
    const std::int64_t columns = columns_;
    const RowPairs<T, paired> to = {first, second, stride};
    RowPairs<T, paired> next = to;
    for (std::int64_t j = begin; j < end; j += at_once) {
      const std::int64_t rows = smaller(end - j, at_once);
      std::int64_t done = 0;
      for (; done + wide <= columns; done += wide)
        tiles.template write_tile<Tiles::wide, lines>(done, j, rows, next.at(0, done));
      if (wide != narrow && done + narrow <= columns)
        tiles.template write_tile<Tiles::narrow, lines>(done, j, rows, next.at(0, done));
      if (columns % narrow != 0) {
        tiles.template collect_uncertain<lines>(0, begin, to);
        store_last_columns(j, rows, next);
      }
      next = next.at(rows, 0);
    }
    tiles.template collect_uncertain<lines>(0, begin, to);
  }

  template <bool lines, bool paired, class Number>
  [[gnu::always_inline]] void store(std::int64_t begin, std::int64_t end, Number at_once,
                                    const RowPairs<T, paired>& to) const {
    store_rows<lines, paired>(begin, end, at_once, to.first, to.second, to.stride);
  }

  /// Stores the columns that do not fill a tile.
  template <bool paired>
  [[gnu::noinline]] void store_last_columns(std::int64_t begin, std::int64_t rows,
                                            RowPairs<T, paired> to) const {
    constexpr std::int64_t narrow = Tiles::narrow * float_lanes;
    T last[paired ? 2 : 1][BlockRows::half][narrow];
    const RowPairs<T, paired> from = {last[0][0], paired ? last[paired][rows - 1] : nullptr,
                                      narrow};
    const std::int64_t done = columns_ / narrow * narrow;
    tiles_.template write_tile<Tiles::narrow, false>(done, begin, rows, from);
    tiles_.template collect_uncertain<false>(done, begin, from);
    tiles_.write_uncertain();
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto copied = from.at(row, 0), out = to.at(row, done);
      copy(copied.first, columns_ - done, out.first);
      if constexpr (paired) copy(copied.second, columns_ - done, out.second);
    }
  }

  /// A count that the compiler knows, which makes the loops faster by a tenth to a third.
  template <std::int64_t count>
  using Known = std::integral_constant<std::int64_t, count>;

  void write_pairs(std::int64_t count, std::int64_t at_once, const RowPairs<T, true>& to,
                   StoreMethod method) const {
    if (method == StoreMethod::plain) {
      if (at_once == Tiles::wide_pairs)
        return store<false>(0, count, Known<Tiles::wide_pairs>(), to);
      return store<false>(0, count, at_once, to);
    }
    if (method == StoreMethod::staged) return stage_pairs(count, to);
    // If vectors are shorter than a line, they fill it one after another, so that it goes to memory
    // as a whole.
    constexpr std::int64_t in_lines = has_line_vectors ? Tiles::wide_pairs : 1;
    store<true>(0, count, Known<in_lines>(), to);
  }

  /// Stores pairs of rows through buffers, as many at a time as a buffer holds.
  [[gnu::noinline]] void stage_pairs(std::int64_t count, const RowPairs<T, true>& to) const {
    using Row = StagedRow<T>;
    constexpr std::int64_t capacity = Tiles::staged_pairs * most_paired_columns;
    const std::int64_t in_buffer = rounded_up(columns_, Row::line);
    const std::int64_t most = capacity / in_buffer;
    StagingBuffer<T, capacity> first_buffer, second_buffer;
    for (std::int64_t j = 0; j < count; ++j) {
      Row{nullptr, to.at(j, 0).first}.prefetch_ends(columns_);
      Row{nullptr, to.at(j, 0).second}.prefetch_ends(columns_);
    }
    for (std::int64_t j = 0; j < count; j += most) {
      const std::int64_t pairs = smaller(count - j, most);
      const RowPairs<T, true> out = to.at(j, 0);
      // The second rows are stored backwards.
      const RowPairs<T, true> staged = {
          first_buffer.place_for(out.first),
          second_buffer.place_for(out.second) + (pairs - 1) * in_buffer, in_buffer};
      store<false>(j, j + pairs, Known<Tiles::wide_pairs>(), staged);
      tiles_.write_uncertain();
      for (std::int64_t row = 0; row < pairs; ++row) {
        Row{staged.at(row, 0).first, out.at(row, 0).first}.store(0, columns_);
        Row{staged.at(row, 0).second, out.at(row, 0).second}.store(0, columns_);
      }
    }
  }

  const Tiles tiles_;
  std::int64_t columns_;
};

/// Writes the rows of a task in panels of columns. Each panel writes a group of blocks before the
/// next panel begins. The angles of a narrow panel take 8 KiB and stay in L1. Narrow panels write 8
/// rows at a time, or 4 if the rows are whole pages apart, because such rows compete for the same
/// sets of a cache. Wide panels alternate between two rows, and write long rows that prefetchers
/// follow. A Panel holds some frequencies of a table, and has
///   start        begins with the first block of a task, whose rows are of one group, for the
///                frequencies begin .. begin + used - 1
///   next_block   continues with the next block
///   tiles        returns the block's tiles. If they are not interleaved, are_cosines selects the
///                cosines. Rows without a partner are below the centre if are_below
template <class Panel>
void write_paired_rows(const typename Panel::Tables& tables, const RowTask& task) {
  using T = typename Panel::Tiles::Element;
  const bool is_narrow = task.stores.narrow_panels;
  const std::int64_t most_frequencies = is_narrow ? narrow_panel : wide_panel,
                     narrow_pairs = task.stores.at_pages ? 2 : 4,
                     at_once = is_narrow ? narrow_pairs : Panel::Tiles::wide_pairs;
  constexpr std::int64_t group_rows = grouped_blocks * paired_block_rows;
  const Columns& columns = tables.columns;
  Panel panel(tables);
  for (std::int64_t row = 0; row < task.count;) {
    const std::int64_t in_group = group_rows - (task.first + row) % group_rows;
    const RowTask group = task.part(row, smaller(row + in_group, task.count));
    for (std::int64_t begin = 0; begin < tables.frequencies; begin += most_frequencies) {
      const std::int64_t used = smaller(tables.frequencies - begin, most_frequencies);
      panel.start(begin, used, group);
      for (std::int64_t done = 0; done < group.count;) {
        const std::int64_t n = (group.first + done) % paired_block_rows,
                           end = smaller(n + group.count - done, paired_block_rows);
        const BlockRows rows(n, end);
        if (done > 0) panel.next_block();
        const auto write = [&](bool are_cosines, std::int64_t count, std::int64_t column) {
          PairedRows(panel.tiles(are_cosines, rows.is_turned), count)
              .write(rows, at_once, group.row<T>(done) + column, task.stride, task.stores.method);
        };
        if constexpr (Panel::is_interleaved) {
          write(false, 2 * used, columns.sine + 2 * begin);
        } else {
          write(false, used, columns.sine + begin);
          write(true, used, columns.cosine + begin);
        }
        done += end - n;
      }
    }
    row += group.count;
  }
  finish(task.stores);
}

}  // namespace
}  // namespace posenc::simd
