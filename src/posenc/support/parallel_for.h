// A parallel loop. Internal: not installed.
#pragma once

#include "posenc/support/floating_point.h"
#include "posenc/threads.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

namespace posenc::detail {

/// The first index of a part if [0, count) is divided into `parts` parts of nearly equal size.
constexpr std::int64_t part_begin(std::int64_t count, std::int64_t parts,
                                  std::int64_t part) noexcept {
  return count / parts * part + std::min(part, count % parts);
}

/// The largest number of threads of a loop.
inline constexpr int most_threads = 1024;

/// The largest number of threads that a loop uses if `threads` are requested. Of posenc's own
/// threads, there is at most one for each CPU of the process.
int usable_threads(const Threads& threads);

/// The grain of a loop over rows of `elements` elements. Vector kernels write 32768 elements in 2
/// to 5 us, and the first row of a piece costs as much as several others.
constexpr std::int64_t rows_per_piece(std::int64_t elements) noexcept {
  return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(elements, 1));
}

/// The grain if rows are computed from the rows before them, which makes the first row of a piece
/// costly.
constexpr std::int64_t successive_rows_per_piece(std::int64_t elements) noexcept {
  return std::max<std::int64_t>(32, rows_per_piece(elements));
}

/// Settings of the pool of helpers, which tests change.
struct PoolSettings {
  int most_helpers;
  /// A sleeping helper takes 10 to 50 us to start, and waking it costs the caller some time. A loop
  /// asks for helpers if it will take at least this long after its first piece, or if it closely
  /// follows another loop.
  std::chrono::microseconds wake_after{100};
  /// If another process occupied a helper's CPU, a loop may take longer than without helpers. The
  /// process then runs loops without helpers for this many times the wait, so it loses a sixteenth
  /// at most.
  int rest_factor = 16;
  /// Called between any two steps of a loop.
  void (*at_step)() = [] {};
};

/// For tests, while no loop runs: ends all helpers and applies new settings.
void restart_pool(const PoolSettings& settings);

/// The body of a loop: work(begin, end, thread).
using LoopBody = std::function<void(std::int64_t, std::int64_t, int)>;

/// Implements parallel_for() for more than one piece and more than one thread.
void share_loop(std::int64_t count, std::int64_t grain, const Threads& threads,
                const LoopBody& body);

/// The same for the threads of an engine, which run in the floating-point environment of the engine
/// between the pieces.
void share_with_engine(std::int64_t count, std::int64_t grain, const Threads& threads,
                       const LoopBody& body);

/// Calls work(begin, end, thread) for contiguous parts of [0, count). The calls run in the calling
/// thread and in at most threads - 1 other threads, in the default floating-point environment.
/// `thread` is below usable_threads(threads). No two calls at the same time have the same `thread`,
/// so it can index memory. Every part except the last has a multiple of `grain` indices. Timing
/// decides which thread gets which part. A count below 2 * grain, or one thread, is one part.
///
/// If a call throws, the exception is rethrown once no part is being worked on. Other parts may not
/// have begun.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t grain, const Threads& threads,
                  const Work& work) {
  if (count <= 0) return;
  if (threads.engine != nullptr && threads.count > 1 && count / grain >= 2)
    return share_with_engine(count, grain, threads, std::cref(work));
  const DefaultFloatingPoint environment;
  if (threads.count <= 1 || count / grain < 2) {
    work(std::int64_t{0}, count, 0);
    return;
  }
  share_loop(count, grain, threads, std::cref(work));  // a reference needs no allocation
}

}  // namespace posenc::detail
