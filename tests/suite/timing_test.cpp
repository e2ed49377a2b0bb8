// The times of rows, in this process.
#include "posenc/registry.h"
#include "posenc/suite/measuring/measure.h"
#include "support.h"

namespace posenc::test {
namespace {

Measurement row_of(std::string backend, std::string isa, Role role) {
  Measurement row;
  row.backend = std::move(backend);
  row.isa = std::move(isa);
  row.role = role;
  row.table = table_of({.d_model = 64}, {0, 40});
  return row;
}

TEST(TimeRows, TimesEachRowAndReportsLostTime) {
  const std::string isa(to_string(backend("rotation").isa()));
  TimingRequest request = {
      .rows = {row_of("naive", "portable", Role::backend), row_of("rotation", isa, Role::backend),
               row_of("store", "", Role::limit), row_of("copy", "", Role::limit),
               row_of("non_temporal_store", "", Role::limit)},
      .samples = 2,
      .seconds_per_sample = 1e-4};
  request.rows.back().table = table_of({.d_model = 128}, {5, 300});
  const Timing timing = time_rows(request);
  ASSERT_EQ(timing.seconds.size(), 5U);
  EXPECT_THAT(timing.seconds, testing::Each(testing::Gt(0)));
  EXPECT_GT(timing.timed_seconds, 0);
  EXPECT_LE(timing.lost_seconds, timing.timed_seconds);

  const auto refused = [&](auto change) {
    TimingRequest bad = request;
    change(bad.rows[2]);
    return refusal([&] { time_rows(bad); });
  };
  EXPECT_THAT(refused([](auto& row) { row.backend = "x"; }), HasSubstr("limit is 'x'"));
  EXPECT_THAT(refused([](auto& row) { row.role = Role::peer; }), HasSubstr("backend is 'store'"));
  EXPECT_THAT(refused([](auto& row) { row.table.threads = 0; }), HasSubstr("threads is 0"));
  EXPECT_THAT(refused([](auto& row) { row.table.stride = 63; }), HasSubstr("stride is 63"));
  EXPECT_THAT(refused([](auto& row) { row.table.rows.count = 0; }), HasSubstr("rows are 0"));
  request.samples = 0;
  expect_refused({{"samples is 0", [&] { time_rows(request); }}});
}

TEST(TimeRows, ASlowRowIsTimedLessOften) {
  TimingRequest request = {.rows = {row_of("naive", "portable", Role::backend)},
                           .samples = 1000,
                           .seconds_per_sample = 1e-7};
  request.rows.front().table = table_of({.d_model = 512}, {0, 64});
  const Timing timing = time_rows(request);
  EXPECT_LT(timing.timed_seconds, 100 * timing.seconds.front());
}

}  // namespace
}  // namespace posenc::test
