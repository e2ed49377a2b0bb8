// The parallel loop: its pieces, exceptions, nested and simultaneous loops, forks.
#include "posenc/support/parallel_for.h"

#include "posenc/registry.h"
#include "posenc/selection.h"

#include "support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace posenc {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 53;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define POSENC_THREAD_SANITIZER
#endif
#endif
#ifdef POSENC_THREAD_SANITIZER
constexpr bool is_thread_sanitizer = true;
#else
constexpr bool is_thread_sanitizer = false;
#endif

/// Works for some microseconds, as long as helpers need to begin.
void spend(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
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

TEST(ParallelFor, GivesThreadsThatWorkAtOnceDifferentNumbers) {
  constexpr int threads = 8;
  std::vector<std::atomic<int>> users(threads);
  std::atomic<int> clashes = 0;
  for (int repetition = 0; repetition < 50; ++repetition) {
    parallel_for(64, 1, threads, [&](std::int64_t, std::int64_t, int thread) {
      ASSERT_LT(thread, usable_threads(threads));
      clashes += ++users[static_cast<std::size_t>(thread)] != 1;
      spend(std::chrono::microseconds(20));
      --users[static_cast<std::size_t>(thread)];
    });
  }
  EXPECT_EQ(clashes, 0);
}

TEST(ParallelFor, HasHelpersWhereThereAreCpus) {
  EXPECT_EQ(usable_threads(1), 1);
  EXPECT_LE(usable_threads(1'000'000), most_threads);
  if (usable_threads(2) < 2) GTEST_SKIP() << "one CPU";
  // A helper comes when its CPU is free.
  std::set<int> seen;
  for (int attempt = 0; attempt < 1000 && seen.size() < 2; ++attempt) {
    std::vector<std::atomic<bool>> used(2);
    parallel_for(100, 1, 2, [&](std::int64_t begin, std::int64_t end, int thread) {
      used[static_cast<std::size_t>(thread)] = true;
      spend(std::chrono::microseconds(20 * (end - begin)));
    });
    for (int i = 0; i < 2; ++i) {
      if (used[static_cast<std::size_t>(i)]) seen.insert(i);
    }
  }
  EXPECT_EQ(seen.size(), 2);
}

TEST(ParallelFor, ThrowsWhatTheWorkThrew) {
  for (const int threads : {1, 4}) {
    for (int repetition = 0; repetition < 20; ++repetition) {
      std::atomic<int> working = 0;
      EXPECT_THROW(parallel_for(100, 1, threads,
                                [&](std::int64_t begin, std::int64_t end, int) {
                                  ++working;
                                  spend(std::chrono::microseconds(20));
                                  --working;
                                  if (begin <= 50 && 50 < end) throw std::runtime_error("lost");
                                }),
                   std::runtime_error);
      EXPECT_EQ(working, 0) << "a thread still worked on it";
    }
  }
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

TEST(ParallelFor, MayBeNested) {
  start_helpers(4);
  for (int repetition = 0; repetition < 100; ++repetition) EXPECT_EQ(nested_sum(50, 4), 1225);
}

TEST(ParallelFor, ServesManyCallersAtOnce) {
  std::atomic<int> wrong = 0;
  {
    std::vector<test::JoiningThread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        for (int repetition = 0; repetition < 50; ++repetition) wrong += nested_sum(40, 3) != 780;
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

#ifndef _WIN32
/// Helpers do not exist in the child of a fork; it starts its own.
TEST(ParallelFor, WorksInTheChildOfAFork) {
  if (is_thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in such a child";
  start_helpers(4);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // A child that hangs ends by a signal.
    bool is_right = true;
    for (int repetition = 0; repetition < 20; ++repetition)
      is_right = is_right && nested_sum(100, 4) == 4950;
    std::exit(is_right ? 0 : 1);  // Also ends the helpers of the child.
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  EXPECT_EQ(nested_sum(50, 4), 1225);
}

/// As multiprocessing.Pool and the workers of PyTorch's DataLoader do: the parent has helpers,
/// which its child lacks. Encodes often enough that each starts helpers of its own.
TEST(ParallelFor, ServesEncodersBeforeAndAfterAFork) {
  if (is_thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in such a child";
  const auto encoder = backend("rotation").plan({.d_model = 1024});
  const Matrix expected = encode(500, 1024);
  const auto is_right = [&](int repetitions) {
    bool are_equal = true;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      Matrix table(500, 1024);
      encoder->encode(RowRange{0, 500}, table.view(), 2);
      are_equal &= std::memcmp(table.data(), expected.data(), 500 * 1024 * sizeof(float)) == 0;
    }
    return are_equal;
  };
  EXPECT_TRUE(is_right(100));
  for (int children = 0; children < 3; ++children) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);  // A child that hangs ends by a signal.
      std::exit(is_right(100) ? 0 : 1);
    }
    EXPECT_TRUE(is_right(5));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
}
#endif

}  // namespace
}  // namespace posenc
