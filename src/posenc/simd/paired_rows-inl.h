// The rows of aligned blocks, in pairs around the centre of their block: for rotation to 16-bit
// types and for rotation32.
//
// Method  panels of columns, groups of blocks, then tiles: pairs of rows in a few vectors
// Error   none: the tiles are the caller's
// Range   every output; blocks begin at multiples of their length: a row depends on its position
// Cost    that of the tiles; rows that begin inside a cache line go through a buffer (stores-inl.h)
//
// The rows of a block, of which H = paired_block_rows / 2 are above its centre:
//
//   row 2 H - 1     centre + (H - 1/2) w     j = H - 1
//   ...                                      ...
//   row H           centre + w / 2           j = 0
//                   centre
//   row H - 1       centre - w / 2           j = 0
//   ...                                      ...
//   row 0           centre - (H - 1/2) w     j = H - 1
#pragma once

#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// Frequencies of a panel, and columns of the widest.
constexpr std::int64_t narrow_panel = 64, wide_panel = 512;
constexpr std::int64_t most_paired_columns = 2 * wide_panel;

/// Writes consecutive columns of the rows of a block. Tiles has
///   Element        the type of the elements
///   wide, narrow   the numbers of vectors that its tiles may have
///   staged_pairs   pairs of the widest rows that are computed before they are stored
///                  non-temporally
///   write_tile<vectors, above, below, lines>(column, j, rows, upper, lower, stride)
///                  writes the rows above the centre, below it, or both: those of j + 1/2, and the
///                  next ones away from the centre. With `lines`, non-temporally
///   collect_uncertain<above, below, lines>(column, j, upper, lower, stride)
///                  is called after some tiles that share upper, lower and stride, with the column
///                  and j of the first of them
///   write_uncertain()  corrects the entries in memory, before they are copied
template <class Tiles>
struct PairedRows {
  using T = typename Tiles::Element;
  static constexpr std::int64_t step = Tiles::narrow * float_lanes;

  Tiles& tiles;
  std::int64_t count;  ///< columns
  T* out;              ///< in the first row to write

  /// Stores the rows of j_begin to j_end - 1, at most `at_once` of them before the next columns.
  /// With `lines`, tiles store non-temporally; rows begin at cache lines.
  template <bool above, bool below, bool lines>
  void store_side(std::int64_t j_begin, std::int64_t j_end, std::int64_t at_once, T* upper,
                  T* lower, std::ptrdiff_t stride) const {
    constexpr std::int64_t wide = Tiles::wide, narrow = Tiles::narrow;
    const auto collect = [&, upper, lower] {
      tiles.template collect_uncertain<above, below, lines>(0, j_begin, upper, lower, stride);
    };
    for (std::int64_t j = j_begin; j < j_end; j += at_once) {
      const std::int64_t rows = j_end - j < at_once ? j_end - j : at_once;
      std::int64_t done = 0;
      for (; done + wide * float_lanes <= count; done += wide * float_lanes) {
        tiles.template write_tile<wide, above, below, lines>(done, j, rows, upper + done,
                                                             lower + done, stride);
      }
      if (wide != narrow && done + step <= count) {
        tiles.template write_tile<narrow, above, below, lines>(done, j, rows, upper + done,
                                                               lower + done, stride);
        done += step;
      }
      if (done < count) collect();
      for (std::int64_t row = 0; done < count && row < rows; ++row) {
        T last_upper[step], last_lower[step];
        tiles.template write_tile<narrow, above, below, false>(done, j + row, 1, last_upper,
                                                               last_lower, 0);
        tiles.template collect_uncertain<above, below, false>(done, j + row, last_upper, last_lower,
                                                              0);
        tiles.write_uncertain();
        for (std::int64_t i = 0; done + i < count; ++i) {
          if constexpr (above) upper[row * stride + done + i] = last_upper[i];
          if constexpr (below) lower[done + i - row * stride] = last_lower[i];
        }
      }
      upper += rows * stride;
      lower -= rows * stride;
    }
    collect();
  }

  /// The same by way of buffers, and non-temporally: as many pairs of rows after the others as a
  /// buffer holds.
  template <bool above, bool below>
  void stage_side(std::int64_t j_begin, std::int64_t j_end, std::int64_t at_once, T* upper,
                  T* lower, std::ptrdiff_t stride) const {
    using Row = StagedRow<T>;
    // Known to the compiler if there is one pair: the loops are faster by a tenth then.
    constexpr bool single = Tiles::staged_pairs == 1;
    constexpr std::int64_t capacity = Tiles::staged_pairs * most_paired_columns;
    const std::int64_t in_buffer = single ? 0 : (count + Row::line - 1) / Row::line * Row::line;
    const std::int64_t most = single ? 1 : capacity / in_buffer;
    StagingBuffer<T, capacity> upper_buffer, lower_buffer;
    for (std::int64_t j = j_begin; j < j_end; ++j) {
      const std::int64_t row = (j - j_begin) * stride;
      if constexpr (above) Row{nullptr, upper + row}.prefetch_ends(count);
      if constexpr (below) Row{nullptr, lower - row}.prefetch_ends(count);
    }
    for (std::int64_t j = j_begin; j < j_end; j += most) {
      const std::int64_t pairs = single || j_end - j > most ? most : j_end - j;
      T* const from_upper = upper_buffer.place_for(upper);
      // Rows below the centre descend.
      T* const from_lower = lower_buffer.place_for(lower) + (pairs - 1) * in_buffer;
      store_side<above, below, false>(j, j + pairs, single ? 1 : at_once, from_upper, from_lower,
                                      in_buffer);
      tiles.write_uncertain();
      for (std::int64_t row = 0; row < pairs; ++row) {
        if constexpr (above)
          Row{from_upper + row * in_buffer, upper + row * stride}.store(0, count);
        if constexpr (below)
          Row{from_lower - row * in_buffer, lower - row * stride}.store(0, count);
      }
      upper += pairs * stride;
      lower -= pairs * stride;
    }
  }

  template <bool above, bool below>
  void write_side(std::int64_t j_begin, std::int64_t j_end, std::int64_t at_once, T* upper,
                  T* lower, std::ptrdiff_t stride, bool non_temporal) const {
    if (!non_temporal)
      return store_side<above, below, false>(j_begin, j_end, at_once, upper, lower, stride);
    if (reinterpret_cast<std::uintptr_t>(out) % cache_line_bytes == 0 &&
        is_stride_of<T>(cache_line_bytes, stride)) {
      // Shorter vectors fill a line one after another, so that it goes to memory as a whole.
      return store_side<above, below, true>(j_begin, j_end, has_line_vectors ? at_once : 1, upper,
                                            lower, stride);
    }
    stage_side<above, below>(j_begin, j_end, at_once, upper, lower, stride);
  }

  /// Writes rows n to end - 1 of the block: non-temporally, or `pairs` pairs of rows at a time if
  /// these are all.
  void write(std::int64_t n, std::int64_t end, std::int64_t pairs, std::ptrdiff_t stride,
             bool non_temporal) const {
    constexpr std::int64_t half = paired_block_rows / 2;
    if (end - n == paired_block_rows) {
      return write_side<true, true>(0, half, pairs, out + half * stride, out + (half - 1) * stride,
                                    stride, non_temporal);
    }
    if (n < half) {
      const std::int64_t last = (end < half ? end : half) - 1;
      write_side<false, true>(half - 1 - last, half - n, half, out, out + (last - n) * stride,
                              stride, non_temporal);
    }
    if (end > half) {
      const std::int64_t first = n < half ? half : n;
      write_side<true, false>(first - half, end - half, half, out + (first - n) * stride, out,
                              stride, non_temporal);
    }
  }
};

/// Writes the rows of a task in panels of columns, a group of blocks before the next panel. Panel
/// has
///   Element, Tables   the types of the elements, and of the constants that it is made from
///   most_frequencies  of a panel
///   start(begin, used, task)  begins with the first block of a task, whose rows are of one group,
///                     for the frequencies begin .. begin + used - 1
///   write_block(n, end, pairs, out, task)
///                     writes rows n to end - 1 of a block, `pairs` pairs of rows at a time, to the
///                     row at `out`; the next call is for the next block
template <class Panel>
void write_paired_panels(const typename Panel::Tables& tables, std::int64_t pairs,
                         const RowTask& task) {
  constexpr std::int64_t group_rows = grouped_blocks * paired_block_rows;
  constexpr std::int64_t most = Panel::most_frequencies;
  Panel panel(tables);
  for (std::int64_t row = 0; row < task.count;) {
    const std::int64_t left = task.count - row,
                       in_group = group_rows - (task.first + row) % group_rows;
    const RowTask group = task.part(row, row + (left < in_group ? left : in_group));
    for (std::int64_t begin = 0; begin < tables.frequencies; begin += most) {
      const std::int64_t rest = tables.frequencies - begin;
      panel.start(begin, rest < most ? rest : most, group);
      for (std::int64_t done = 0; done < group.count;) {
        const std::int64_t n = (group.first + done) % paired_block_rows;
        const std::int64_t end =
            group.count - done < paired_block_rows - n ? n + group.count - done : paired_block_rows;
        panel.write_block(n, end, pairs, group.row<typename Panel::Element>(done), group);
        done += end - n;
      }
    }
    row += group.count;
  }
}

/// The angles of a narrow panel take 8 KiB and stay in L1. Narrow panels write 8 rows at a time, or
/// 4 if the rows are whole pages apart, because these compete for the same sets of a cache. Wide
/// panels alternate between two rows, in long rows that prefetchers follow.
template <class Narrow, class Wide>
void write_paired_rows(const typename Wide::Tables& tables, const RowTask& task) {
  const bool at_pages = is_stride_of<typename Wide::Element>(page_bytes, task.stride);
  const bool wide = task.non_temporal || tables.narrow_panels == NarrowPanels::never ||
                    (at_pages && tables.narrow_panels == NarrowPanels::except_at_pages);
  if (wide) {
    write_paired_panels<Wide>(tables, Wide::pairs_in_wide_panels, task);
  } else {
    write_paired_panels<Narrow>(tables, at_pages ? 2 : 4, task);
  }
  if (task.non_temporal) fence();
}

}  // namespace
}  // namespace posenc::simd
