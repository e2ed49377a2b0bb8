// How the rows of a table reach memory. The plan is made here, once per call, and kernels follow
// it.
#pragma once

#include "posenc/encode_options.h"
#include "posenc/simd/row_task.h"
#include "posenc/spec.h"

#include <cstdint>
#include <span>

namespace posenc::simd {

/// True if a table of `bytes` bytes is to be stored non-temporally. Plain stores first read each
/// cache line. Non-temporal stores do not, and reach the bandwidth of the memory.
bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept;

/// The order in which a kernel writes a table.
enum class Writer {
  tiles,    ///< a few columns of many rows in turn: rotation, float32
  sums,     ///< as tiles, but also reads the input that it adds to
  pairs,    ///< two rows at a time: rotation to 16-bit types, and rotation32
  doubles,  ///< two rows at a time, without a buffer: rotation to float64
};

/// The plan of a call. `non_temporal`: see is_non_temporal(). `float_lanes` are those of the ISA.
StorePlan plan_stores(const RowLayout& row, const RowTask& task, bool non_temporal, Writer writer,
                      std::int64_t float_lanes) noexcept;

/// The plan of sums (CombineTask). Uses lines if all `lengths`, of rows and between rows, are whole
/// lines.
StoreMethod plan_combined_rows(bool non_temporal, DataType type, const void* out,
                               std::span<const std::int64_t> lengths) noexcept;

}  // namespace posenc::simd
