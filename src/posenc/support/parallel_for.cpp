#include "posenc/support/parallel_for.h"

#include "posenc/support/system.h"

#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

namespace posenc::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a helper without work, and a caller whose helpers still work, wait before they sleep.
constexpr std::chrono::microseconds awake_for{100};

/// A loop in progress, on the caller's stack.
struct Loop {
  const LoopBody& body;
  std::int64_t count, grain, pieces;
  std::int64_t threads;                                ///< that may take part
  std::atomic<std::int64_t> taken = 0;                 ///< pieces that somebody has begun
  std::atomic<std::int64_t> front = 0, back = pieces;  ///< where the caller and helpers go on
  std::atomic<bool> has_failed = false;
  std::exception_ptr failure = nullptr;
  // Changed under the mutex of the pool.
  std::atomic<int> working = 0;  ///< helpers
  int joined = 0;                ///< helpers that work, or did
  int to_wake = 0;               ///< the first helper that nobody has woken for it
  std::condition_variable done{};
};

struct Helper {
  std::thread thread;
  std::condition_variable wake;
  // Changed under the mutex of the pool.
  std::atomic<Loop*> loop = nullptr;  ///< that it works on, or is asked to
  bool works = false;
};

/// Threads that help callers with their loops. A helper touches a loop only once it works on it:
/// in the end, the caller asks those back that do not yet, and waits for those that do. The first
/// helpers that are free are asked, so that those that helped with a table do so again.
class Pool {
 public:
  explicit Pool(const PoolSettings& settings)
      : settings_(settings), helpers_(new Helper[settings.most_helpers]) {}
  ~Pool() { stop(); }

  int most_helpers() const noexcept { return settings_.most_helpers; }

  void run(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body) {
    const auto begin = Clock::now();
    const std::int64_t pieces = count / grain + (count % grain != 0);
    Loop loop{body, count, grain, pieces, std::min<std::int64_t>(usable_threads(threads), pieces)};
    if (loop.threads == 1 || begin < alone_until_.load()) return body(0, count, 0);
    const bool follows = begin - last_end_.load() < awake_for;
    const bool has_more = follows || work_on_pieces(loop, 0, 1);
    const auto left = (Clock::now() - begin) * static_cast<double>(pieces - 1);
    if (follows || (has_more && left >= settings_.wake_after)) ask_helpers(loop);
    while (work_on_pieces(loop, 0, pieces)) {
    }
    const auto own_end = Clock::now();
    wait_for_helpers(loop);
    const auto end = Clock::now();
    last_end_ = end;
    // Alone, every piece would have taken as long as the caller's own did.
    const double share = static_cast<double>(loop.front) / static_cast<double>(pieces);
    if ((end - begin) * share > own_end - begin)
      alone_until_ = end + settings_.rest_factor * (end - own_end);
    if (loop.failure) std::rethrow_exception(loop.failure);
  }

  /// Ends all helpers. Loops then do without.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    for (Helper& each : helpers()) each.wake.notify_one();
    for (Helper& each : helpers()) {
      if (each.thread.joinable()) each.thread.join();
    }
  }

  /// In the child of a fork, which has only the thread that forked.
  void forget_helpers() noexcept {
    std::construct_at(&mutex_);
    for (Helper& each : helpers()) std::construct_at(&each);
  }

 private:
  std::span<Helper> helpers() noexcept {
    return {helpers_.get(), static_cast<std::size_t>(settings_.most_helpers)};
  }

  bool work_on_pieces(Loop& loop, int thread, std::int64_t most) noexcept {
    settings_.at_step();
    // An equal share of what is left, since the first row of a call is costly.
    std::int64_t before = loop.taken, count = 0;
    do {
      if (before >= loop.pieces) return false;
      count = std::clamp<std::int64_t>((loop.pieces - before) / loop.threads, 1, most);
    } while (!loop.taken.compare_exchange_weak(before, before + count));
    // The caller works from the front, and helpers from the back, so that each finds its part in
    // its cache if the same table is written again. They do not meet: only so many pieces are
    // taken.
    const std::int64_t first =
        thread == 0 ? loop.front.fetch_add(count) : loop.back.fetch_sub(count) - count;
    try {
      loop.body(first * loop.grain, std::min((first + count) * loop.grain, loop.count), thread);
    } catch (...) {
      loop.taken = loop.pieces;
      if (!loop.has_failed.exchange(true)) loop.failure = std::current_exception();
    }
    return true;
  }

  /// Asks as many helpers as may take part, and starts those that are missing, if the system
  /// allows it.
  void ask_helpers(Loop& loop) {
    const std::lock_guard lock(mutex_);
    std::int64_t missing = stops_ ? 0 : loop.threads - 1;
    try {
      for (Helper& each : helpers()) {
        if (missing == 0) break;
        if (each.loop != nullptr) continue;
        if (!each.thread.joinable()) each.thread = start_helper([this, &each] { serve(each); });
        each.loop = &loop;
        --missing;
      }
    } catch (const std::exception&) {  // The others do.
    }
    wake_two(loop);
  }

  /// Each helper that begins wakes two more, so that all are soon, and nobody spends much time.
  void wake_two(Loop& loop) noexcept {
    for (int left = 2; loop.to_wake < settings_.most_helpers && left > 0; ++loop.to_wake) {
      Helper& helper = helpers_[loop.to_wake];
      if (helper.loop != &loop) continue;
      helper.wake.notify_one();
      --left;
    }
  }

  void wait_for_helpers(Loop& loop) {
    std::unique_lock lock(mutex_);
    for (Helper& each : helpers()) {
      if (each.loop == &loop && !each.works) each.loop = nullptr;
    }
    wait(lock, loop.done, [&] { return loop.working == 0; });
  }

  /// Waits for a change that is made under the mutex. (std::atomic::wait() of libstdc++ 12 can
  /// sleep through changes where there is no futex, as on Windows.)
  template <class IsOver>
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& change,
            const IsOver& is_over) {
    lock.unlock();
    const auto sleep_at = Clock::now() + awake_for;
    while (!is_over() && Clock::now() < sleep_at) std::this_thread::yield();
    settings_.at_step();
    lock.lock();
    change.wait(lock, is_over);
  }

  void serve(Helper& helper) {
    std::fesetenv(FE_DFL_ENV);
    take_affinity_of_process();
    std::unique_lock lock(mutex_);
    while (!stops_) {
      Loop* const loop = helper.loop;
      if (loop == nullptr) {
        wait(lock, helper.wake, [&] { return helper.loop != nullptr || stops_; });
        continue;
      }
      helper.works = true;
      ++loop->working;
      const int thread = ++loop->joined;
      wake_two(*loop);
      lock.unlock();
      while (work_on_pieces(*loop, thread, loop->pieces)) {
      }
      lock.lock();
      helper.works = false;
      helper.loop = nullptr;
      if (--loop->working == 0) loop->done.notify_one();
    }
  }

  const PoolSettings settings_;
  std::mutex mutex_;
  std::unique_ptr<Helper[]> helpers_;
  std::atomic<bool> stops_ = false;
  std::atomic<Clock::time_point> last_end_{}, alone_until_{};
};

/// That of the process. It is never destroyed: programs may run loops while they exit.
Pool*& pool() {
  static Pool* all = [] {
    after_fork([] { pool()->forget_helpers(); });
    return new Pool({std::clamp(usable_cpus(), 1, most_threads) - 1});
  }();
  // No thread may outlive its code, should the library be unloaded.
  static const struct Stop {
    bool is_needed = !keep_loaded();
    ~Stop() {
      if (is_needed) all->stop();
    }
  } stop;
  return all;
}

}  // namespace

void restart_pool(const PoolSettings& settings) {
  delete pool();
  pool() = new Pool(settings);
}

void share_loop(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body) {
  pool()->run(count, grain, threads, body);
}

int usable_threads(int threads) {
  return threads <= 1 ? 1 : std::min(threads, pool()->most_helpers() + 1);
}

}  // namespace posenc::detail
