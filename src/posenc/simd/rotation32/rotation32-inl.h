// rotation32: symmetric angle addition in float32 for every entry. This is the fastest tier.
//
// Method. The rows of block b lie around its centre, position block_rows32 (b + 1/2) - 1/2. Rows
// j + 1/2 above and below the centre share the products of an angle addition:
//   sin(centre +- a) = sin(centre) cos(a) +- u,  u = cos(centre) sin(a),  a = (j + 1/2) w
//   cos(centre +- a) = cos(centre) cos(a) +- u,  u = -sin(centre) sin(a)
// The sines and cosines of a centre come from its integer phase (see centres-inl.h), those of the
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

#include "posenc/simd/rotation32/columns32-inl.h"

namespace posenc::simd {
namespace {

/// Some frequencies of a table (see write_paired_panels()).
template <class T, bool interleaved, std::int64_t most>
class PanelOf32 {
 public:
  using Element = T;
  using Tables = Rotation32Tables;
  static constexpr std::int64_t most_frequencies = most, pairs_in_wide_panels = 1;

  explicit PanelOf32(const Tables& tables) : tables_(tables) {}

  void start(std::int64_t begin, std::int64_t used, const RowTask& task) {
    static_assert(most % step32 == 0);
    used_ = used;
    range_ = {begin, (used + step32 - 1) / step32 * step32};
    set_phases(panel_, tables_, range_, task.first / block_rows32);
  }

  void write_block(std::int64_t n, std::int64_t end, std::int64_t pairs, T* out,
                   const RowTask& task) {
    set_centre<interleaved>(panel_, tables_, range_);
    const auto write = [&](std::int64_t in_panel, std::int64_t angles, std::int64_t count, T* to) {
      using Columns = Columns32<T, interleaved>;
      const Columns columns = {panel_.value + in_panel, panel_.turned + in_panel,
                               tables_.angles + angles, tables_.angles_stride};
      PairedRows<const Columns>{columns, count, to}.write(n, end, pairs, task.stride,
                                                          task.non_temporal);
    };
    const std::int64_t begin = range_.begin;
    if constexpr (interleaved) {
      write(0, 2 * begin, 2 * used_, out + 2 * begin);
    } else {
      write(0, begin, used_, out + tables_.columns.sine + begin);
      write(most, begin, used_, out + tables_.columns.cosine + begin);
    }
  }

 private:
  const Tables& tables_;
  Panel32<most> panel_;
  PanelRange range_;
  std::int64_t used_;
};

template <class T, bool interleaved>
struct PanelsOf32 {
  template <std::int64_t most>
  using Panel = PanelOf32<T, interleaved, most>;
};

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
  tables.columns.interleaved
      ? write_paired_rows<PanelsOf32<T, true>::template Panel>(tables, task)
      : write_paired_rows<PanelsOf32<T, false>::template Panel>(tables, task);
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
