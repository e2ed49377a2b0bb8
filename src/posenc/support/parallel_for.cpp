// Helper threads of parallel loops.
//
// A loop is a run of pieces. Its caller takes pieces from the front, helpers take them from the
// back, so that each writes the same memory again if the same table is encoded again. Whoever finds
// no piece left is done; the caller then waits only for pieces that a helper has begun.
//
// Three things could make a loop slower than on one thread. Each is bounded by what it may gain:
//   waking a helper      A helper that sleeps is woken if the loop takes long, or if loops follow
//                        each other closely, so that it stays awake for the next one.
//   starting a helper    The process has first spent many times as long in loops.
//   a preempted helper   The system may give its CPU to another process for milliseconds while the
//                        caller waits for its piece. The caller moves the helper to its own CPU and
//                        lets it run there. If that cost more than helpers gained, it does without
//                        them for a multiple of the loss.
//
// Measured at 512 x 512 on two CPUs (Zen 5, Debian 12), rotation and rotation32, the median over
// that of one thread, on a quiet machine and beside one busy process:
//   these helpers              0.56, 0.57    1.01, 1.02
//   OpenMP, static parts       0.54, 0.53     400, 1.1 to 600: its barrier waits for every thread
//   oneTBB 2021.8, automatic   0.59, 0.60    1.06, 1.15: and a library more for every program
#include "posenc/support/parallel_for.h"

#include "posenc/support/processors.h"
#include "posenc/support/threads.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace posenc {
namespace internal {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;

/// Waking a helper costs the caller 2 to 5 us. A loop wakes one after so long, if it has as long to
/// go.
constexpr Clock::duration wake_after = Microseconds(30);
/// Starting a helper costs the caller 20 to 50 us. The process has spent so long in loops before.
constexpr Clock::duration start_after = Microseconds(500);
/// A helper without work stays awake for so long: it yields its CPU to whoever wants it.
constexpr Clock::duration awake_for = Microseconds(100);
/// A piece that takes so much longer than the caller's is taken for one of a preempted helper.
constexpr Clock::duration patience = Microseconds(10);
/// Helpers rest for that many times as long as a caller has waited for a preempted one.
constexpr int rest_factor = 16;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A loop in progress, on the caller's stack.
class Loop {
 public:
  Loop(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body)
      : count_(count),
        grain_(std::max(grain, count / most_pieces + 1)),
        pieces_(static_cast<std::uint32_t>((count + grain_ - 1) / grain_)),
        threads_(
            static_cast<std::uint32_t>(std::min<std::int64_t>({threads, most_threads, pieces_}))),
        body_(body),
        left_(std::uint64_t{pieces_} << 32) {}

  /// Takes at least one and at most that many pieces from the front, and calls the body. Returns
  /// how many, or 0 if none were left.
  std::uint32_t run_front(std::uint32_t most) noexcept { return run(most, true, 0); }
  /// Takes pieces from the back.
  std::uint32_t run_back(int thread) noexcept {
    return run(std::min(left() / (2 * threads_), most_at_back()), false, thread);
  }
  /// A caller that has run out of pieces waits for no more than these.
  std::uint32_t most_at_back() const noexcept { return std::max(1u, pieces_ / 32); }

  std::uint32_t left() const noexcept { return pieces_of(left_.load(std::memory_order_relaxed)); }
  std::uint32_t pieces() const noexcept { return pieces_; }
  std::uint32_t threads() const noexcept { return threads_; }
  /// The number of a thread that begins to work on it.
  int join() noexcept { return ++joined_; }
  void count_offer() noexcept { ++offers_; }
  bool has_helpers() const noexcept { return joined_.load(std::memory_order_relaxed) > 0; }
  bool has_offers() const noexcept { return offers_ > 0; }
  bool wants_more() const noexcept { return offers_ + 1 < threads_; }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr std::int64_t most_pieces = std::int64_t{1} << 30;

  static std::uint32_t begin_of(std::uint64_t left) noexcept {
    return static_cast<std::uint32_t>(left);
  }
  static std::uint32_t end_of(std::uint64_t left) noexcept {
    return static_cast<std::uint32_t>(left >> 32);
  }
  static std::uint32_t pieces_of(std::uint64_t left) noexcept {
    return end_of(left) - begin_of(left);
  }

  std::uint32_t run(std::uint32_t most, bool from_front, int thread) noexcept {
    std::uint64_t left = left_.load(std::memory_order_relaxed), rest = 0;
    std::uint32_t first = 0, last = 0;
    do {
      const std::uint32_t begin = begin_of(left), end = end_of(left);
      if (begin == end) return 0;
      const std::uint32_t taken = std::clamp(most, 1u, end - begin);
      first = from_front ? begin : end - taken;
      last = first + taken;
      rest = from_front ? std::uint64_t{end} << 32 | last : std::uint64_t{first} << 32 | begin;
    } while (!left_.compare_exchange_weak(left, rest, std::memory_order_relaxed));
    try {
      body_.call(body_.work, first * grain_, std::min(last * grain_, count_), thread);
    } catch (...) {
      left_.store(0, std::memory_order_relaxed);
      const std::lock_guard lock(failure_mutex_);
      failure_ = std::current_exception();
    }
    return last - first;
  }

  std::int64_t count_, grain_;
  std::uint32_t pieces_, threads_;
  LoopBody body_;
  std::atomic<int> joined_ = 0;
  std::atomic<std::uint32_t> offers_ = 0;
  /// The first piece that nobody has begun, and in the upper half the one after the last.
  std::atomic<std::uint64_t> left_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

/// A helper thread. Its mailbox holds nothing, a loop that it may begin, or one that it has begun.
class alignas(64) Helper {
 public:
  /// Offers the loop if the mailbox is empty.
  bool offer(Loop& loop) noexcept {
    std::uintptr_t none = 0;
    if (mailbox_.load(std::memory_order_relaxed) != 0) return false;
    return mailbox_.compare_exchange_strong(none, address(loop));
  }
  /// Ends the offer of a loop; false if the helper has begun it and not ended.
  bool withdraw(Loop& loop) noexcept {
    std::uintptr_t offered = address(loop);
    if (mailbox_.compare_exchange_strong(offered, 0)) return true;
    return offered != (address(loop) | begun);
  }
  bool has_begun(Loop& loop) const noexcept {
    return mailbox_.load(std::memory_order_acquire) == (address(loop) | begun);
  }

  bool is_asleep() const noexcept { return asleep_.load(std::memory_order_relaxed) != 0; }
  void wake() noexcept {
    if (asleep_.exchange(0) != 0) asleep_.notify_one();
  }

  bool is_started() const noexcept { return is_started_.load(std::memory_order_acquire); }
  /// Throws std::system_error.
  void start() {
    thread_ =
        start_helper_thread([](void* helper) { static_cast<Helper*>(helper)->serve(); }, this);
    is_started_.store(true, std::memory_order_release);
  }
  void stop() {
    stops_ = true;
    wake();
    thread_.join();
  }
  /// In the child of a fork, where no helper is.
  void forget() noexcept {
    std::construct_at(&thread_);
    is_started_ = false;
    mailbox_ = 0;
    asleep_ = 1;
  }

  /// Waits for the end of a loop that the helper has begun, and that it cannot end since it is
  /// preempted: moves the helper to the CPU of the caller, and lets it run there.
  void bring_here(Loop& loop) noexcept;

 private:
  static constexpr std::uintptr_t begun = 1;
  static std::uintptr_t address(Loop& loop) noexcept {
    return reinterpret_cast<std::uintptr_t>(&loop);
  }

  void serve() noexcept;
  void idle() noexcept;

  std::atomic<std::uintptr_t> mailbox_ = 0;
  std::atomic<int> asleep_ = 1;
  std::atomic<bool> stops_ = false;
  std::atomic<bool> was_moved_ = false;
  std::atomic<bool> is_started_ = false;
  std::thread thread_;
};

/// The helpers of the process. A loop has no more threads than there are CPUs.
class Helpers {
 public:
  static Helpers& get() {
    // Never destroyed: a thread may run a loop while the program exits.
    static Helpers& helpers = *new Helpers;
    // No thread may outlive its code, should the library be unloaded.
    static const struct Stop {
      bool is_needed = !keep_loaded();
      ~Stop() {
        if (is_needed) helpers.stop();
      }
    } stop;
    return helpers;
  }

  int count() const noexcept { return count_; }
  void run(Loop& loop);
  /// Offers the loop to helpers that are awake. Wakes or starts at most one, if it may.
  void recruit(Loop& loop, bool may_wake) noexcept;

 private:
  Helpers() : count_(std::max(0, usable_cpus() - 1)), helpers_(new Helper[count_]) {
    at_fork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); },
            [] {
              for (int i = 0; i < get().count_; ++i) get().helpers_[i].forget();
              get().mutex_.unlock();
            });
  }

  void start(Helper& helper) noexcept;
  void stop() noexcept;
  /// Ends all offers, and waits for helpers that have begun. `gained` is what their pieces would
  /// have taken the caller.
  void finish(Loop& loop, Clock::duration per_piece, Clock::duration gained) noexcept;

  std::mutex mutex_;  ///< of starting and stopping
  const int count_;
  std::atomic<bool> can_start_ = true;
  std::unique_ptr<Helper[]> helpers_;
  std::atomic<Clock::rep> spent_ = 0;  ///< in loops, by their callers
  std::atomic<Clock::rep> last_end_ = 0, rest_until_ = 0;
};

void Helper::serve() noexcept {
  for (;;) {
    if (stops_) return;
    std::uintptr_t offered = mailbox_.load(std::memory_order_acquire);
    if (offered == 0) {
      idle();
      continue;
    }
    if (!mailbox_.compare_exchange_strong(offered, offered | begun)) continue;
    Loop& loop = *reinterpret_cast<Loop*>(offered);
    const int thread = loop.join();
    do {
      if (loop.left() > loop.threads()) Helpers::get().recruit(loop, true);
    } while (loop.run_back(thread));
    mailbox_.store(0, std::memory_order_release);
  }
}

void Helper::idle() noexcept {
  constexpr int pauses = 64;
  const auto sleep_at = Clock::now() + awake_for;
  while (!was_moved_ && Clock::now() < sleep_at) {
    for (int i = 0; i < pauses; ++i) {
      if (mailbox_.load(std::memory_order_relaxed) != 0) return;
      pause();
    }
    std::this_thread::yield();
  }
  was_moved_ = false;
  asleep_ = 1;
  if (mailbox_ == 0 && !stops_) asleep_.wait(1);
  asleep_ = 0;
}

void Helper::bring_here(Loop& loop) noexcept {
  was_moved_ = true;
  wait_on_this_cpu(thread_, [&] { return has_begun(loop); });
}

void Helpers::start(Helper& helper) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !can_start_ || helper.is_started()) return;
  try {
    helper.start();
  } catch (const std::system_error&) {
    can_start_ = false;
  }
}

void Helpers::stop() noexcept {
  const std::lock_guard lock(mutex_);
  can_start_ = false;
  for (int i = 0; i < count_; ++i) {
    if (helpers_[i].is_started()) helpers_[i].stop();
  }
}

void Helpers::recruit(Loop& loop, bool may_wake) noexcept {
  for (int i = 0; i < count_ && loop.wants_more(); ++i) {
    Helper& helper = helpers_[i];
    if (!helper.is_started()) {
      if (may_wake && spent_.load(std::memory_order_relaxed) >= (i + 1) * start_after.count())
        start(helper);
      return;
    }
    const bool is_asleep = helper.is_asleep();
    if ((is_asleep && !may_wake) || !helper.offer(loop)) continue;
    helper.wake();
    loop.count_offer();
    if (is_asleep) may_wake = false;
  }
}

void Helpers::finish(Loop& loop, Clock::duration per_piece, Clock::duration gained) noexcept {
  if (!loop.has_offers()) return;
  const auto begin = Clock::now();
  const auto move_at = begin + patience + per_piece * loop.most_at_back();
  // A helper that works on the loop may offer it to others.
  bool was_moved = false;
  for (bool were_busy = true; were_busy;) {
    were_busy = false;
    for (int i = 0; i < count_; ++i) {
      Helper& helper = helpers_[i];
      if (helper.withdraw(loop)) continue;
      were_busy = true;
      while (helper.has_begun(loop)) {
        pause();
        if (Clock::now() < move_at) continue;
        helper.bring_here(loop);
        was_moved = true;
      }
    }
  }
  if (!was_moved) return;
  const auto end = Clock::now();
  const auto lost = end - begin - gained;
  if (lost.count() > 0) rest_until_ = (end + rest_factor * lost).time_since_epoch().count();
}

void Helpers::run(Loop& loop) {
  const auto begin = Clock::now();
  const auto since = begin.time_since_epoch().count();
  const bool may_recruit = since >= rest_until_.load(std::memory_order_relaxed);
  const bool follows = since - last_end_.load(std::memory_order_relaxed) < awake_for.count() / 2;
  if (may_recruit) recruit(loop, follows);
  Clock::duration per_piece = {};
  std::uint32_t done = 0;
  std::uint32_t share = loop.has_offers() ? loop.pieces() / loop.threads() : loop.pieces() / 8;
  while (const std::uint32_t taken = loop.run_front(share)) {
    done += taken;
    const auto elapsed = Clock::now() - begin;
    const std::uint32_t left = loop.left();
    per_piece = elapsed / done;
    const bool is_long = per_piece * left > wake_after;
    if (may_recruit && is_long && elapsed > wake_after && loop.wants_more()) recruit(loop, true);
    if (!is_long && !loop.has_helpers()) {
      share = left;
    } else if (loop.wants_more()) {
      share = std::min(left / loop.threads(), loop.pieces() / 16);
    } else {
      share = left / loop.threads();
    }
  }
  finish(loop, per_piece, per_piece * (loop.pieces() - done));
  const auto end = Clock::now();
  spent_.fetch_add((end - begin).count(), std::memory_order_relaxed);
  last_end_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
  loop.rethrow();
}

}  // namespace

void run_loop(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body) {
  const int usable = usable_threads(threads);
  if (usable == 1) return body.call(body.work, 0, count, 0);
  Loop loop(count, grain, usable, body);
  Helpers::get().run(loop);
}

}  // namespace internal

int usable_threads(int threads) {
  if (threads <= 1) return 1;
  return std::min({threads, most_threads, internal::Helpers::get().count() + 1});
}

}  // namespace posenc
