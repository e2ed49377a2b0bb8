#include "posenc/support/parallel_for.h"

#include "posenc/support/cache_line.h"
#include "posenc/support/format.h"
#include "posenc/support/made_once.h"
#include "posenc/support/system.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace posenc::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a thread waits before it sleeps: a helper without work, or a caller whose helpers still
/// work.
constexpr std::chrono::microseconds awake_for{100};
/// The longest wait for helpers that counts. During a longer wait, the process itself was stopped.
constexpr std::chrono::milliseconds longest_wait{100};

/// Threads that wait for others to change an atomic value. std::atomic::wait() is not used, because
/// the implementation in libstdc++ 12 can sleep through a change if there is no futex (on Windows).
struct Waiters {
  std::mutex mutex;
  std::condition_variable changed;

  template <class IsOver>
  void wait(const IsOver& is_over) {
    const auto sleep_at = Clock::now() + awake_for;
    do {
      if (is_over()) return;
      std::this_thread::yield();
    } while (Clock::now() < sleep_at);
    std::unique_lock lock(mutex);
    changed.wait(lock, is_over);
  }

  /// Wakes the threads. Call this after a change.
  void wake() {
    { const std::lock_guard lock(mutex); }  // A thread that missed the change sleeps by now.
    changed.notify_all();
  }
};

/// A loop in progress, on the caller's stack.
struct Loop {
  const LoopBody& body;
  std::int64_t count, grain, pieces;
  std::int64_t threads;                                ///< threads that may take part
  std::atomic<std::int64_t> taken = 0;                 ///< pieces that have been started
  std::atomic<std::int64_t> front = 0, back = pieces;  ///< next pieces of caller and helpers
  std::atomic_flag has_failed{};  // with g++ 12, a bool would need libatomic on RISC-V
  std::exception_ptr failure = nullptr;
  std::atomic<int> asked_end = 0;    ///< helpers from here on were not asked
  std::atomic<int> to_wake = 0;      ///< the first helper that has not been woken, if it was asked
  std::atomic<int> last_thread = 0;  ///< thread numbers in use; the caller is 0
  /// Helpers that were asked and have neither finished nor been released.
  std::atomic<int> missing = 0;
};

struct alignas(cache_line_bytes) Helper {
  std::thread thread;
  Waiters waiters;
  /// The loop that the helper is asked to work on. While the helper works on a loop, `task` points
  /// to the helper itself.
  std::atomic<void*> task = nullptr;
};

/// Threads that help callers with their loops. A helper that has taken a loop is missing until it
/// finishes. At the end of a loop, the caller releases the helpers that have not taken it, and
/// waits for the others. Always the first free helpers are asked, because their caches hold parts
/// of a table.
class Pool {
 public:
  explicit Pool(const PoolSettings& settings)
      : settings_(settings), helpers_(static_cast<std::size_t>(settings.most_helpers)) {}
  ~Pool() { stop(); }

  int most_helpers() const noexcept { return settings_.most_helpers; }

  void run(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body) {
    const auto begin = Clock::now();
    const std::int64_t pieces = count / grain + (count % grain != 0);
    Loop loop{body, count, grain, pieces, std::min<std::int64_t>(usable_threads(threads), pieces)};
    if (loop.threads == 1 || begin < alone_until_.load()) return body(0, count, 0);
    const CancellationWaits until_helpers_ended;
    const bool follows = begin - last_end_.load() < awake_for;
    if (!follows) work_on_pieces(loop, 0, 1);
    const auto left = (Clock::now() - begin) * static_cast<double>(pieces - 1);
    if (follows || left >= settings_.wake_after) ask_helpers(loop);
    while (work_on_pieces(loop, 0, pieces)) wake_two(loop);
    const auto own_end = Clock::now();
    wait_for_helpers(loop);
    const auto end = Clock::now();
    last_end_ = end;
    // Alone, every piece would have taken as long as the caller's own pieces did.
    const double share = static_cast<double>(loop.front) / static_cast<double>(pieces);
    const auto waited = std::min<Clock::duration>(end - own_end, longest_wait);
    const auto until = end + settings_.rest_factor * waited;
    if ((end - begin) * share > own_end - begin && until > alone_until_.load())
      alone_until_ = until;
    if (loop.failure) std::rethrow_exception(loop.failure);
  }

  /// Ends all helpers. Later loops run without helpers.
  void stop() {
    asking_.lock();
    stops_ = true;
    asking_.unlock();
    for (Helper& each : helpers_) {
      each.waiters.wake();
      if (each.thread.joinable()) each.thread.join();
    }
  }

  /// Resets the pool in the child of a fork, which has only the thread that forked.
  void forget_helpers() noexcept {
    std::construct_at(&asking_);
    std::construct_at(&callers_);
    for (Helper& each : helpers_) std::construct_at(&each);
  }

 private:
  bool work_on_pieces(Loop& loop, int thread, std::int64_t most) noexcept {
    settings_.at_step();
    // Takes an equal share of the remaining pieces, because the first row of a call is costly.
    std::int64_t before = loop.taken, count = 0;
    do {
      if (before >= loop.pieces) return false;
      count = std::clamp<std::int64_t>((loop.pieces - before) / loop.threads, 1, most);
    } while (!loop.taken.compare_exchange_weak(before, before + count));
    // The caller works from the front and helpers work from the back. If the same table is written
    // again, each thread then finds its part in its cache. Front and back do not meet, because
    // `taken` ends first.
    const std::int64_t first =
        thread == 0 ? loop.front.fetch_add(count) : loop.back.fetch_sub(count) - count;
    try {
      loop.body(first * loop.grain, std::min((first + count) * loop.grain, loop.count), thread);
    } catch (...) {
      loop.taken = loop.pieces;
      if (!loop.has_failed.test_and_set()) loop.failure = std::current_exception();
    }
    return true;
  }

  /// Asks as many helpers as may take part, and starts missing helper threads if possible.
  void ask_helpers(Loop& loop) {
    try {
      const std::lock_guard lock(asking_);
      std::int64_t seats = stops_ ? 0 : loop.threads - 1;
      for (int i = 0; i < settings_.most_helpers && seats > 0; ++i) {
        Helper& helper = helpers_[i];
        if (helper.task != nullptr) continue;
        if (!helper.thread.joinable())
          helper.thread = start_helper([this, &helper] { serve(helper); });
        ++loop.missing;
        helper.task = &loop;
        loop.asked_end = i + 1;
        --seats;
      }
    } catch (const std::exception&) {  // The threads that exist do the work.
    }
    wake_two(loop);
  }

  /// Wakes two of the helpers that have not begun. Every helper that begins also wakes two, so all
  /// are awake soon and no thread spends much time on it.
  void wake_two(Loop& loop) noexcept {
    for (int left = 2, i = loop.to_wake; left > 0 && i < loop.asked_end;) {
      if (!loop.to_wake.compare_exchange_weak(i, i + 1)) continue;
      if (helpers_[i].task == &loop) {
        helpers_[i].waiters.wake();
        --left;
      }
      ++i;
    }
  }

  void wait_for_helpers(Loop& loop) noexcept {
    for (int i = 0; i < loop.asked_end; ++i) {
      settings_.at_step();
      void* expected = &loop;
      if (helpers_[i].task.compare_exchange_strong(expected, nullptr)) --loop.missing;
    }
    callers_.wait([&] { return loop.missing == 0; });
  }

  void serve(Helper& helper) {
    std::fesetenv(FE_DFL_ENV);
    take_affinity_of_process();
    while (!stops_) {
      helper.waiters.wait([&] { return helper.task != nullptr || stops_; });
      settings_.at_step();
      void* asked = helper.task;
      if (asked == nullptr || !helper.task.compare_exchange_strong(asked, &helper)) continue;
      Loop& loop = *static_cast<Loop*>(asked);
      wake_two(loop);
      const int thread = ++loop.last_thread;
      while (!stops_ && work_on_pieces(loop, thread, loop.pieces)) {
      }
      helper.task = nullptr;
      settings_.at_step();
      if (--loop.missing == 0) callers_.wake();
    }
  }

  const PoolSettings settings_;
  std::mutex asking_;  ///< guards the start and end of helpers, and their tasks
  std::vector<Helper> helpers_;
  Waiters callers_;
  std::atomic<bool> stops_ = false;
  std::atomic<Clock::time_point> last_end_{}, alone_until_{};
};

/// The pool of the process, or null before the first loop. It is never destroyed, because programs
/// may run loops while they exit.
std::atomic<Pool*> the_pool = nullptr;

// If the library is unloaded, no thread may outlive its code. This is the only destructor at exit
// that is intended.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"
#endif
const struct StopAtUnload {
  ~StopAtUnload() {
    Pool* const all = the_pool.load();
    if (all != nullptr && !keep_loaded()) all->stop();
  }
} stop_at_unload;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// The pool of the process, made at first use. A new pool has no helpers before it is kept. The
/// fork handler uses the pool that is kept: it neither waits for one nor makes one.
Pool* pool() {
  return &made_once(the_pool, [] {
    after_fork([] {
      if (Pool* const all = the_pool.load()) all->forget_helpers();
    });
    return std::make_unique<Pool>(
        PoolSettings{.most_helpers = std::clamp(usable_cpus(), 1, most_threads) - 1});
  });
}

}  // namespace

void restart_pool(const PoolSettings& settings) {
  delete pool();
  the_pool = new Pool(settings);
}

void share_loop(std::int64_t count, std::int64_t grain, const Threads& threads,
                const LoopBody& body) {
  pool()->run(count, grain, threads.count, body);
}

// The parts are of equal size: how an engine divides its work further is the engine's business.
void share_with_engine(std::int64_t count, std::int64_t grain, const Threads& threads,
                       const LoopBody& body) {
  const std::int64_t pieces = count / grain + (count % grain != 0);
  const auto parts = static_cast<int>(std::min<std::int64_t>(usable_threads(threads), pieces));
  std::vector<std::atomic<bool>> has_ended(static_cast<std::size_t>(parts));
  std::atomic_flag has_failed;
  std::exception_ptr failure;
  const auto run_part = [&](int part) {
    const DefaultFloatingPoint environment;
    try {
      body(part_begin(pieces, parts, part) * grain,
           std::min(part_begin(pieces, parts, part + 1) * grain, count), part);
    } catch (...) {
      if (!has_failed.test_and_set()) failure = std::current_exception();
    }
    has_ended[static_cast<std::size_t>(part)] = true;
  };
  const CancellationWaits until_the_engine_ended;
  threads.engine->run(parts, std::cref(run_part));
  const auto ended = std::ranges::count_if(has_ended, [](const auto& each) { return each.load(); });
  if (failure) std::rethrow_exception(failure);
  if (ended != parts)
    throw std::logic_error(
        format_text("the threads of the engine ran {} of {} pieces", ended, parts));
}

int usable_threads(const Threads& threads) {
  if (threads.count <= 1) return 1;
  return std::min(threads.count,
                  threads.engine != nullptr ? most_threads : pool()->most_helpers() + 1);
}

}  // namespace posenc::detail
