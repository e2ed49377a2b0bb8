// rotation: tables of sines and cosines, correctly rounded to every type.
//
// Method  angle addition in double: few rows are anchors, a recurrence gives the rows between them
// Error   half an ulp: entries whose double is too near a midpoint are recomputed in integers
// Range   every position up to max_position (position 0 is written by the backend)
// Cost    one operation per vector of doubles, and the rounding (rounding-inl.h)
//
// This file writes float32. rotation_to_16_bits-inl.h and rotation_to_float64-inl.h write the other
// types. docs/how-it-works.md draws and defines anchor, block, run, panel, segment and tile.
//
// Sines and cosines of phase + n w obey v_(n+1) = 2 cos(w) v_n - v_(n-1). This takes one fused
// operation per value in every layout, because each lane of a vector is a column.
//
// For the error before rounding, see RotationError in error_bounds.h, which docs/how-it-works.md
// derives. M bounds a column in the block: min(1, last position times w) for a sine, and 1 for a
// cosine.
//
// Source: the three-term recurrence of Chebyshev polynomials.
#pragma once

#include "posenc/simd/rotation/anchored-inl.h"
#include "posenc/simd/rotation/rotation_to_16_bits-inl.h"
#include "posenc/simd/rotation/rotation_to_float64-inl.h"
#include "posenc/simd/rotation/segment-inl.h"

namespace posenc::simd {
namespace {

/// Stores float_lanes frequencies, deinterleaved: in the order of the row, or sines before cosines.
template <bool interleaved>
inline void store_columns(const F64 (&sine)[2], const F64 (&cosine)[2], double* columns,
                          std::int64_t size, std::int64_t k) {
  const auto store = [](Both<F64> deinterleaved, double* to) {
    deinterleaved.first.store_unaligned(to);
    deinterleaved.second.store_unaligned(to + double_lanes);
  };
  if constexpr (interleaved) {
    store(deinterleave_pairs(sine[0], cosine[0]), columns + 2 * k);
    store(deinterleave_pairs(sine[1], cosine[1]), columns + 2 * k + float_lanes);
  } else {
    store(deinterleave(sine[0], sine[1]), columns + k);
    store(deinterleave(cosine[0], cosine[1]), columns + size + k);
  }
}

template <bool interleaved>
inline void fill_constants(Panel& panel, const ColumnMap& map) {
  const RotationTables& tables = map.tables;
  const std::int64_t begin = map.first_frequency, size = map.panel_size;
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    const F64 cos_row[2] = {load(tables.row.cosine + begin + k),
                            load(tables.row.cosine + begin + k + double_lanes)};
    const F64 multiplier[2] = {cos_row[0] + cos_row[0], cos_row[1] + cos_row[1]};
    store_columns<interleaved>(multiplier, multiplier, panel.multiplier, size, k);
    const F32 slope = load(tables.radians + begin + k);
    const F32 one(1.0f);
    if constexpr (interleaved) {
      const Both<F32> pairs = interleave(slope, one);
      pairs.first.store_unaligned(panel.slope + 2 * k);
      pairs.second.store_unaligned(panel.slope + 2 * k + float_lanes);
    } else {
      slope.store_unaligned(panel.slope + k);
      one.store_unaligned(panel.slope + size + k);
    }
  }
}

/// Computes the middle row of a block and the row after it from the panel's sines and cosines.
template <bool interleaved>
inline void fill_start(Panel& panel, const ColumnMap& map) {
  const RotationTables& tables = map.tables;
  const std::int64_t begin = map.first_frequency, size = map.panel_size;
  for (std::int64_t k = 0; k < size; k += float_lanes) {
    F64 s[2], c[2], next_s[2], next_c[2];
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::int64_t at = k + i * double_lanes;
      const F64 cos_row = load(tables.row.cosine + begin + at),
                sin_row = load(tables.row.sine + begin + at);
      s[i] = load(panel.sine + at);
      c[i] = load(panel.cosine + at);
      next_s[i] = fused(s[i], cos_row, c[i] * sin_row);
      next_c[i] = fused_minus(c[i], cos_row, s[i] * sin_row);
    }
    store_columns<interleaved>(s, c, panel.middle, size, k);
    store_columns<interleaved>(next_s, next_c, panel.next, size, k);
  }
}

/// Writes the rows of a block that starts at row `row` of the task. The panel is at row `middle` of
/// it.
template <class Round, bool interleaved>
inline void write_block(const ColumnMap& map, const Panel& panel, const RowTask& task,
                        const Addition* addition, std::int64_t row, std::int64_t middle,
                        std::int64_t rows) {
  const std::int64_t position = task.first + row;
  const auto write = [&](const Run& run) {
    map.for_each_segment<interleaved>(
        task.row<typename Round::Element>(run.first - task.first), [&](const auto& segment) {
          write_segment<Round>(map, run, segment, task.stores, addition);
        });
  };
  const std::int64_t upper = rows - middle - 1;
  const std::int64_t last = position + rows;
  write({.panel = panel,
         .row = panel.middle,
         .before = panel.next,
         .first = position + middle,
         .direction = -1,
         .rows = middle + 1,
         .last_position = last,
         .stride = -task.stride,
         .next_row = 1,
         .next_rows = upper});
  if (upper == 0) return;
  write({.panel = panel,
         .row = panel.next,
         .before = panel.middle,
         .first = position + middle + 1,
         .direction = 1,
         .rows = upper,
         .last_position = last,
         .stride = task.stride,
         .next_row = upper,
         .next_rows = smaller(task.count - row - rows, run_rows)});
}

/// Writes the panel's columns in all rows.
template <class Round, bool interleaved>
inline void write_panel(const ColumnMap& map, const RowTask& task, const Addition* addition) {
  const RotationTables& tables = map.tables;
  const std::int64_t begin = map.first_frequency, size = map.panel_size;
  Panel panel;
  fill_constants<interleaved>(panel, map);
  for (std::int64_t row = 0, block = 0; row < task.count; row += block_rows, ++block) {
    const std::int64_t rows = smaller(task.count - row, block_rows);
    // A short last block has its anchor in its last row, and has one run.
    const bool is_short = rows <= run_rows;
    const std::int64_t middle = is_short ? rows - 1 : run_rows - 1;
    if (block % anchored_blocks == 0 || is_short) {
      set_anchors(tables, begin, map.used, size, task.first + row + middle, Round::value_scale,
                  panel.sine, panel.cosine);
    } else {
      rotate(tables.block.from(begin), size, panel.sine, panel.cosine);
    }
    fill_start<interleaved>(panel, map);
    write_block<Round, interleaved>(map, panel, task, addition, row, middle, rows);
  }
}

template <class Round>
inline void write_rows(const RotationTables& tables, const RowTask& task,
                       const Addition* addition) {
  const auto write =
      tables.columns.interleaved ? write_panel<Round, true> : write_panel<Round, false>;
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += panel_frequencies) {
    const std::int64_t used = smaller(tables.frequencies - begin, panel_frequencies);
    write(ColumnMap(tables, begin, used), task, addition);
  }
  finish(task.stores);
}

/// See Kernels::rotation. Files that only test the parts above do not use it.
[[maybe_unused]] void rotation_kernel(const RotationTables& tables, const RowTask& task,
                                      const Addition* addition) noexcept {
  switch (task.type) {
    case DataType::float32:
      if (addition != nullptr) return write_rows<AddFloat32>(tables, task, addition);
      if (task.count == 1) return write_row_of_anchors<RoundToFloat32>(tables, task);
      return write_rows<RoundToFloat32>(tables, task, nullptr);
    case DataType::float16: return rotation_to_16_bits<Float16>(tables, task);
    case DataType::bfloat16: return rotation_to_16_bits<BFloat16>(tables, task);
    case DataType::float64: return rotation_to_float64(tables, task);
  }
}

}  // namespace
}  // namespace posenc::simd
