// The parallel loop: its pieces, exceptions, nested and simultaneous loops, engines, forks.
#include "posenc/support/parallel_for.h"

#include "posenc/model/axes_encoder.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/registry.h"
#include "posenc/selection.h"

#include "support.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace posenc::test {

using namespace model;
namespace {

constexpr std::int64_t large = std::int64_t{1} << 53;

/// Works for some microseconds, as long as helpers need to begin.
void spend(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Repeats what other processes may delay: a helper comes when a CPU is free. False if it does not.
template <class Attempt>
bool repeat_until(const Attempt& succeeds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!succeeds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// After so long a loop, helpers are started and awake, if the machine has two CPUs.
void start_helpers(int threads) {
  parallel_for(1000, 1, threads, [](std::int64_t begin, std::int64_t end, int) {
    spend(std::chrono::microseconds(20 * (end - begin)));
  });
}

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 100, 1'000'000}) {
    start_helpers(threads);
    for (const std::int64_t grain : {1, 3, 64}) {
      for (const std::int64_t count : {0, 1, 2, 7, 128, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        std::atomic<bool> is_short = false;
        parallel_for(count, grain, threads, [&](std::int64_t begin, std::int64_t end, int) {
          EXPECT_LT(begin, end);
          is_short = is_short || (end - begin < grain && end != count);
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        for (const auto& each : visits) EXPECT_EQ(each, 1);
        EXPECT_FALSE(is_short);
      }
    }
  }
}

TEST(ParallelFor, PartsOfLargeCountsDoNotOverflow) {
  EXPECT_EQ(part_begin(large, 1000, 0), 0);
  EXPECT_EQ(part_begin(large, 1000, 1000), large);
  EXPECT_LT(part_begin(large, 1000, 999), large);
  std::atomic<std::int64_t> sum = 0;
  parallel_for(large, 1, 8, [&](std::int64_t begin, std::int64_t end, int) { sum += end - begin; });
  EXPECT_EQ(sum, large);
}

/// The sum of [0, count), by loops in loops.
std::int64_t nested_sum(std::int64_t count, int threads) {
  std::atomic<std::int64_t> sum = 0;
  parallel_for(count, 1, threads, [&](std::int64_t begin, std::int64_t end, int) {
    parallel_for(end - begin, 1, threads, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t i = begin + first; i < begin + last; ++i) sum += i;
      spend(std::chrono::microseconds(10));
    });
  });
  return sum;
}

/// Yields often, so that threads meet at each step of the protocol, whatever CPUs there are.
void yield_at_random() {
  static thread_local std::minstd_rand random(
      static_cast<unsigned>(std::hash<std::thread::id>()(std::this_thread::get_id())));
  for (auto turns = random() % 4; turns > 0; --turns) std::this_thread::yield();
}

/// The number of helpers is the parameter, whatever the number of CPUs.
class Helpers : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    restart_pool({GetParam(), /*wake_after=*/{}, /*rest_factor=*/0, yield_at_random});
  }
  void TearDown() override { restart_pool({before_}); }

 private:
  const int before_ = usable_threads(most_threads) - 1;
};

/// Loops of 1 to all threads by several callers at once. Each loop must cover every index once, and
/// end no earlier than its threads; threads must have different numbers, below the number of
/// threads that was asked for.
TEST_P(Helpers, ShareLoopsOfManyCallers) {
  const int helpers = GetParam();
  std::atomic<int> wrong = 0, most_threads_seen = 0;
  const auto call = [&](int caller) {
    for (int repetition = 0; repetition < 400; ++repetition) {
      const int threads = 2 + (repetition + caller) % helpers;
      const std::int64_t count = 2 + repetition % 40;
      std::vector<std::atomic<int>> users(static_cast<std::size_t>(threads));
      std::vector<int> visits(static_cast<std::size_t>(count));
      parallel_for(count, 1, threads, [&](std::int64_t begin, std::int64_t end, int thread) {
        if (thread < 0 || thread >= threads || thread >= usable_threads(threads)) {
          ++wrong;
          return;
        }
        most_threads_seen = std::max(most_threads_seen.load(), thread + 1);
        wrong += ++users[static_cast<std::size_t>(thread)] != 1;
        yield_at_random();
        // The visits are not atomic, so ThreadSanitizer sees whether the caller waits for them.
        for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        --users[static_cast<std::size_t>(thread)];
      });
      for (const int each : visits) wrong += each != 1;
    }
  };
  for (const int callers : {1, 3}) {
    std::vector<JoiningThread> threads;
    for (int i = 0; i < callers; ++i) threads.emplace_back([&, i] { call(i); });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(most_threads_seen, 1) << "no helper ever came";
}

/// Each helper has a part of the table in its cache.
TEST_P(Helpers, AreTheSameInTheNextLoop) {
  std::set<std::thread::id> seen;
  const auto loop = [&](int threads) {
    std::mutex mutex;
    parallel_for(100, 1, threads, [&](std::int64_t, std::int64_t, int thread) {
      yield_at_random();
      const std::lock_guard lock(mutex);
      if (thread > 0) seen.insert(std::this_thread::get_id());
    });
  };
  repeat_until([&] { return loop(GetParam() + 1), seen.size() > 1; });
  EXPECT_GT(seen.size(), 1U);
  seen.clear();
  repeat_until([&] { return loop(2), !seen.empty(); });
  for (int repetition = 0; repetition < 50; ++repetition) loop(2);
  EXPECT_EQ(seen.size(), 1U);
}

/// Each of two callers waits in its loop until a helper of the other's has come. Nobody is asked
/// before a loop's first piece is done.
TEST_P(Helpers, WorkForCallersAtOnce) {
  std::atomic<bool> are_late = false;
  for (int repetition = 0; repetition < 100 && !are_late; ++repetition) {
    std::atomic<bool> has_come[2] = {};
    std::vector<JoiningThread> callers;
    for (int caller = 0; caller < 2; ++caller) {
      callers.emplace_back([&, caller] {
        parallel_for(4, 1, 2, [&](std::int64_t begin, std::int64_t, int thread) {
          if (begin == 0) return;
          if (thread > 0) has_come[caller] = true;
          if (!repeat_until([&] { return has_come[0] && has_come[1]; })) are_late = true;
        });
      });
    }
  }
  EXPECT_FALSE(are_late);
}

TEST_P(Helpers, MayNestLoopsAndThrow) {
  std::atomic<int> wrong = 0;
  const auto call = [&] {
    for (int repetition = 0; repetition < 50; ++repetition) {
      wrong += nested_sum(40, GetParam()) != 780;
      std::atomic<int> working = 0;
      try {
        parallel_for(40, 1, GetParam(), [&](std::int64_t begin, std::int64_t end, int) {
          ++working;
          yield_at_random();
          --working;
          if (begin <= 20 && 20 < end) throw std::runtime_error("lost");
        });
        ++wrong;
      } catch (const std::runtime_error&) {
        wrong += working != 0;  // a thread still works on it
      }
    }
  };
  {
    std::vector<JoiningThread> callers;
    for (int i = 0; i < 3; ++i) callers.emplace_back(call);
  }
  EXPECT_EQ(wrong, 0);
}

/// Runs each piece in a thread of its own, the last one first.
class Engine : public EngineThreads {
 public:
  void run(int count, const std::function<void(int)>& piece) override {
    std::vector<JoiningThread> threads;
    for (int i = count - 1; i >= 0; --i) threads.emplace_back([&piece, i] { piece(i); });
    pieces += count;
  }
  int pieces = 0;
};

/// Every call that takes threads, on tables of several pieces.
Matrix made_by(int call, const Threads& threads) {
  constexpr std::int64_t rows = 700, d_model = 256;
  Matrix table(rows, d_model);
  std::fill_n(table.data(), rows * d_model, 0.75F);
  const auto encoder = backend("rotation").plan({.d_model = d_model});
  const std::vector<std::int64_t> scattered = positions_of({7, rows});
  const Rotary rotary(d_model);
  const auto axes = axes_in_blocks({d_model / 2, d_model / 2}, {});
  std::vector<std::int64_t> on_axes(2 * rows);
  std::iota(on_axes.begin(), on_axes.end(), -5);
  switch (call) {
    case 0: encoder->encode(RowRange{-3, rows}, table, threads); break;
    case 1: encoder->encode(scattered, table, threads); break;
    case 2: encoder->add(RowRange{-300, rows}, table.view(), 2, table.view(), threads); break;
    case 3:
      AxesEncoder(axes).encode(RowPositions(on_axes.data(), 2, rows, rows), table, threads);
      break;
    case 4: rotary.cache(RowRange{-3, rows}, RotaryLayout::halves, table, threads); break;
    case 5:
      rotary.apply(rows_first(table.data(), 1, rows, 1, d_model), 5, {.threads = threads});
      break;
    default:
      PositionalEncoding({.d_model = d_model}, rows)
          .forward(batch_first(table.data(), 1, rows, d_model), {.threads = threads});
  }
  return table;
}

/// Sanitizers watch the bounds of the memory that each thread has.
TEST_P(Helpers, AndEnginesDoNotChangeWhatIsWritten) {
  for (int call = 0; call <= 6; ++call) {
    SCOPED_TRACE(call);
    const Matrix expected = made_by(call, 1);
    for (const int threads : {2, 3, GetParam(), GetParam() + 1}) {
      for (int repetition = 0; repetition < 3; ++repetition)
        ASSERT_TRUE(same_bits(made_by(call, threads), expected)) << threads << " threads";
    }
    Engine engine;
    EXPECT_TRUE(same_bits(made_by(call, {GetParam(), engine}), expected));
    EXPECT_GE(engine.pieces, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(ParallelFor, Helpers, testing::Values(2, 3, 8, 16));

TEST(ParallelFor, OnAnEngineThatFailsIsAnError) {
  struct Failing : EngineThreads {
    void run(int, const std::function<void(int)>& piece) override {
      piece(0);
      if (throws) throw std::runtime_error("no thread is free");
    }
    bool throws = false;
  } engine;
  Matrix table(300, 256);
  const auto encoder = backend("rotation").plan({.d_model = 256});
  const auto encode = [&] { encoder->encode(RowRange{0, 300}, table, Threads(2, engine)); };
  EXPECT_THROW(encode(), std::logic_error);  // a piece is missing
  engine.throws = true;
  EXPECT_THROW(encode(), std::runtime_error);
}

#ifdef __linux__
TEST(ParallelFor, HelpersDoNotKeepTheStateOfWhoStartedThem) {
  const int before = usable_threads(most_threads) - 1;
  restart_pool({.most_helpers = 2, .rest_factor = 0});
  cpu_set_t of_process;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof of_process, &of_process), 0);
  std::atomic<int> seen = 0, wrong = 0;
  const auto check = [&](std::int64_t, std::int64_t, int thread) {
    spend(std::chrono::microseconds(100));
    if (thread == 0) return;
    ++seen;
    wrong += std::fegetround() != FE_TONEAREST;
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    wrong += CPU_COUNT(&allowed) != CPU_COUNT(&of_process);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE}) wrong += sigismember(&blocked, fault) != 0;
    wrong += sigismember(&blocked, SIGTERM) != 1;
  };
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (unsigned cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &of_process)) CPU_SET(cpu, &one);
    }
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    std::fesetround(FE_UPWARD);
    repeat_until([&] { return parallel_for(100, 1, 3, check), seen > 0; });
  }).join();
  restart_pool({before});
  EXPECT_GT(seen, 0);
  EXPECT_EQ(wrong, 0);
}

/// A thread that is cancelled while it waits for its helpers, or works itself, ends after the loop.
TEST(ParallelFor, ACancelledThreadEndsAfterItsLoop) {
  const int before = usable_threads(most_threads) - 1;
  restart_pool({.most_helpers = 2, .rest_factor = 0});
  struct Shared {
    std::atomic<bool> has_begun = false, is_cancelled = false;
    std::atomic<int> pieces = 0;
    std::atomic<bool> has_returned = false;
  } shared;
  pthread_t caller;
  const auto loop_and_wait = [](void* of_test) -> void* {
    Shared& state = *static_cast<Shared*>(of_test);
    parallel_for(30, 1, 3, [&](std::int64_t begin, std::int64_t end, int thread) {
      state.has_begun = true;
      while (!state.is_cancelled) std::this_thread::yield();
      // The caller sleeps until its helpers end.
      std::this_thread::sleep_for(std::chrono::milliseconds(thread == 0 ? 0 : 2));
      state.pieces += static_cast<int>(end - begin);
    });
    pthread_testcancel();
    state.has_returned = true;
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&caller, nullptr, loop_and_wait, &shared), 0);
  while (!shared.has_begun) std::this_thread::yield();
  pthread_cancel(caller);
  shared.is_cancelled = true;
  void* result = nullptr;
  pthread_join(caller, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(shared.pieces, 30);
  EXPECT_FALSE(shared.has_returned);
  restart_pool({before});
}
#endif

TEST(ParallelFor, HasHelpersWhereThereAreCpus) {
  EXPECT_EQ(usable_threads(1), 1);
  EXPECT_LE(usable_threads(1'000'000), most_threads);
  if (usable_threads(2) < 2) GTEST_SKIP() << "one CPU";
  std::atomic<int> largest = 0;
  EXPECT_TRUE(repeat_until([&] {
    parallel_for(100, 1, 2, [&](std::int64_t begin, std::int64_t end, int thread) {
      if (thread > 0) largest = thread;
      spend(std::chrono::microseconds(20 * (end - begin)));
    });
    return largest == 1;
  }));
}

#ifndef _WIN32
/// multiprocessing.Pool and the workers of PyTorch's DataLoader fork. The parent has helpers, which
/// its child lacks. Encodes often enough that each starts helpers of its own.
TEST(ParallelFor, WorksBeforeAndAfterAFork) {
  if (is_thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in such a child";
  const auto encoder = backend("rotation").plan({.d_model = 1024});
  const Matrix expected = encode(500, 1024);
  const auto is_right = [&](int repetitions) {
    bool are_equal = true;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      Matrix table(500, 1024);
      encoder->encode(RowRange{0, 500}, table.view(), 2);
      are_equal &= same_bits(table, expected);
      are_equal &= nested_sum(100, 4) == 4950;
    }
    return are_equal;
  };
  EXPECT_TRUE(is_right(100));
  for (int children = 0; children < 3; ++children) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);                         // A child that hangs ends by a signal.
      std::exit(is_right(100) ? 0 : 1);  // Also ends the helpers of the child.
    }
    EXPECT_TRUE(is_right(5));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
}
#endif

}  // namespace
}  // namespace posenc::test
