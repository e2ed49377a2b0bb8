// A parallel loop. Internal: not installed.
#pragma once

#include "posenc/support/floating_point.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace posenc::detail {

/// Where a part begins if [0, count) is divided into `parts` parts of nearly equal size. (count *
/// part / parts would overflow if both factors are large.)
constexpr std::int64_t part_begin(std::int64_t count, std::int64_t parts,
                                  std::int64_t part) noexcept {
  return count / parts * part + std::min(part, count % parts);
}

/// The largest number of threads that loops have.
inline constexpr int most_threads = 1024;

/// The number of threads that a loop has at most, if so many are asked for: no more than there are
/// CPUs that the process may use.
int usable_threads(int threads);

/// Elements that a piece must have at least. Vector kernels write so many in 2 to 5 us, and the
/// first row of a piece costs as much as several others.
inline constexpr std::int64_t least_elements = 32768;

/// The grain of a loop over rows of so many elements.
constexpr std::int64_t rows_per_piece(std::int64_t elements) noexcept {
  return std::max<std::int64_t>(1, least_elements / std::max<std::int64_t>(elements, 1));
}

/// The grain if rows follow from those before them, which makes the first row of a piece costly.
constexpr std::int64_t successive_rows_per_piece(std::int64_t elements) noexcept {
  return std::max<std::int64_t>(32, rows_per_piece(elements));
}

/// work(begin, end, thread)
using LoopBody = std::function<void(std::int64_t, std::int64_t, int)>;

/// Threads that help callers with their loops. Everything but the counter of pieces is guarded by
/// one mutex: a helper takes a seat in a loop of which it becomes a user, and the caller takes its
/// loop from the list, so that nobody else begins, and waits until it has no users.
class ThreadPool {
 public:
  struct Settings {
    int most_helpers;
    /// Waking a helper costs the caller some microseconds, so that only a loop that has taken so
    /// long wakes one, or a loop that follows another one closely: its helper stays awake.
    std::chrono::microseconds wake_after{20};
    /// If another process had the CPU of a helper, so that its caller waited longer than it worked,
    /// the process does without helpers for that many times as long: it loses a sixteenth at most.
    int rest_factor = 16;
    /// Called between any two steps of a loop.
    void (*at_step)() = [] {};
  };

  /// The pool of the process. It is never destroyed: programs may run loops while they exit.
  static ThreadPool& of_process();

  void run(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body);
  int helpers() const noexcept { return settings_.most_helpers; }
  /// For tests, while no loop runs: ends all helpers.
  void restart(const Settings& settings);

 private:
  struct Loop;
  using Clock = std::chrono::steady_clock;

  explicit ThreadPool(int most_helpers) : settings_{most_helpers}, most_started_(most_helpers) {}
  void stop();
  void serve();
  Loop* loop_with_seat() const noexcept;
  bool work_on_pieces(Loop& loop, int thread) noexcept;
  void wake_one();
  void forget_helpers() noexcept;

  Settings settings_;
  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::vector<std::thread> threads_;
  int most_started_;
  std::vector<Loop*> loops_;  ///< those that helpers may join
  int asleep_ = 0;            ///< helpers that wait for work_
  bool stops_ = false;
  std::atomic<std::uint64_t> announced_ = 0;  ///< loops so far
  std::atomic<Clock::rep> last_end_ = 0, alone_until_ = 0;
};

/// Calls work(begin, end, thread) for contiguous pieces of [0, count), by the calling thread and
/// by at most threads - 1 others, in the default floating-point environment. `thread` is below
/// usable_threads(threads), and no two calls at the same time have the same one: memory can be
/// indexed by it. Pieces have `grain` indices, except the last one; which thread gets which depends
/// on time. A count below 2 * grain, or one thread, is one piece.
///
/// Throws what one of the calls threw, when no piece is being worked on; others may then not have
/// begun.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t grain, int threads, const Work& work) {
  if (count <= 0) return;
  const DefaultFloatingPoint environment;
  if (threads <= 1 || count / grain < 2) {
    work(std::int64_t{0}, count, 0);
    return;
  }
  // A reference needs no allocation.
  ThreadPool::of_process().run(count, grain, threads, std::cref(work));
}

}  // namespace posenc::detail
