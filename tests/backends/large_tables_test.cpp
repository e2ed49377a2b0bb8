// rotation over more than 10^8 entries of float32, and more than 10^7 of every other type: every
// entry is correctly rounded, and every ISA gives the same bits.
#include "posenc/registry.h"
#include "posenc/suite/accuracy_report.h"
#include "support.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace posenc::test {
namespace {

struct LargeTable {
  const char* name;
  EncodingSpec spec;
  RowRange rows;
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

class RotationTypesAtScale : public testing::TestWithParam<DataType> {};

TEST_P(RotationTypesAtScale, AreCorrectlyRoundedInEveryEntry) {
  const RowRange starts[] = {
      {0, 5000}, {1'000'000, 3000}, {far, 3000}, {max_position - 3000, 3001}};
  for (const EncodingSpec& spec :
       {EncodingSpec{.d_model = 512},
        EncodingSpec{.d_model = 256, .base = 500'000, .layout = Layout::halves}}) {
    const auto encoder = backend("rotation").plan(spec);
    const Encoder* const encoders[] = {encoder.get()};
    for (const RowRange& rows : starts) {
      const RowRange checked = {rows.first, sanitized ? rows.count / 100 : rows.count};
      const auto report = measure_accuracy(encoders, checked,
                                           {.threads = 2, .type = GetParam(), .progress = {}})[0];
      EXPECT_EQ(report.wrongly_rounded, 0)
          << "worst at position " << report.worst.position << ", channel " << report.worst.channel;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rotation, RotationTypesAtScale,
                         testing::Values(DataType::float64, DataType::float16, DataType::bfloat16),
                         [](const auto& each) { return std::string(to_string(each.param)); });

class RotationAtScale : public testing::TestWithParam<LargeTable> {};

TEST_P(RotationAtScale, IsCorrectlyRoundedInEveryEntry) {
  const LargeTable& table = GetParam();
  const RowRange rows = {table.rows.first, sanitized ? table.rows.count / 200 : table.rows.count};
  const auto encoder = backend("rotation").plan(table.spec);
  const Encoder* const encoders[] = {encoder.get()};
  const auto reports = measure_accuracy(
      encoders, rows,
      {.threads = static_cast<int>(std::thread::hardware_concurrency()), .progress = {}});
  EXPECT_EQ(reports[0].entries, rows.count * table.spec.d_model);
  EXPECT_EQ(reports[0].wrongly_rounded, 0) << "worst at position " << reports[0].worst.position
                                           << ", channel " << reports[0].worst.channel;
}

TEST_P(RotationAtScale, HasTheSameBitsOnEveryIsa) {
  const LargeTable& table = GetParam();
  const RowRange rows = {table.rows.first, sanitized ? table.rows.count / 200 : table.rows.count};
  Matrix expected(rows.count, table.spec.d_model), got(rows.count, table.spec.d_model);
  backend("rotation").plan(table.spec)->encode(rows, expected.view());
  for (const Backend* each : running_backends()) {
    if (each->name() != "rotation") continue;
    each->plan(table.spec)->encode(rows, got.view(), {1, StorePolicy::non_temporal});
    EXPECT_EQ(
        std::memcmp(expected.data(), got.data(),
                    static_cast<std::size_t>(rows.count * table.spec.d_model) * sizeof(float)),
        0)
        << each->full_name();
  }
}

INSTANTIATE_TEST_SUITE_P(All, RotationAtScale, testing::ValuesIn(large_tables),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace posenc::test
