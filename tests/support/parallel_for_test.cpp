// The parallel loop: its parts, and what it does with exceptions.
#include "posenc/support/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace posenc {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 53;

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 100, 1'000'000}) {
    for (const std::int64_t count : {0, 1, 2, 7, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      std::atomic<std::int64_t> parts = 0;
      parallel_for(count, threads, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_LT(begin, end);
        ++parts;
        for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      for (const auto& each : visits) EXPECT_EQ(each, 1);
      EXPECT_LE(parts, std::min<std::int64_t>({count, threads, most_threads}));
    }
  }
}

TEST(ParallelFor, PartsOfLargeCountsDoNotOverflow) {
  EXPECT_EQ(part_begin(large, 1000, 0), 0);
  EXPECT_EQ(part_begin(large, 1000, 1000), large);
  EXPECT_LT(part_begin(large, 1000, 999), large);
}

TEST(ParallelFor, ThrowsWhatTheWorkThrewWhenAllPartsHaveEnded) {
  for (const int threads : {1, 4}) {
    std::atomic<int> ended = 0;
    EXPECT_THROW(parallel_for(4, threads,
                              [&](std::int64_t begin, std::int64_t) {
                                ++ended;
                                if (begin == 0) throw std::runtime_error("lost");
                              }),
                 std::runtime_error);
    EXPECT_EQ(ended, threads);
  }
}

}  // namespace
}  // namespace posenc
