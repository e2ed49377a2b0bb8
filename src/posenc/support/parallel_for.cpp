#include "posenc/support/parallel_for.h"

#include "posenc/support/system.h"

#include <cfenv>
#include <exception>
#include <memory>
#include <system_error>

namespace posenc::detail {
namespace {

/// How long a helper without work, and a caller whose helpers still work, wait before they sleep.
constexpr std::chrono::microseconds awake_for{100};

/// Waits until `is_over`, but no longer than a thread stays awake.
template <class IsOver>
void stay_awake(const IsOver& is_over) {
  const auto sleep_at = std::chrono::steady_clock::now() + awake_for;
  while (!is_over() && std::chrono::steady_clock::now() < sleep_at) std::this_thread::yield();
}

}  // namespace

/// A loop in progress, on the caller's stack.
struct ThreadPool::Loop {
  const LoopBody& body;
  std::int64_t count, grain, pieces;
  std::int64_t seats;                                  ///< threads that may take part
  std::atomic<std::int64_t> taken = 0;                 ///< pieces that somebody has begun
  std::atomic<std::int64_t> front = 0, back = pieces;  ///< where the caller and helpers go on
  std::int64_t seats_taken = 1;                        ///< by the caller
  std::atomic<std::int64_t> users = 0;                 ///< helpers that have begun and not ended
  std::exception_ptr failure = nullptr;
};

ThreadPool& ThreadPool::of_process() {
  static ThreadPool& pool = *[] {
    at_fork([] { of_process().mutex_.lock(); }, [] { of_process().mutex_.unlock(); },
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

bool ThreadPool::work_on_pieces(Loop& loop, int thread) noexcept {
  settings_.at_step();
  // An equal share of what is left, since the first row of a call is costly: guided self-scheduling
  // (Polychronopoulos and Kuck, 1987).
  std::int64_t before = loop.taken, count = 0;
  do {
    if (before >= loop.pieces) return false;
    count = std::max<std::int64_t>((loop.pieces - before) / loop.seats, 1);
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
    const std::lock_guard lock(mutex_);
    loop.failure = std::current_exception();
  }
  return true;
}

ThreadPool::Loop* ThreadPool::loop_with_seat() const noexcept {
  const auto found = std::ranges::find_if(loops_, [](const Loop* loop) {
    return loop->seats_taken < loop->seats && loop->taken < loop->pieces;
  });
  return found == loops_.end() ? nullptr : *found;
}

/// Wakes a helper, or starts one. Requires the mutex.
void ThreadPool::wake_one() {
  if (asleep_ > 0) return work_.notify_one();
  if (stops_ || static_cast<int>(threads_.size()) >= most_started_) return;
  try {
    threads_.push_back(start_helper([this] { serve(); }));
  } catch (const std::exception&) {
    most_started_ = static_cast<int>(threads_.size());  // The system allows no more.
  }
}

void ThreadPool::serve() {
  std::fesetenv(FE_DFL_ENV);
  take_affinity_of_process();
  std::unique_lock lock(mutex_);
  while (!stops_) {
    const std::uint64_t seen = announced_;
    const auto is_news = [&] { return announced_ != seen; };
    if (Loop* const loop = loop_with_seat()) {
      const auto thread = static_cast<int>(loop->seats_taken++);
      ++loop->users;
      if (loop_with_seat() != nullptr) wake_one();
      lock.unlock();
      settings_.at_step();
      while (work_on_pieces(*loop, thread)) {
      }
      settings_.at_step();
      lock.lock();
      if (--loop->users == 0) done_.notify_all();
      continue;
    }
    lock.unlock();
    stay_awake(is_news);
    settings_.at_step();
    lock.lock();
    if (is_news() || stops_) continue;
    ++asleep_;
    work_.wait(lock);
    --asleep_;
  }
}

void ThreadPool::run(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body) {
  const auto begin = Clock::now();
  const auto since = begin.time_since_epoch().count();
  const std::int64_t pieces = count / grain + (count % grain != 0);
  Loop loop{body, count, grain, pieces, std::min<std::int64_t>(usable_threads(threads), pieces)};
  if (loop.seats == 1 || since < alone_until_) return body(0, count, 0);

  bool woke =
      settings_.wake_after.count() == 0 || since - last_end_ < Clock::duration(awake_for).count();
  {
    const std::lock_guard lock(mutex_);
    loops_.push_back(&loop);
    ++announced_;
    if (woke) wake_one();
  }
  settings_.at_step();
  while (work_on_pieces(loop, 0)) {
    if (woke || Clock::now() - begin < settings_.wake_after) continue;
    woke = true;
    const std::lock_guard lock(mutex_);
    wake_one();
  }
  const auto own_end = Clock::now();
  settings_.at_step();
  std::unique_lock lock(mutex_);
  std::erase(loops_, &loop);
  if (loop.users > 0) {
    lock.unlock();
    stay_awake([&] { return loop.users == 0; });
    settings_.at_step();
    lock.lock();
    done_.wait(lock, [&] { return loop.users == 0; });
  }
  lock.unlock();
  const auto end = Clock::now();
  last_end_ = end.time_since_epoch().count();
  if (end - own_end > own_end - begin)
    alone_until_ = (end + settings_.rest_factor * (end - own_end)).time_since_epoch().count();
  if (loop.failure) std::rethrow_exception(loop.failure);
}

/// Ends all helpers. Loops then do without.
void ThreadPool::stop() {
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    ++announced_;
    ended.swap(threads_);
    work_.notify_all();
  }
  for (std::thread& each : ended) each.join();
}

void ThreadPool::restart(const Settings& settings) {
  stop();
  settings_ = settings;
  most_started_ = settings.most_helpers;
  stops_ = false;
  alone_until_ = 0;
}

/// In the child of a fork, which has only the thread that forked, and no loop.
void ThreadPool::forget_helpers() noexcept {
  std::construct_at(&mutex_);
  std::construct_at(&work_);
  std::construct_at(&done_);
  for (std::thread& each : threads_) std::construct_at(&each);
  threads_.clear();
  loops_.clear();
  asleep_ = 0;
}

int usable_threads(int threads) {
  if (threads <= 1) return 1;
  return std::min({threads, most_threads, ThreadPool::of_process().helpers() + 1});
}

}  // namespace posenc::detail
