// rotation over more than 10^8 entries of float32, and more than 10^7 of every other type: every
// entry is correctly rounded, and every ISA gives the same bits.
#include "posenc/registry.h"
#include "support.h"

#include <ostream>
#include <thread>

namespace posenc::test {
namespace {

struct LargeTable {
  const char* name;
  EncodingSpec spec;
  RowRange rows;

  friend std::ostream& operator<<(std::ostream& out, const LargeTable& table) {
    return out << table.name;
  }
};

constexpr std::int64_t far = 1'000'000'000'000;

// 1.3 * 10^7 entries each. The conventions, bases and positions differ in which values are small
// and in how large the phases are.
const LargeTable large_tables[] = {
    {"tutorial", {.d_model = 512}, {0, 25'000}},
    {"whisper",
     {.d_model = 1280, .layout = Layout::halves, .spacing = Spacing::inclusive},
     {0, 10'000}},
    {"wide", {.d_model = 4096}, {100'000, 3'200}},
    {"long_context", {.d_model = 128}, {1'000'000, 100'000}},
    {"far", {.d_model = 256, .layout = Layout::halves_cos_first}, {far, 50'000}},
    {"farthest", {.d_model = 64}, {max_position - 200'000, 200'001}},
    {"rope_base", {.d_model = 128, .base = 500'000}, {0, 100'000}},
    {"base_2", {.d_model = 512, .base = 2}, {std::int64_t{1} << 31, 25'000}},
};

/// Expects that `rotation` rounds every entry correctly. Sanitizers slow code down tenfold, so they
/// check a share of the rows.
void expect_correct_rounding(const EncodingSpec& spec, RowRange rows, DataType type) {
  if (sanitized) rows.count /= 100;
  const auto threads = static_cast<int>(std::thread::hardware_concurrency());
  const auto report = accuracy_of(*backend("rotation").plan(spec), rows,
                                  {.threads = threads, .type = type, .progress = {}});
  EXPECT_EQ(report.entries, rows.count * spec.d_model);
  EXPECT_EQ(report.wrongly_rounded, 0)
      << to_string(type) << ", worst at position " << report.worst().position << ", channel "
      << report.worst().channel;
}

TEST(RotationTypesAtScale, AreCorrectlyRoundedInEveryEntry) {
  for (const DataType type : {DataType::float64, DataType::float16, DataType::bfloat16}) {
    for (const EncodingSpec& spec :
         {EncodingSpec{.d_model = 512},
          EncodingSpec{.d_model = 256, .base = 500'000, .layout = Layout::halves}}) {
      for (const RowRange rows : {RowRange{0, 5000}, RowRange{1'000'000, 3000}, RowRange{far, 3000},
                                  RowRange{max_position - 3000, 3001}})
        expect_correct_rounding(spec, rows, type);
    }
  }
}

class RotationAtScale : public testing::TestWithParam<LargeTable> {};

TEST_P(RotationAtScale, IsCorrectlyRoundedInEveryEntry) {
  expect_correct_rounding(GetParam().spec, GetParam().rows, DataType::float32);
}

TEST_P(RotationAtScale, HasTheSameBitsOnEveryIsa) {
  auto [name, spec, rows] = GetParam();
  if (sanitized) rows.count /= 100;
  const Matrix expected = encoded(*backend("rotation").plan(spec), rows);
  for (const Backend* each : running_backends("rotation")) {
    const Matrix got = encoded(*each->plan(spec), rows, {1, StorePolicy::non_temporal});
    EXPECT_TRUE(same_bits(expected, got)) << each->full_name();
  }
}

INSTANTIATE_TEST_SUITE_P(All, RotationAtScale, testing::ValuesIn(large_tables),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace posenc::test
