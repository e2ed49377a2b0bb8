#include "posenc/pick.h"

#include "fake_backend.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace posenc {
namespace {

using test::refusal;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Preset small = {"small", "a small shape", {.d_model = 64}, {0, 40}};
constexpr Preset long_one = {"long_one", "where float32 phases fail", {.d_model = 16}, {100'000, 2000}};

/// Enough to choose by, and short: what is tested is the choice and not the clock.
PickOptions quick(std::vector<Preset> presets) {
  return {.budget = {1e-6, ErrorBudget::Measure::absolute},
          .presets = std::move(presets),
          .threads = 1,
          .repetitions = 3,
          .seconds_per_sample = 1e-4,
          .progress = {}};
}

const PickMeasurement& measurement_of(const PickResult& result, std::string_view full_name, std::string_view preset) {
  const auto found =
      std::find_if(result.measurements.begin(), result.measurements.end(),
                   [&](const PickMeasurement& each) { return each.full_name() == full_name && each.preset == preset; });
  if (found == result.measurements.end()) throw std::runtime_error("no measurement of " + std::string(full_name));
  return *found;
}

TEST(Pick, MeasuresEveryCandidateOnEveryShape) {
  const PickResult result = pick(quick({small, long_one}));
  std::set<std::string> measured;
  for (const PickMeasurement& each : result.measurements)
    measured.insert(each.full_name() + " " + std::string(each.preset));
  for (const Backend* each : test::running_backends()) {
    if (!each->can_be_picked()) continue;
    EXPECT_TRUE(measured.contains(each->full_name() + " small")) << each->full_name();
    EXPECT_TRUE(measured.contains(each->full_name() + " long_one")) << each->full_name();
  }
}

TEST(Pick, PicksOnePerShapeClassWithinTheBudget) {
  const PickResult result = pick(quick({small, long_one}));
  std::set<ShapeClass> timed;
  for (const PickMeasurement& each : result.measurements) timed.insert(each.shape);
  ASSERT_EQ(result.profile.picks.size(), timed.size());
  for (const ProfilePick& picked : result.profile.picks) {
    EXPECT_TRUE(timed.contains(picked.shape));
    EXPECT_LE(picked.max_abs, 1e-6);
    EXPECT_EQ(picked.budget, ErrorBudget{});
    EXPECT_GE(picked.noise_floor, 0);
    EXPECT_FALSE(picked.next.empty());
    EXPECT_EQ(picked.threads, 1);
    EXPECT_GT(picked.gfloats_per_second, 0);
    EXPECT_THAT(picked.shapes, Not(IsEmpty()));
    EXPECT_TRUE(backend(picked.backend, picked.isa).runs_here());
  }
  EXPECT_EQ(result.profile.cpu_model, profile_of_this_machine().cpu_model);
}

TEST(Pick, FiguresOfAMeasurementFitItsSamples) {
  for (const PickMeasurement& each : pick(quick({small})).measurements) {
    SCOPED_TRACE(each.full_name());
    EXPECT_LE(each.max_abs, each.error_bound);
    EXPECT_EQ(each.within_budget, std::max(each.max_abs, each.error_bound) <= 1e-6);
    EXPECT_EQ(each.seconds.empty(), !each.within_budget);
    if (each.seconds.empty()) continue;
    const auto [least, most] = std::minmax_element(each.seconds.begin(), each.seconds.end());
    EXPECT_GT(*least, 0);
    EXPECT_GE(median_seconds(each), *least);
    EXPECT_LE(median_seconds(each), *most);
    EXPECT_GE(spread(each), 0);
  }
}

TEST(Pick, WhatIsOverTheBudgetCannotWin) {
  const PickResult result = pick(quick({long_one}));
  const PickMeasurement& div_term = measurement_of(result, "div_term:scalar", "long_one");
  EXPECT_GT(div_term.max_abs, 1e-6);
  EXPECT_FALSE(div_term.within_budget);
  EXPECT_FALSE(div_term.picked);
  EXPECT_FALSE(div_term.tied);
  EXPECT_THAT(div_term.seconds, IsEmpty());
  for (const ProfilePick& picked : result.profile.picks) EXPECT_NE(picked.backend, "div_term");
}

TEST(Pick, AFastBackendThatLiesAboutItsErrorCannotWin) {
  test::register_fake({.name = "liar", .can_be_picked = true, .error_bound = 1e-9});
  const PickResult result = pick(quick({small}));
  const PickMeasurement& liar = measurement_of(result, "liar:scalar", "small");
  EXPECT_GT(liar.max_abs, 0.4);
  EXPECT_FALSE(liar.within_budget);
  EXPECT_FALSE(liar.picked);
  for (const ProfilePick& picked : result.profile.picks) {
    EXPECT_NE(picked.backend, "liar");
    EXPECT_THAT(picked.ties, Not(testing::Contains("liar:scalar")));
  }
}

TEST(Pick, AFastBackendThatPromisesTooLittleCannotWin) {
  test::register_fake({.name = "modest", .can_be_picked = true, .error_bound = 2});
  PickOptions options = quick({small});
  options.budget.most = 1.5;  // its measured error is 1
  const PickResult result = pick(options);
  EXPECT_FALSE(measurement_of(result, "modest:scalar", "small").within_budget);
}

TEST(Pick, AHugeBudgetLetsTheFastestWin) {
  test::register_fake({.name = "anything_goes", .can_be_picked = true, .error_bound = 2});
  PickOptions options = quick({{"medium", "long enough to time", {.d_model = 512}, {0, 500}}});
  options.budget.most = 2;
  const PickResult result = pick(options);
  ASSERT_EQ(result.profile.picks.size(), 1U);
  EXPECT_TRUE(measurement_of(result, "anything_goes:scalar", "medium").within_budget);
  // Filling memory is at least as fast as any method: picked, or tied with what is as simple.
  const ProfilePick& picked = result.profile.picks.front();
  EXPECT_TRUE(picked.backend == "anything_goes" ||
              std::count(picked.ties.begin(), picked.ties.end(), "anything_goes:scalar") == 1)
      << picked.backend;
}

TEST(Pick, ABudgetInUlpIsHeldAgainstTheMeasuredUlp) {
  PickOptions options = quick({long_one});
  options.budget = {1, ErrorBudget::Measure::ulp};
  const PickResult result = pick(options);
  const PickMeasurement& rotation32 = measurement_of(result, backend("rotation32").full_name(), "long_one");
  EXPECT_GT(rotation32.max_ulp, 1);
  EXPECT_FALSE(rotation32.within_budget);
  const PickMeasurement& rotation = measurement_of(result, backend("rotation").full_name(), "long_one");
  EXPECT_LE(rotation.max_ulp, 0.5);
  EXPECT_TRUE(rotation.within_budget);
  for (const ProfilePick& picked : result.profile.picks) {
    EXPECT_EQ(picked.budget, options.budget);
    EXPECT_LE(picked.max_ulp, 1);
  }
}

TEST(Pick, TheFastestOfEveryShapeIsTimedTwice) {
  const PickResult result = pick(quick({small, long_one}));
  for (const char* preset : {"small", "long_one"}) {
    int repeated = 0;
    for (const PickMeasurement& each : result.measurements) {
      if (each.preset != preset || each.self_ratios.empty()) continue;
      ++repeated;
      EXPECT_EQ(each.self_ratios.size(), each.seconds.size());
      for (const double ratio : each.self_ratios) EXPECT_GT(ratio, 0);
    }
    EXPECT_EQ(repeated, 1) << preset;
  }
}

TEST(Pick, BackendsForComparisonOnlyAreMeasuredAndNeverPicked) {
  // Within the budget, and faster than any method: filling memory.
  test::register_fake({.name = "peer", .can_be_picked = false, .error_bound = 2});
  PickOptions options = quick({small});
  options.budget = {2, ErrorBudget::Measure::absolute};
  const PickResult result = pick(options);
  const PickMeasurement& peer = measurement_of(result, "peer:scalar", "small");
  EXPECT_TRUE(peer.is_peer);
  EXPECT_TRUE(peer.within_budget);
  EXPECT_FALSE(peer.seconds.empty());
  EXPECT_FALSE(peer.picked);
  EXPECT_FALSE(peer.tied);
  ASSERT_EQ(result.profile.picks.size(), 1U);
  EXPECT_NE(result.profile.picks.front().backend, "peer");
  EXPECT_NE(result.profile.picks.front().next, "peer:scalar");
}

TEST(Pick, ABudgetThatNothingMeetsPicksNothing) {
  PickOptions options = quick({small});
  options.budget.most = 1e-12;
  const PickResult result = pick(options);
  EXPECT_THAT(result.profile.picks, IsEmpty());
  EXPECT_THAT(result.measurements, Not(IsEmpty()));
  for (const PickMeasurement& each : result.measurements) EXPECT_FALSE(each.picked);
}

TEST(Pick, ProgressRisesAndSaysWhatItDoes) {
  PickOptions options = quick({small, long_one});
  std::vector<double> shares;
  bool silent = false;
  options.progress = [&](double share, std::string_view doing) {
    shares.push_back(share);
    silent |= doing.empty();
  };
  pick(options);
  ASSERT_FALSE(shares.empty());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_GE(shares.front(), 0);
  EXPECT_LE(shares.back(), 1 + 1e-12);
  EXPECT_FALSE(silent);
}

TEST(Pick, RefusesBadOptions) {
  const auto refused = [](auto change) {
    PickOptions options = quick({small});
    change(options);
    return refusal([&] { pick(options); });
  };
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refused([&](auto& o) { o.budget.most = bad; }),
                AllOf(HasSubstr("max_error is"), HasSubstr("greater than 0")));
    EXPECT_THAT(refused([&](auto& o) { o.budget = {bad, ErrorBudget::Measure::ulp}; }), HasSubstr("max_ulp is"));
    EXPECT_THAT(refused([&](auto& o) { o.seconds_per_sample = bad; }), HasSubstr("seconds_per_sample is"));
  }
  EXPECT_THAT(refused([](auto& o) { o.presets.clear(); }), HasSubstr("presets is empty"));
  EXPECT_THAT(refused([](auto& o) { o.threads = 0; }), HasSubstr("threads is 0"));
  EXPECT_THAT(refused([](auto& o) { o.repetitions = 0; }), HasSubstr("repetitions is 0"));
  EXPECT_THAT(refused([](auto& o) { o.presets.front().spec.d_model = 3; }), HasSubstr("d_model is 3"));
  EXPECT_THAT(refused([](auto& o) { o.presets.front().rows.count = 0; }), HasSubstr("0 rows"));
}

}  // namespace
}  // namespace posenc
