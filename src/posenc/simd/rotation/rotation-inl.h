// rotation: angle addition from exactly reduced anchors, in double, rounded once and correctly to
// float32 and 16-bit types. rotation_to_float64-inl.h writes float64.
//
//   recurrence-inl.h  computes the values of a block of rows; method, error bound and valid range
//   rounding-inl.h    rounds values to elements, and finds the uncertain ones; cost
//   tile-inl.h        rounds and stores the rows of a tile
//   correction-inl.h  recomputes the uncertain ones
//   addition-inl.h    adds elements to an input
//   staged_segment-inl.h  writes rows by way of a buffer, where tiles cannot store lines well
//
// This file divides a table into panels of columns, whose constants stay in the first-level cache.
// It divides a panel into blocks of rows, a block into its two runs, and a run into tiles of
// columns.
#pragma once

#include "posenc/simd/rotation/rotation_to_16_bits-inl.h"
#include "posenc/simd/rotation/rotation_to_float64-inl.h"
#include "posenc/simd/rotation/staged_segment-inl.h"

namespace posenc::simd {
namespace {

/// True if tiles may store whole lines non-temporally, one a row. Where a line takes several
/// stores, they would be slow if rows are whole pages apart. Sums, which also load a line, are slow
/// from half pages on (0.6 of the speed).
template <bool adds, class Element>
inline bool allows_lines(const Run& run, const Segment<Element>& segment) {
  constexpr std::ptrdiff_t slow_distance = adds ? page_bytes / 2 : page_bytes;
  return reinterpret_cast<std::uintptr_t>(segment.out) % cache_line_bytes == 0 &&
         is_stride_of<Element>(cache_line_bytes, run.stride) &&
         (has_line_vectors || !is_stride_of<Element>(slow_distance, run.stride));
}

/// Writes the whole tiles of a segment. Returns the number of columns written.
template <class Round>
inline std::int64_t write_whole_tiles(const ColumnMap& map, const Run& run,
                                      const Segment<typename Round::Element>& segment,
                                      bool non_temporal, const Addition* addition) {
  constexpr std::int64_t line = non_temporal_vectors<Round>;
  if constexpr (Round::adds) {
    // Two cache lines of each row if the registers hold them: up to 1.2 times as fast as one.
    constexpr std::int64_t wide = line > cached_vectors ? line : cached_vectors;
    return non_temporal ? add_tiles<Round, wide, true>(map, run, segment, addition)
                        : add_tiles<Round, cached_vectors, false>(map, run, segment, addition);
  } else {
    if (non_temporal) return write_tiles<Round, line, true>(map, run, segment);
    return !Round::checks || is_stride_of<typename Round::Element>(page_bytes, run.stride)
               ? write_tiles<Round, widest_vectors, false>(map, run, segment)
               : write_tiles<Round, cached_vectors, false>(map, run, segment);
  }
}

/// Writes the last columns of a segment, which do not fill a tile: whole vectors are computed, and
/// the columns of the row are copied.
template <class Round>
inline void write_edge(const ColumnMap& map, const Run& run,
                       const Segment<typename Round::Element>& segment, std::int64_t done,
                       const Addition* addition) {
  constexpr std::int64_t edge_stride = 2 * float_lanes;
  typename Round::Element edge[run_rows * edge_stride];
  for (; done < segment.count; done += float_lanes) {
    const std::int64_t left = segment.count - done;
    const std::int64_t columns = left < float_lanes ? left : float_lanes;
    write_correct_tile<Round, 1, false>(map, run, segment.begin + done, columns, edge, edge_stride);
    for (std::int64_t row = 0; row < run.rows; ++row) {
      auto* const out = segment.out + done + row * run.stride;
      const auto* const from = edge + row * edge_stride;
      if constexpr (Round::adds) {
        const StagedRow<float, true> sums = {from, out, addition};
        for (std::int64_t i = 0; i < columns; ++i) sums.store_one(i);
      } else if (columns == float_lanes) {
        std::memcpy(out, from, float_lanes * sizeof *out);
      } else {
        std::memcpy(out, from, static_cast<std::size_t>(columns) * sizeof *out);
      }
    }
  }
}

/// Writes the rows of a run in a segment of columns.
template <class Round>
inline void write_segment(const ColumnMap& map, const Run& run,
                          const Segment<typename Round::Element>& segment, bool non_temporal,
                          const Addition* addition) {
  if (non_temporal && !allows_lines<Round::adds>(run, segment))
    return StagedRun<Round>(map, run, segment, addition).write();
  const std::int64_t done = write_whole_tiles<Round>(map, run, segment, non_temporal, addition);
  write_edge<Round>(map, run, segment, done, addition);
}

/// Calls write(segment) for each run of consecutive columns that the panel has in a row.
template <bool interleaved, class Element, class Write>
inline void for_each_segment(const Columns& columns, std::int64_t begin, std::int64_t used,
                             std::int64_t size, Element* out, const Write& write) {
  if constexpr (interleaved) {
    write(Segment<Element>{0, 2 * used, out + columns.sine + 2 * begin});
  } else {
    write(Segment<Element>{0, used, out + columns.sine + begin});
    write(Segment<Element>{size, used, out + columns.cosine + begin});
  }
}

/// Sines and cosines at one position, by frequency.
struct Anchors {
  double sine[panel_frequencies];
  double cosine[panel_frequencies];

  /// The values of float_lanes columns of a panel, deinterleaved.
  template <bool interleaved>
  Both<F64> columns(const ColumnMap& map, std::int64_t column) const {
    if constexpr (interleaved) {
      return deinterleave_pairs(load(sine + column / 2), load(cosine + column / 2));
    } else {
      const double* const from =
          column < map.panel_size ? sine + column : cosine + (column - map.panel_size);
      return deinterleave(load(from), load(from + double_lanes));
    }
  }
};

/// Writes the columns of a single row, which are anchors and need no recurrence.
template <class Round, bool interleaved>
inline void write_anchors(const ColumnMap& map, const Anchors& anchors,
                          const Segment<typename Round::Element>& segment, std::int64_t position) {
  constexpr std::int64_t vectors = 2, step = vectors * float_lanes;
  const auto threshold = Round::threshold(F32(anchor_error_in_units / error_in_units));
  for (std::int64_t done = 0; done < segment.count; done += step) {
    const std::int64_t column = segment.begin + done;
    const std::int64_t columns = segment.count - done < step ? segment.count - done : step;
    typename Round::Element edge[step];
    typename Round::Element* const out = columns == step ? segment.out + done : edge;
    typename Round::Value rounded[vectors];
    typename Round::RoundingMargin margin[vectors];
    for (std::int64_t i = 0; i < vectors; ++i) {
      margin[i] = Round::largest_margin();
      const Both<F64> values = anchors.columns<interleaved>(map, column + i * float_lanes);
      rounded[i] = Round::round(values.first, values.second, threshold, margin[i]);
    }
    Round::template store<false>(rounded, out);
    for (std::int64_t i = 0; i < vectors; ++i) {
      const auto uncertain = Round::is_uncertain(margin[i], threshold);
      const std::int64_t left = columns - i * float_lanes;
      if (left <= 0 || !xsimd::any(uncertain)) continue;
      bool flags[float_lanes];
      uncertain.store_unaligned(flags);
      correct_vector<Round>(map, column + i * float_lanes, left < float_lanes ? left : float_lanes,
                            position, flags, out + i * float_lanes);
    }
    if (columns == step) continue;
    for (std::int64_t i = 0; i < columns; ++i) segment.out[done + i] = edge[i];
  }
}

/// Writes one row of the frequencies begin .. begin + used - 1.
template <class Round, bool interleaved>
inline void write_single_row(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                             const RowTask& task) {
  const std::int64_t size = padded_size(used);
  Anchors anchors;
  set_anchors(tables, begin, used, size, task.first, Round::value_scale, anchors.sine,
              anchors.cosine);
  auto* const out = task.row<typename Round::Element>(0);
  for_each_segment<interleaved>(tables.columns, begin, used, size, out, [&](const auto& segment) {
    write_anchors<Round, interleaved>({tables, begin, size}, anchors, segment, task.first);
  });
}

/// Writes the rows of a block, which starts at row `row` of the task, from its panel, which holds
/// its row `middle`.
template <class Round, bool interleaved>
inline void write_block(const ColumnMap& map, const Panel& panel, std::int64_t used,
                        const RowTask& task, const Addition* addition, std::int64_t row,
                        std::int64_t middle, std::int64_t rows) {
  const std::int64_t position = task.first + row;
  const auto write = [&](const Run& run) {
    auto* const out = task.row<typename Round::Element>(run.first - task.first);
    for_each_segment<interleaved>(map.tables.columns, map.first_frequency, used, map.panel_size,
                                  out, [&](const auto& segment) {
                                    write_segment<Round>(map, run, segment, task.non_temporal,
                                                         addition);
                                  });
  };
  const std::int64_t upper = rows - middle - 1, left = task.count - row - rows;
  // With two error bounds, M must also bound the values of any other block that holds these rows.
  // Such a block ends within block_rows of this one.
  const std::int64_t last = position + rows + (map.tables.error_bounds > 1 ? block_rows : 0);
  write({panel, panel.middle, panel.next, position + middle, -1, middle + 1, last, -task.stride, 1,
         upper});
  if (upper == 0) return;
  write({panel, panel.next, panel.middle, position + middle + 1, 1, upper, last, task.stride, upper,
         left < run_rows ? left : run_rows});
}

/// Writes all rows of the frequencies begin .. begin + used - 1.
template <class Round, bool interleaved>
inline void write_panel(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                        const RowTask& task, const Addition* addition) {
  const std::int64_t size = padded_size(used);
  const ColumnMap map{tables, begin, size};
  Panel panel;
  fill_constants<interleaved>(panel, tables, begin, size);
  for (std::int64_t row = 0, block = 0; row < task.count; row += block_rows, ++block) {
    const std::int64_t rows = task.count - row < block_rows ? task.count - row : block_rows;
    // A short last block has an anchor at its own last row, and one run. Other blocks rotate the
    // middle row of the block before.
    const bool is_short = rows <= run_rows;
    const std::int64_t middle = is_short ? rows - 1 : run_rows - 1;
    if (block % anchored_blocks == 0 || is_short) {
      set_anchors(tables, begin, used, size, task.first + row + middle, Round::value_scale,
                  panel.sine, panel.cosine);
    } else {
      rotate(tables, begin, size, panel.sine, panel.cosine);
    }
    fill_start<interleaved>(panel, tables, begin, size);
    write_block<Round, interleaved>(map, panel, used, task, addition, row, middle, rows);
  }
}

/// Calls write<Round, interleaved>(tables, begin, used, ...) for each panel of a table.
template <class Write>
inline void for_each_panel(const RotationTables& tables, const RowTask& task, const Write& write) {
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += panel_frequencies) {
    const std::int64_t left = tables.frequencies - begin;
    write(begin, left < panel_frequencies ? left : panel_frequencies);
  }
  if (task.non_temporal) fence();
}

template <class Round>
inline void write_rows(const RotationTables& tables, const RowTask& task,
                       const Addition* addition) {
  const auto write =
      tables.columns.interleaved ? write_panel<Round, true> : write_panel<Round, false>;
  for_each_panel(tables, task, [&](std::int64_t begin, std::int64_t used) {
    write(tables, begin, used, task, addition);
  });
}

template <class Round>
inline void write_row_of_anchors(const RotationTables& tables, const RowTask& task) {
  const auto write =
      tables.columns.interleaved ? write_single_row<Round, true> : write_single_row<Round, false>;
  for_each_panel(tables, task,
                 [&](std::int64_t begin, std::int64_t used) { write(tables, begin, used, task); });
}

void write_float32(const RotationTables& tables, const RowTask& task, const Addition* addition) {
  const bool checks = tables.error_bounds > 0;
  if (addition != nullptr) {
    return checks ? write_rows<AddFloat32>(tables, task, addition)
                  : write_rows<RoundUnchecked<AddFloat32>>(tables, task, addition);
  }
  if (task.count == 1 && tables.error_bounds == 1)
    return write_row_of_anchors<RoundToFloat32>(tables, task);
  checks ? write_rows<RoundToFloat32>(tables, task, nullptr)
         : write_rows<RoundUnchecked<RoundToFloat32>>(tables, task, nullptr);
}

template <class T>
void write_16_bits(const RotationTables& tables, const RowTask& task) {
  if (task.count == 1 && tables.error_bounds == 1)
    return write_row_of_anchors<typename RoundFloat32<T>::Round>(tables, task);
  tables.error_bounds > 0 ? write_rows16<T, true>(tables, task)
                          : write_rows16<T, false>(tables, task);
}

/// See RotationKernel. A file that only tests the parts above does not use it.
[[maybe_unused]] void rotation_kernel(const RotationTables& tables, const RowTask& task,
                                      const Addition* addition) noexcept {
  switch (task.type) {
    case DataType::float32: return write_float32(tables, task, addition);
    case DataType::float16: return write_16_bits<Float16>(tables, task);
    case DataType::bfloat16: return write_16_bits<BFloat16>(tables, task);
    case DataType::float64: return write_rows64(tables, task);
  }
}

}  // namespace
}  // namespace posenc::simd
