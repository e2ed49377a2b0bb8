// The interface of the model's kernels: plain data, so that files of different ISAs share no inline
// function. Internal: not installed.
#pragma once

#include "posenc/data_type.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/row_task.h"

#include <cstdint>
#include <span>

namespace posenc::simd {

inline constexpr std::int64_t most_selected_parts = 16;
/// Rows that are longer than this are joined by plain stores.
inline constexpr std::int64_t most_joined_bytes = 8192;

/// Bytes of each row that are copied or selected from a row of a table.
struct JoinPart {
  const char* table;          ///< address of the first byte in row 0 of the table
  std::int64_t table_stride;  ///< bytes from one row of the table to the next
  const std::int64_t* index;  ///< for each row, the row of the table
  std::int64_t to;            ///< place of the first byte in a row
  std::int64_t bytes;         ///< even
  /// Null if the part is copied. Otherwise every part has a mask with the bits of each byte that
  /// are taken from it. All parts are then whole rows, and there are at most most_selected_parts.
  const char* mask;

  const char* row(std::int64_t r) const noexcept { return table + index[r] * table_stride; }
};

/// Writes rows. The parts cover all bytes of a row.
struct JoinTask {
  const JoinPart* parts;
  std::int64_t parts_count;
  std::int64_t rows;
  std::int64_t row_bytes;
  char* out;
  std::int64_t out_stride;     ///< bytes from one row to the next
  StoreMethod stores;          ///< plain or staged
  std::int64_t first_row = 0;  ///< the row whose parts go to the first row of `out`
};

/// Rotates the pairs of channels of heads in place: (a, b) -> (a cos - b sin, b cos + a sin). Pair
/// k of a head is (x[2k], x[2k + 1]) if interleaved, and (x[k], x[pairs + k]) otherwise.
struct RotateTask {
  const float* angles;         ///< cosines of the first head, then its sines
  std::int64_t angles_stride;  ///< floats from the angles of one head to the angles of the next
  std::int64_t pairs;
  void* x;              ///< the first head
  std::int64_t stride;  ///< elements from one head to the next
  std::int64_t count;   ///< heads
  DataType type;        ///< not float64
  bool interleaved;
  /// Distance from a head to the memory that is prefetched. 0 if nothing is prefetched.
  std::uintptr_t ahead_bytes = 0;
};

/// The model's kernels of one ISA.
struct ModelKernels {
  void (*join)(const JoinTask& task) noexcept;
  /// Lowers `least` and raises `most` to the extremes of `count` integers of 64 or 32 bits.
  void (*extent)(const void* integers, bool is_wide, std::int64_t count, std::int64_t& least,
                 std::int64_t& most) noexcept;
  void (*rotate)(const RotateTask& task) noexcept;
  /// Converts bfloat16 or float16 to float32, and back to the nearest value. The memory must not
  /// overlap.
  void (*widen)(const std::uint16_t* from, std::int64_t count, bool is_bfloat16,
                float* to) noexcept;
  void (*narrow)(const float* from, std::int64_t count, bool is_bfloat16,
                 std::uint16_t* to) noexcept;
};

/// The model's kernels of every ISA of this build, in ascending order.
std::span<const IsaTable<ModelKernels>> compiled_model_kernels();

/// The model's kernels of the best ISA that this CPU has.
const ModelKernels& best_model_kernels();

/// The plan of rows that are joined from parts of other rows (JoinTask).
StoreMethod plan_joined_rows(bool non_temporal, std::int64_t row_bytes) noexcept;

}  // namespace posenc::simd
