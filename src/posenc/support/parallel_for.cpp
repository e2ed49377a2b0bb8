#include "posenc/support/parallel_for.h"

#include "posenc/support/system.h"

#include <cfenv>
#include <exception>
#include <thread>

namespace posenc::detail {
namespace {

/// How long a helper without work, and a caller whose helpers still work, wait before they sleep.
constexpr std::chrono::microseconds awake_for{100};

}  // namespace

/// A loop in progress, on the caller's stack.
struct ThreadPool::Loop {
  const LoopBody& body;
  std::int64_t count, grain, pieces;
  std::int64_t seats;                                  ///< threads that may take part
  std::atomic<std::int64_t> taken = 0;                 ///< pieces that somebody has begun
  std::atomic<std::int64_t> front = 0, back = pieces;  ///< where the caller and helpers go on
  std::atomic<int> last_thread = 0;                    ///< the caller is 0
  std::atomic<bool> has_failed = false;
  std::exception_ptr failure = nullptr;

  std::uintptr_t offered() const noexcept { return reinterpret_cast<std::uintptr_t>(this); }
  std::uintptr_t begun() const noexcept { return offered() + 1; }
};

struct alignas(64) ThreadPool::Helper {
  std::atomic<std::uintptr_t> task = 0;  ///< none, or offered() or begun() of a loop
  std::atomic<int> wakes = 0;
  std::thread thread;

  template <class IsOver>
  void wait(const IsOver& is_over) {
    const auto sleep_at = Clock::now() + awake_for;
    while (!is_over() && Clock::now() < sleep_at) std::this_thread::yield();
    for (int seen = wakes; !is_over(); seen = wakes) wakes.wait(seen);
  }

  /// For whoever may wait for what has changed.
  void wake() {
    ++wakes;
    wakes.notify_all();
  }
};

ThreadPool::ThreadPool(int most_helpers)
    : settings_{most_helpers}, most_started_(most_helpers), helpers_(new Helper[most_helpers]) {}

ThreadPool& ThreadPool::of_process() {
  static ThreadPool& pool = *[] {
    at_fork([] { of_process().starting_.lock(); }, [] { of_process().starting_.unlock(); },
            [] { of_process().forget_helpers(); });
    return new ThreadPool(std::min(std::max(usable_cpus(), 1), most_threads) - 1);
  }();
  // No thread may outlive its code, should the library be unloaded.
  static const struct Stop {
    bool is_needed = !keep_loaded();
    ~Stop() {
      if (is_needed) pool.stop();
    }
  } stop;
  return pool;
}

bool ThreadPool::work_on_pieces(Loop& loop, int thread, std::int64_t most) noexcept {
  settings_.at_step();
  // An equal share of what is left, since the first row of a call is costly: guided self-scheduling
  // (Polychronopoulos and Kuck, 1987).
  std::int64_t before = loop.taken, count = 0;
  do {
    if (before >= loop.pieces) return false;
    count = std::clamp<std::int64_t>((loop.pieces - before) / loop.seats, 1, most);
  } while (!loop.taken.compare_exchange_weak(before, before + count));
  settings_.at_step();
  // The caller works from the front, and helpers from the back, so that each finds its part in its
  // cache if the same table is written again. They do not meet: only so many pieces are taken.
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

/// Starts the thread of one more helper, if the system allows it.
bool ThreadPool::start_one() {
  const std::lock_guard lock(starting_);
  if (stops_ || started_ >= most_started_) return false;
  try {
    Helper& helper = helpers_[started_];
    helper.thread = start_helper([this, &helper] { serve(helper); });
    ++started_;
    return true;
  } catch (const std::exception&) {
    most_started_ = started_;
    return false;
  }
}

/// Offers the loop to as many helpers as it has seats, and starts those that are missing.
void ThreadPool::offer(Loop& loop) {
  std::int64_t offers = 1;
  for (int i = 0; offers < loop.seats && (i < started_ || start_one()); ++i) {
    std::uintptr_t none = 0;
    offers += helpers_[i].task.compare_exchange_strong(none, loop.offered());
    settings_.at_step();
  }
}

/// Wakes two helpers that have not begun the loop that they are offered. As each who begins does
/// so, too, all are woken soon, and nobody spends much time on it.
void ThreadPool::wake_some(const Loop& loop) noexcept {
  for (int i = 0, woken = 0; i < started_ && woken < 2; ++i) {
    if (helpers_[i].task != loop.offered()) continue;
    helpers_[i].wake();
    ++woken;
  }
}

void ThreadPool::serve(Helper& helper) {
  std::fesetenv(FE_DFL_ENV);
  take_affinity_of_process();
  while (!stops_) {
    helper.wait([&] { return helper.task != 0 || stops_; });
    settings_.at_step();
    std::uintptr_t task = helper.task;
    // Nothing of the loop is read before it is begun, since its caller may take it back and end it.
    if (task == 0 || !helper.task.compare_exchange_strong(task, task + 1)) continue;
    Loop& loop = *reinterpret_cast<Loop*>(task);
    settings_.at_step();
    wake_some(loop);
    const int thread = ++loop.last_thread;
    while (work_on_pieces(loop, thread, loop.pieces)) {
    }
    settings_.at_step();
    helper.task = 0;
    helper.wake();  // the caller, if it sleeps
  }
}

/// Returns when no helper has the loop.
void ThreadPool::take_back(const Loop& loop) {
  for (int i = 0; i < started_; ++i) {
    Helper& helper = helpers_[i];
    std::uintptr_t task = loop.offered();
    settings_.at_step();
    if (helper.task.compare_exchange_strong(task, 0) || task != loop.begun()) continue;
    helper.wait([&] { return helper.task != loop.begun(); });
  }
}

void ThreadPool::run(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body) {
  const auto begin = Clock::now();
  const auto since = begin.time_since_epoch().count();
  const std::int64_t pieces = count / grain + (count % grain != 0);
  Loop loop{body, count, grain, pieces, std::min<std::int64_t>(usable_threads(threads), pieces)};
  if (loop.seats == 1 || since < alone_until_) return body(0, count, 0);

  const bool follows = since - last_end_ < Clock::duration(awake_for).count();
  const bool has_more = follows || work_on_pieces(loop, 0, 1);
  const auto left = (Clock::now() - begin) * static_cast<double>(pieces - 1);
  if (follows || (has_more && left >= settings_.wake_after)) {
    offer(loop);
    wake_some(loop);
  }
  settings_.at_step();
  while (work_on_pieces(loop, 0, pieces)) {
  }
  const auto own_end = Clock::now();
  take_back(loop);
  const auto end = Clock::now();
  last_end_ = end.time_since_epoch().count();
  // Alone, every piece would have taken as long as the caller's own did.
  const double share = static_cast<double>(loop.front) / static_cast<double>(pieces);
  if ((end - begin) * share > own_end - begin)
    alone_until_ = (end + settings_.rest_factor * (end - own_end)).time_since_epoch().count();
  if (loop.failure) std::rethrow_exception(loop.failure);
}

/// Ends all helpers. Loops then do without.
void ThreadPool::stop() {
  const std::lock_guard lock(starting_);
  stops_ = true;
  for (int i = 0; i < started_; ++i) {
    helpers_[i].wake();
    helpers_[i].thread.join();
  }
  started_ = 0;
}

void ThreadPool::restart(const Settings& settings) {
  stop();
  settings_ = settings;
  most_started_ = settings.most_helpers;
  helpers_.reset(new Helper[most_started_]);
  stops_ = false;
  alone_until_ = 0;
}

/// In the child of a fork, which has only the thread that forked.
void ThreadPool::forget_helpers() noexcept {
  std::construct_at(&starting_);
  for (int i = 0; i < settings_.most_helpers; ++i) std::construct_at(&helpers_[i]);
  started_ = 0;
}

int usable_threads(int threads) {
  if (threads <= 1) return 1;
  return std::min({threads, most_threads, ThreadPool::of_process().helpers() + 1});
}

}  // namespace posenc::detail
