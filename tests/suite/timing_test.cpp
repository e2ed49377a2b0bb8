// The times of rows, in this process.
#include "fake_backend.h"
#include "posenc/registry.h"
#include "posenc/suite/measure.h"
#include "support.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace posenc::test {
namespace {

Measurement row_of(const std::string& backend, Role role = Role::limit) {
  return {{{.backend = backend, .isa = role == Role::limit ? "" : "portable", .role = role},
           table_of({.d_model = 64}, {0, 40})}};
}

TEST(TimeRows, TimesEachRowAndReportsLostTime) {
  TimingRequest request = {
      .rows = {row_of("naive", Role::backend), row_of("rotation", Role::backend), row_of("store"),
               row_of("copy"), row_of("non_temporal_store")},
      .samples = 2,
      .seconds_per_sample = 1e-4};
  request.rows[1].isa = to_string(backend("rotation").isa());
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
  TimingRequest request = {
      .rows = {row_of("naive", Role::backend)}, .samples = 1000, .seconds_per_sample = 1e-7};
  request.rows.front().table = table_of({.d_model = 512}, {0, 64});
  const Timing timing = time_rows(request);
  EXPECT_LT(timing.timed_seconds, 100 * timing.seconds.front());
}

TEST(TimeRows, TakesSlicesOfSlowTablesInRandomOrder) {
  std::vector<char> order;
  // Of which the first call alone takes long.
  const auto noting = [&](char name) {
    return FakeBackendClaims{.name = {name}, .encodes = [&order, name](std::int64_t rows) {
                               if (std::ranges::count(order, name) == 0)
                                 std::this_thread::sleep_for(std::chrono::milliseconds(10));
                               order.push_back(name);
                               EXPECT_EQ(rows, 64);
                             }};
  };
  const RegisteredFake a(noting('a')), b(noting('b')), c(noting('c'));
  TimingRequest request = {.rows = {}, .samples = 20, .seconds_per_sample = 0.01};
  for (const char* const name : {"a", "b", "c"}) {
    request.rows.push_back(row_of(name, Role::backend));
    request.rows.back().table = table_of({.d_model = 64}, {0, 6400});
  }
  time_rows(request);
  for (const char name : {'a', 'b', 'c'}) EXPECT_GT(std::ranges::count(order, name), 10);
  // Samples that were disturbed are taken again at once.
  std::set<std::pair<char, char>> neighbours;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i - 1] != order[i]) neighbours.emplace(order[i - 1], order[i]);
  EXPECT_THAT(neighbours, SizeIs(testing::Gt(3)));  // three if the order is always the same
}

/// Whoever sleeps has no processor, as if other work had it.
TEST(TimeRows, TimeWithoutAProcessorIsLost) {
#if defined(_WIN32) || defined(__EMSCRIPTEN__)
  GTEST_SKIP() << "the time of a processor is not known here";
#endif
  const RegisteredFake fake({.name = "sleeps", .encodes = [](std::int64_t) {
                               std::this_thread::sleep_for(std::chrono::milliseconds(10));
                             }});
  const Timing timing =
      time_rows({.rows = {row_of("sleeps", Role::backend)}, .seconds_per_sample = 0.01});
  EXPECT_GE(timing.timed_seconds, 0.01);
  EXPECT_GT(timing.lost_seconds, 0.9 * timing.timed_seconds);
}

}  // namespace
}  // namespace posenc::test
