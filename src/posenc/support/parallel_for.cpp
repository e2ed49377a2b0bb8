#include "posenc/support/parallel_for.h"

#include "posenc/support/system.h"

#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace posenc::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a helper without work, and a caller whose helpers still work, wait before they sleep.
constexpr std::chrono::microseconds awake_for{100};

/// Threads that wait for others to change an atomic value. Not std::atomic::wait(): where there is
/// no futex (on Windows), that of libstdc++ 12 can sleep through a change.
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

  /// What to notify after a change: who has looked at the value before it sleeps by then.
  std::condition_variable& sleepers() {
    const std::lock_guard lock(mutex);
    return changed;
  }
};

/// A loop in progress, on the caller's stack.
struct Loop {
  const LoopBody& body;
  std::int64_t count, grain, pieces;
  std::int64_t threads;                                ///< that may take part
  std::atomic<std::int64_t> taken = 0;                 ///< pieces that somebody has begun
  std::atomic<std::int64_t> front = 0, back = pieces;  ///< where the caller and helpers go on
  std::atomic<bool> has_failed = false;
  std::exception_ptr failure = nullptr;
};

/// Threads that help callers with their loops, one loop at a time: one that finds another works
/// alone. A helper touches a loop only while it has one of its seats, which the caller takes away
/// in the end. It then waits for helpers that still have one.
class Pool {
 public:
  explicit Pool(const PoolSettings& settings)
      : settings_(settings), helpers_(new std::thread[settings.most_helpers]) {}
  ~Pool() { stop(); }

  int most_helpers() const noexcept { return settings_.most_helpers; }

  void run(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body) {
    const auto begin = Clock::now();
    const std::int64_t pieces = count / grain + (count % grain != 0);
    Loop loop{body, count, grain, pieces, std::min<std::int64_t>(usable_threads(threads), pieces)};
    if (loop.threads == 1 || begin < alone_until_.load() || is_taken_.exchange(true))
      return body(0, count, 0);
    const bool follows = begin - last_end_ < awake_for;
    const bool has_more = follows || work_on_pieces(loop, 0, 1);
    const auto left = (Clock::now() - begin) * static_cast<double>(pieces - 1);
    if (follows || (has_more && left >= settings_.wake_after)) offer(loop);
    while (work_on_pieces(loop, 0, pieces)) {
    }
    const auto own_end = Clock::now();
    seats_ &= ~(one_seated - 1);
    caller_.wait([&] { return seats_ == 0; });
    last_end_ = Clock::now();
    // Alone, every piece would have taken as long as the caller's own did.
    const double share = static_cast<double>(loop.front) / static_cast<double>(pieces);
    if ((last_end_ - begin) * share > own_end - begin)
      alone_until_ = last_end_ + settings_.rest_factor * (last_end_ - own_end);
    is_taken_ = false;
    if (loop.failure) std::rethrow_exception(loop.failure);
  }

  /// Ends all helpers. Loops then do without.
  void stop() {
    const std::lock_guard lock(starting_);
    stops_ = true;
    ++offers_;
    idle_.sleepers().notify_all();
    for (int i = 0; i < started_; ++i) helpers_[i].join();
    started_ = 0;
  }

  /// In the child of a fork, which has only the thread that forked.
  void forget_helpers() noexcept {
    std::construct_at(&starting_);
    std::construct_at(&caller_);
    std::construct_at(&idle_);
    for (int i = 0; i < settings_.most_helpers; ++i) std::construct_at(&helpers_[i]);
    started_ = seats_ = 0;
    is_taken_ = false;
  }

 private:
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

  /// Offers seats to helpers, and starts those that are missing, if the system allows it.
  void offer(Loop& loop) {
    const auto wanted = static_cast<int>(loop.threads) - 1;
    try {
      const std::lock_guard lock(starting_);
      for (; started_ < wanted && !stops_; ++started_)
        helpers_[started_] = start_helper([this] { serve(); });
    } catch (const std::exception&) {  // The others do.
    }
    loop_ = &loop;
    seats_ = wanted;
    ++offers_;
    wake_some();
  }

  /// Wakes helpers for two free seats. As each who takes one does so, too, all are woken soon, and
  /// nobody spends much time on it.
  void wake_some() noexcept {
    for (int i = std::min(seats_ % one_seated, 2); i > 0; --i) idle_.sleepers().notify_one();
  }

  /// The number of a free seat, from which it goes down to 1; 0 if there is none.
  int take_seat() noexcept {
    int seats = seats_;
    do {
      settings_.at_step();
      if (seats % one_seated == 0) return 0;
    } while (!seats_.compare_exchange_weak(seats, seats - 1 + one_seated));
    return seats % one_seated;
  }

  void serve() {
    std::fesetenv(FE_DFL_ENV);
    take_affinity_of_process();
    for (int seen = offers_; !stops_; seen = offers_) {
      const int thread = take_seat();
      if (thread == 0) {
        idle_.wait([&] { return offers_ != seen; });
        continue;
      }
      wake_some();
      while (work_on_pieces(*loop_, thread, loop_->pieces)) {
      }
      if ((seats_ -= one_seated) == 0) caller_.sleepers().notify_all();
    }
  }

  static constexpr int one_seated = 2 * most_threads;

  const PoolSettings settings_;
  std::atomic<bool> is_taken_ = false;  ///< by the caller of a loop, to which what follows belongs
  Clock::time_point last_end_;
  Loop* loop_ = nullptr;
  std::atomic<int> seats_ = 0;   ///< free ones, and helpers that have one, times one_seated
  std::atomic<int> offers_ = 0;  ///< how often there were free ones
  Waiters caller_, idle_;        ///< who waits for the former to be 0, and for the latter to change

  std::atomic<Clock::time_point> alone_until_{};
  std::mutex starting_;  ///< guards the start and end of helpers
  std::unique_ptr<std::thread[]> helpers_;
  int started_ = 0;
  std::atomic<bool> stops_ = false;
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
