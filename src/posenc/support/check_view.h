// The checks of a view that rows are written to. Internal: not installed.
#pragma once

#include "posenc/error.h"
#include "posenc/matrix.h"
#include "posenc/support/format.h"

#include <cstdint>

namespace posenc {

/// Throws InvalidArgument unless `rows` rows of d_model channels fit in the view, and the view in
/// an address space.
inline void check_view(const OutputView& out, std::int64_t rows, std::int64_t d_model) {
  if (out.columns < d_model) {
    throw InvalidArgument(
        format_text("view has {} columns; allowed: at least d_model, {}", out.columns, d_model));
  }
  if (out.stride < out.columns) {
    throw InvalidArgument(format_text("view has stride {}; allowed: at least its columns, {}",
                                      out.stride, out.columns));
  }
  if (out.rows < rows) {
    throw InvalidArgument(
        format_text("view has {} rows; allowed: at least the row count, {}", out.rows, rows));
  }
  if (rows > 0 && out.data == nullptr)
    throw InvalidArgument("view has no memory (data is null); allowed: a valid pointer");
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(out.stride, out.rows, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(out.type), &bytes)) {
    throw InvalidArgument(format_text(
        "view spans {} rows of stride {}; allowed: at most 2^63 - 1 bytes", out.rows, out.stride));
  }
}

}  // namespace posenc
