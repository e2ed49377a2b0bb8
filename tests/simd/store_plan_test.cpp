// How the rows of a table are stored. Bits do not depend on it, so that no other test would notice.
#include "posenc/simd/store_plan.h"

#include "posenc/model/simd/kernels.h"

#include "posenc/encode_options.h"
#include "posenc/support/cache_line.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace posenc::simd {
namespace {

TEST(StorePlans, LargeTablesAreNonTemporalUnlessThePolicySaysOtherwise) {
  const std::int64_t most = most_cached_bytes();
  for (const std::int64_t bytes : {std::int64_t{1}, most, most + 1, 100 * most}) {
    EXPECT_EQ(is_non_temporal(StorePolicy::automatic, bytes), bytes > most) << bytes;
    EXPECT_FALSE(is_non_temporal(StorePolicy::cached, bytes)) << bytes;
    EXPECT_TRUE(is_non_temporal(StorePolicy::non_temporal, bytes)) << bytes;
  }
}

struct Case {
  const char* what;
  std::int64_t d_model, stride, offset;  ///< elements of float32
  Layout layout;
  Writer writer;
  std::int64_t float_lanes;
  StoreMethod expected;
};

TEST(StorePlans, FollowFromAlignmentAndLength) {
  constexpr auto interleaved = Layout::interleaved, halves = Layout::halves;
  constexpr auto plain = StoreMethod::plain, lines = StoreMethod::lines,
                 realigned = StoreMethod::realigned, staged = StoreMethod::staged;
  constexpr std::int64_t avx2 = 8, avx512 = 16;
  const Case cases[] = {
      {"whole lines", 512, 512, 0, interleaved, Writer::tiles, avx512, lines},
      {"whole lines, halves", 64, 64, 0, halves, Writer::tiles, avx512, lines},
      {"the first row begins within a line", 512, 512, 1, interleaved, Writer::tiles, avx512,
       realigned},
      {"rows begin within lines", 256, 259, 0, interleaved, Writer::tiles, avx512, realigned},
      {"too short to be realigned", 252, 259, 0, interleaved, Writer::tiles, avx512, staged},
      {"halves too short to be realigned", 510, 515, 0, halves, Writer::tiles, avx512, staged},
      {"vectors of half a line", 512, 512, 1, interleaved, Writer::tiles, avx2, staged},
      {"pairs of rows are not realigned", 512, 512, 1, interleaved, Writer::pairs, avx512, staged},
      {"halves that end within a line", 520, 528, 0, halves, Writer::pairs, avx2, staged},
      {"the shortest that is staged", 64, 67, 0, interleaved, Writer::pairs, avx2, staged},
      {"too short to be staged", 60, 67, 0, interleaved, Writer::pairs, avx2, plain},
      {"no buffer for doubles", 512, 515, 0, interleaved, Writer::doubles, avx512, plain},
      {"doubles of whole lines", 512, 512, 0, interleaved, Writer::doubles, avx2, lines},
      {"pairs whole pages apart", 1024, 1024, 0, interleaved, Writer::pairs, avx2, lines},
      {"sums whole pages apart", 1024, 1024, 0, interleaved, Writer::sums, avx2, staged},
      {"sums half pages apart", 512, 512, 0, interleaved, Writer::sums, avx2, staged},
      {"sums of other strides", 512, 528, 0, interleaved, Writer::sums, avx2, lines},
      {"tiles half pages apart", 512, 512, 0, interleaved, Writer::tiles, avx2, lines},
  };
  alignas(cache_line_bytes) static float memory[16];  // never written
  for (const Case& each : cases) {
    const EncodingSpec spec = {.d_model = each.d_model, .layout = each.layout};
    const RowTask task = {0, 100, memory + each.offset, each.stride, DataType::float32};
    const StorePlan plan = plan_stores(spec, task, true, each.writer, each.float_lanes);
    EXPECT_EQ(plan.method, each.expected) << each.what;
    EXPECT_EQ(plan.at_pages, each.stride % 1024 == 0) << each.what;
    EXPECT_EQ(plan_stores(spec, task, false, each.writer, each.float_lanes).method, plain)
        << each.what;
  }
}

TEST(StorePlans, OfSumsAndJoinedRows) {
  alignas(cache_line_bytes) static float memory[32];
  const std::vector<std::int64_t> whole = {512, 1024}, partial = {512, 1000};
  EXPECT_EQ(plan_combined_rows(true, DataType::float32, memory, whole), StoreMethod::lines);
  EXPECT_EQ(plan_combined_rows(false, DataType::float32, memory, whole), StoreMethod::plain);
  EXPECT_EQ(plan_combined_rows(true, DataType::bfloat16, memory, whole), StoreMethod::plain);
  EXPECT_EQ(plan_combined_rows(true, DataType::float32, memory + 1, whole), StoreMethod::plain);
  EXPECT_EQ(plan_combined_rows(true, DataType::float32, memory, partial), StoreMethod::plain);
  EXPECT_EQ(plan_joined_rows(true, 512), StoreMethod::staged);
  EXPECT_EQ(plan_joined_rows(false, 512), StoreMethod::plain);
  EXPECT_EQ(plan_joined_rows(true, std::int64_t{1} << 30), StoreMethod::plain);
}

}  // namespace
}  // namespace posenc::simd
