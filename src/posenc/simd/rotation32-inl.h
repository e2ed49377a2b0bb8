// rotation32: symmetric angle addition in float32 for every entry. This is the fastest tier.
//
// Method. The rows of block b lie around its centre, position block_rows32 (b + 1/2) - 1/2. Rows
// j + 1/2 above and below the centre share the products of an angle addition:
//   sin(centre +- a) = sin(centre) cos(a) +- u,  u = cos(centre) sin(a),  a = (j + 1/2) w
//   cos(centre +- a) = cos(centre) cos(a) +- u,  u = -sin(centre) sin(a)
// The sines and cosines of a centre come from its integer phase (see centres32-inl.h), those of the
// angles a from a table that is computed when planning. Blocks begin at multiples of their length,
// so that a row is a function of its position alone. Position 0 is exact.
//
// Error bound (Rotation32Error in error_bounds.h): sqrt(2) times the error of a centre's sine or
// cosine and that of a table entry, which is rounded to 2^-25, and the roundings of u, of the sum,
// and without fused operations of the other product. Half an ulp of a 16-bit type more.
//
// Valid range: every position up to max_position; every type but float64.
//
// Cost: three operations for two vectors of floats, and those that keep them within [-1, 1]: two,
// or four if an ISA has no single instruction for it. Only tables in L1 take longer for them.
//
// Source: the angle addition theorems.
#pragma once

#include "posenc/simd/columns32-inl.h"

namespace posenc::simd {
namespace {

/// Writes the rows of a task, which are of one group of blocks, in the columns of a panel: `pairs`
/// pairs of rows at a time.
template <class T, bool interleaved, class Panel>
void write_panel32(const Rotation32Tables& tables, Panel& panel, PanelRange range,
                   std::int64_t used, std::int64_t pairs, const RowTask& task) {
  using Columns = Columns32<T, interleaved>;
  set_phases(panel, tables, range, task.first / block_rows32);
  for (std::int64_t row = 0; row < task.count;) {
    set_centre<interleaved>(panel, tables, range);
    const std::int64_t n = (task.first + row) % block_rows32;
    const std::int64_t left = task.count - row;
    const std::int64_t end = left < block_rows32 - n ? n + left : block_rows32;
    T* const out = task.row<T>(row);
    if constexpr (interleaved) {
      const Columns columns = {panel.value,          panel.turned, tables.angles + 2 * range.begin,
                               tables.angles_stride, 2 * used,     out + 2 * range.begin};
      columns.write(n, end, pairs, task.stride, task.non_temporal);
    } else {
      const auto columns = [&](std::int64_t in_panel, std::int64_t column) {
        return Columns{panel.value + in_panel,
                       panel.turned + in_panel,
                       tables.angles + range.begin,
                       tables.angles_stride,
                       used,
                       out + column + range.begin};
      };
      columns(0, tables.columns.sine).write(n, end, pairs, task.stride, task.non_temporal);
      columns(Panel::most_frequencies, tables.columns.cosine)
          .write(n, end, pairs, task.stride, task.non_temporal);
    }
    row += end - n;
  }
}

/// Writes the rows of a task in panels of `most` frequencies, a group of blocks before the next
/// panel.
template <class T, bool interleaved, std::int64_t most>
void write_panels32(const Rotation32Tables& tables, std::int64_t pairs, const RowTask& task) {
  constexpr std::int64_t group_rows = anchored_blocks32 * block_rows32;
  static_assert(most % step32 == 0 && 2 * most <= most_panel_columns32);
  Panel32<most> panel;
  for (std::int64_t row = 0; row < task.count;) {
    const std::int64_t left = task.count - row,
                       in_group = group_rows - (task.first + row) % group_rows;
    const std::int64_t end = row + (left < in_group ? left : in_group);
    for (std::int64_t begin = 0; begin < tables.frequencies; begin += most) {
      const std::int64_t rest = tables.frequencies - begin;
      const std::int64_t used = rest < most ? rest : most;
      const PanelRange range = {begin, (used + step32 - 1) / step32 * step32};
      write_panel32<T, interleaved>(tables, panel, range, used, pairs, task.part(row, end));
    }
    row = end;
  }
}

/// The angles of a narrow panel take 8 KiB and stay in L1. Narrow panels write 8 rows at a time, or
/// 4 if the rows are whole pages apart, because these compete for the same sets of a cache. Wide
/// panels alternate between two rows, in long runs that prefetchers follow.
template <class T, bool interleaved>
void write_all32(const Rotation32Tables& tables, const RowTask& task) {
  if (task.non_temporal || !tables.narrow_panels) {
    return write_panels32<T, interleaved, 512>(tables, 1, task);
  }
  constexpr std::int64_t page = 4096;
  const bool at_pages = task.stride * static_cast<std::int64_t>(sizeof(T)) % page == 0;
  write_panels32<T, interleaved, 64>(tables, at_pages ? 2 : 4, task);
}

/// Writes the row of position 0, which the sums above only come close to: its sines are 0, and its
/// cosines 1.
template <class T>
void write_origin(const Rotation32Tables& tables, T* row) {
  T zeros[step32], ones[step32];
  store32<T>(F32(0.0f), F32(0.0f), zeros);
  store32<T>(F32(1.0f), F32(1.0f), ones);
  const std::int64_t to_next = tables.columns.interleaved ? 2 : 1;
  for (std::int64_t k = 0; k < tables.frequencies; ++k) {
    row[tables.columns.sine + k * to_next] = zeros[0];
    row[tables.columns.cosine + k * to_next] = ones[0];
  }
}

template <class T>
inline void write_rows32(const Rotation32Tables& tables, const RowTask& task) {
  tables.columns.interleaved ? write_all32<T, true>(tables, task)
                             : write_all32<T, false>(tables, task);
  if (task.non_temporal) fence();
  if (task.first == 0) write_origin(tables, task.row<T>(0));
}

void rotation32_kernel(const Rotation32Tables& tables, const RowTask& task) noexcept {
  switch (task.type) {
    case DataType::float16: return write_rows32<Float16>(tables, task);
    case DataType::bfloat16: return write_rows32<BFloat16>(tables, task);
    default: return write_rows32<float>(tables, task);
  }
}

}  // namespace
}  // namespace posenc::simd
