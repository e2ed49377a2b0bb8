// A parallel loop. Internal: not installed.
#pragma once

#include "posenc/support/floating_point.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

namespace posenc::detail {

/// Where a part begins if [0, count) is divided into `parts` parts of nearly equal size.
constexpr std::int64_t part_begin(std::int64_t count, std::int64_t parts,
                                  std::int64_t part) noexcept {
  return count / parts * part + std::min(part, count % parts);
}

/// The largest number of threads that loops have.
inline constexpr int most_threads = 1024;

/// The threads that a loop has at most if so many are asked for: one for each CPU of the process.
int usable_threads(int threads);

/// The grain of a loop over rows of so many elements. Vector kernels write 32768 in 2 to 5 us, and
/// the first row of a piece costs as much as several others.
constexpr std::int64_t rows_per_piece(std::int64_t elements) noexcept {
  return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(elements, 1));
}

/// The grain if rows follow from those before them, which makes the first row of a piece costly.
constexpr std::int64_t successive_rows_per_piece(std::int64_t elements) noexcept {
  return std::max<std::int64_t>(32, rows_per_piece(elements));
}

/// What tests change in the pool of helpers.
struct PoolSettings {
  int most_helpers;
  /// A helper that sleeps takes 10 to 50 us to come, and waking it costs the caller some. Helpers
  /// are asked by a loop that will take so long after its first piece, or soon follows another.
  std::chrono::microseconds wake_after{100};
  /// If another process had the CPU of a helper, so that a loop took longer than without helpers,
  /// the process does without for that many times the wait: it loses a sixteenth at most.
  int rest_factor = 16;
  /// Called between any two steps of a loop.
  void (*at_step)() = [] {};
};

/// For tests, while no loop runs: ends all helpers.
void restart_pool(const PoolSettings& settings);

/// work(begin, end, thread)
using LoopBody = std::function<void(std::int64_t, std::int64_t, int)>;

/// parallel_for() of more than one piece, by more than one thread.
void share_loop(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body);

/// Calls work(begin, end, thread) for contiguous parts of [0, count), by the calling thread and
/// by at most threads - 1 others, in the default floating-point environment. `thread` is below
/// usable_threads(threads), and no two calls at the same time have the same one: memory can be
/// indexed by it. Parts have a multiple of `grain` indices, except the last one; which thread gets
/// which depends on time. A count below 2 * grain, or one thread, is one part.
///
/// Throws what one of the calls threw, when no part is being worked on; others may not have begun.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t grain, int threads, const Work& work) {
  if (count <= 0) return;
  const DefaultFloatingPoint environment;
  if (threads <= 1 || count / grain < 2) {
    work(std::int64_t{0}, count, 0);
    return;
  }
  share_loop(count, grain, threads, std::cref(work));  // a reference needs no allocation
}

}  // namespace posenc::detail
