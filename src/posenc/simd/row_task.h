// The rows that kernels write, as plain data.
#pragma once

#include "posenc/data_type.h"

#include <cstdint>

namespace posenc::simd {

/// Every method but `plain` is non-temporal: it stores whole cache lines past the caches.
enum class StoreMethod : std::uint8_t {
  plain,
  lines,      ///< from registers; rows and their segments of columns begin at cache lines
  realigned,  ///< from registers; each line is joined from two vectors of a row
  staged,     ///< through a buffer in the L1 cache
};

/// How a kernel stores the rows of a call (store_plan.h).
struct StorePlan {
  StoreMethod method = StoreMethod::plain;  ///< for full panels
  bool at_pages = false;                    ///< rows are whole pages apart
  bool narrow_panels = false;               ///< for kernels that write pairs of rows
};

/// Consecutive rows to write. Arguments are checked: count >= 1, stride >= d_model.
struct RowTask {
  std::int64_t first;     ///< position of the first row
  std::int64_t count;     ///< number of rows
  void* out;              ///< address of the first row
  std::int64_t stride;    ///< elements from one row to the next
  DataType type;          ///< type of the elements of `out`
  StorePlan stores = {};  ///< how kernels store them

  /// Row r. T must be the element type of `type`.
  template <class T>
  T* row(std::int64_t r) const noexcept {
    return static_cast<T*>(out) + r * stride;
  }

  /// The rows begin .. end - 1 of this task.
  RowTask part(std::int64_t begin, std::int64_t end) const noexcept {
    return {first + begin, end - begin, static_cast<char*>(out) + begin * stride * size_of(type),
            stride,        type,        stores};
  }

  /// The task without its first `rows` rows.
  RowTask after(std::int64_t rows) const noexcept { return part(rows, count); }
};

}  // namespace posenc::simd
