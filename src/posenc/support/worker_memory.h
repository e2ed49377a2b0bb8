// Working memory of the threads of a parallel loop. Internal: not installed.
#pragma once

#include "posenc/matrix.h"
#include "posenc/support/cache_line.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <cstdint>

namespace posenc::detail {

/// Number of float32 rows that are encoded into working memory at once. The rows stay in the L2
/// cache. There are so many that their start, which costs as much as several rows, is negligible.
constexpr std::int64_t rows_in_cache(std::int64_t columns) noexcept {
  constexpr std::int64_t usual_bytes = 256 << 10, most_bytes = 512 << 10, most_rows = 512,
                         enough_rows = 32;
  const std::int64_t row_bytes = columns * std::int64_t{sizeof(float)};
  const std::int64_t at_least = std::clamp<std::int64_t>(most_bytes / row_bytes, 1, enough_rows);
  return std::clamp(usual_bytes / row_bytes, at_least, most_rows);
}

/// Memory for `floats` floats for each thread of a loop. Each thread's
/// memory begins at a cache line. The caller of the loop owns the memory before anything is
/// written, and the memory ends with the call. Small amounts need no allocation, so a step of
/// decoding makes none.
class WorkerMemory {
 public:
  /// Allocates the memory. Throws std::bad_alloc.
  WorkerMemory(std::int64_t floats, const Threads& threads)
      : stride_((floats + cache_line_floats - 1) / cache_line_floats * cache_line_floats) {
    const std::int64_t all = stride_ * usable_threads(threads);
    if (all > small_floats) large_ = Matrix(all, 1);
  }

  float* of(int thread) noexcept {
    return (large_.rows() > 0 ? large_.data() : small_) + thread * stride_;
  }

 private:
  static constexpr std::int64_t small_floats = 4096;
  std::int64_t stride_;
  Matrix large_;
  alignas(cache_line_bytes) float small_[small_floats];  // NOLINT: it is written before it is read
};

}  // namespace posenc::detail
