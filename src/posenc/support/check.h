// Checks of numbers and views that several calls take. Each check throws InvalidArgument, which
// names the argument, its value and the allowed values.
#pragma once

#include "posenc/error.h"
#include "posenc/matrix.h"
#include "posenc/support/format.h"
#include "posenc/threads.h"

#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace posenc::detail {

/// Throws unless the value is `least` to `most`. Refuses NaN, too.
template <class T>
void check_range(std::string_view name, T value, std::type_identity_t<T> least,
                 std::type_identity_t<T> most) {
  if (value >= least && value <= most) return;
  throw_invalid("{} is {}; allowed: {} to {}", name, value, least, most);
}

inline void check_at_least_one(std::string_view name, int value) {
  if (value >= 1) return;
  throw_invalid("{} is {}; allowed: at least 1", name, value);
}

inline void check_threads(const Threads& threads) { check_at_least_one("threads", threads.count); }

inline void check_positive(std::string_view name, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw_invalid("{} is {}; allowed: finite and greater than 0", name, value);
}

/// Throws InvalidArgument unless `rows` rows of d_model channels fit in the view, and the view fits
/// in an address space.
inline void check_view(const OutputView& out, std::int64_t rows, std::int64_t d_model) {
  if (out.columns < d_model)
    throw_invalid("view has {} columns; allowed: at least d_model, {}", out.columns, d_model);
  if (out.stride < out.columns)
    throw_invalid("view has stride {}; allowed: at least its columns, {}", out.stride, out.columns);
  if (out.rows < rows)
    throw_invalid("view has {} rows; allowed: at least the row count, {}", out.rows, rows);
  if (rows > 0 && out.data == nullptr)
    throw InvalidArgument("view has no memory (data is null); allowed: a valid pointer");
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(out.stride, out.rows, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(out.type), &bytes)) {
    throw_invalid("view spans {} rows of stride {}; allowed: at most 2^63 - 1 bytes", out.rows,
                  out.stride);
  }
}

}  // namespace posenc::detail
