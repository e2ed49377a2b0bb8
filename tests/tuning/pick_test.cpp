#include "posenc/tuning/pick.h"

#include "fake_backend.h"
#include "posenc/cpu.h"
#include "quick_pick.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace posenc {
namespace {

using test::long_one;
using test::quick;
using test::refusal;
using test::RegisteredFake;
using test::small;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const PickMeasurement& measurement_of(const PickResult& result, std::string_view full_name,
                                      std::string_view name) {
  const auto found = std::find_if(result.measurements.begin(), result.measurements.end(),
                                  [&](const PickMeasurement& each) {
                                    return each.full_name() == full_name && each.name == name;
                                  });
  if (found == result.measurements.end())
    throw std::runtime_error("no measurement of " + std::string(full_name));
  return *found;
}

TEST(Pick, MeasuresEveryCandidateOnEveryShape) {
  const PickResult result = pick(quick({small, long_one}));
  std::set<std::string> measured;
  for (const PickMeasurement& each : result.measurements)
    measured.insert(each.full_name() + " " + each.name);
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
  ASSERT_EQ(result.decisions.size(), timed.size());
  for (const ClassDecision& decision : result.decisions) {
    EXPECT_TRUE(timed.contains(decision.shape));
    EXPECT_GE(decision.noise_floor, 0);
    ASSERT_TRUE(decision.pick.has_value());
    const ComparedCandidate& picked = *decision.pick;
    EXPECT_LE(picked.max_abs, 1e-6);
    const ComparedCandidate* const next = decision.next();
    ASSERT_NE(next, nullptr);
    EXPECT_GE(next->ratio, next->low);
    EXPECT_LE(next->ratio, next->high);
    EXPECT_GT(picked.gfloats_per_second, 0);
    EXPECT_THAT(decision.shapes, Not(IsEmpty()));
    EXPECT_TRUE(backend(picked.backend, picked.isa).runs_here());
  }
}

TEST(Pick, TheProfileKeepsMeasurementsAndNoDecision) {
  PickOptions options = quick({small, {"other", {.d_model = 64}, {0, 40}}});
  options.type = DataType::float16;
  options.budget.reset();
  const PickResult result = pick(options);
  EXPECT_EQ(result.profile.cpu_model, profile_of_this_machine().cpu_model);
  ASSERT_EQ(result.profile.classes.size(), 1U);
  const MeasuredClass& measured = result.profile.classes.front();
  EXPECT_EQ(measured.type, DataType::float16);
  EXPECT_EQ(measured.threads, 1);
  EXPECT_EQ(measured.noise_floor, result.decisions.front().noise_floor);
  EXPECT_THAT(measured.shapes, testing::ElementsAre("small", "other"));
  std::set<std::string> names;
  for (const MeasuredBackend& each : measured.backends) {
    names.insert(each.backend);
    EXPECT_EQ(each.seconds_per_entry.size(), static_cast<std::size_t>(result.processes))
        << each.backend;
    EXPECT_LE(each.max_abs, each.error_bound) << each.backend;
  }
  EXPECT_TRUE(names.contains("rotation32"))
      << "over this budget, and of use to those who allow more";
}

TEST(Pick, TheDefaultBudgetAdmitsDoubleBasedBackendsForEveryType) {
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
    SCOPED_TRACE(std::string(to_string(type)));
    PickOptions options = quick({small});
    options.budget.reset();
    options.type = type;
    const PickResult result = pick(options);
    EXPECT_EQ(result.budget, default_budget(type));
    EXPECT_GT(result.budget.most, half_ulp_of_one(type));
    for (const char* name : {"naive", "xsimd", "rotation"}) {
      EXPECT_TRUE(measurement_of(result, backend(name).full_name(), "small").within_budget) << name;
    }
    const PickMeasurement& rotation32 =
        measurement_of(result, backend("rotation32").full_name(), "small");
    EXPECT_EQ(rotation32.within_budget, rotation32.error_bound <= default_budget(type).most);
    EXPECT_TRUE(result.decisions.front().pick.has_value());
  }
  PickOptions options = quick({small});
  options.budget.reset();
  options.type = DataType::float64;
  EXPECT_EQ(pick(options).decisions.front().pick.value().backend, "rotation");
}

TEST(Pick, DefaultShapesGoFromTheFirstCacheToMemory) {
  for (const DataType type : all_data_types) {
    std::set<ShapeClass> classes;
    std::set<std::string> names;
    for (const PickShape& each : default_pick_shapes(type)) {
      EXPECT_TRUE(names.insert(each.name).second) << each.name;
      classes.insert(shape_class(table_bytes(each.spec, each.rows.count, size_of(type))));
    }
    EXPECT_TRUE(classes.contains(ShapeClass::l1));
    EXPECT_TRUE(classes.contains(ShapeClass::memory) || cpu().l3_bytes >= (std::int64_t{1} << 30));
  }
}

TEST(Pick, FiguresOfAMeasurementFitItsSamples) {
  for (const PickMeasurement& each : pick(quick({small})).measurements) {
    SCOPED_TRACE(each.full_name());
    EXPECT_LE(each.max_abs, each.error_bound);
    EXPECT_EQ(each.within_budget, std::max(each.max_abs, each.error_bound) <= 1e-6);
    ASSERT_FALSE(each.seconds.empty());
    const auto [least, most] = std::minmax_element(each.seconds.begin(), each.seconds.end());
    EXPECT_GT(*least, 0);
    EXPECT_GE(median_seconds(each), *least);
    EXPECT_LE(median_seconds(each), *most);
    EXPECT_GE(relative_iqr(each), 0);
  }
}

TEST(Pick, ABackendOverTheBudgetCannotWin) {
  const PickResult result = pick(quick({long_one}));
  const PickMeasurement& div_term = measurement_of(result, "div_term:scalar", "long_one");
  EXPECT_GT(div_term.max_abs, 1e-6);
  EXPECT_FALSE(div_term.within_budget);
  EXPECT_FALSE(div_term.picked);
  EXPECT_FALSE(div_term.tied);
  EXPECT_THAT(div_term.seconds, Not(IsEmpty())) << "measured, and of use to those who allow more";
  for (const ClassDecision& each : result.decisions)
    EXPECT_NE(each.pick.value().backend, "div_term");
}

TEST(Pick, AFastBackendThatBreaksItsBoundCannotWin) {
  const RegisteredFake fake({.name = "breaks_bound", .can_be_picked = true, .error_bound = 1e-9});
  const PickResult result = pick(quick({small}));
  const PickMeasurement& breaks_bound = measurement_of(result, "breaks_bound:scalar", "small");
  EXPECT_GT(breaks_bound.max_abs, 0.4);
  EXPECT_FALSE(breaks_bound.within_budget);
  EXPECT_FALSE(breaks_bound.picked);
  EXPECT_THAT(breaks_bound.seconds, IsEmpty());
  for (const ClassDecision& each : result.decisions) {
    EXPECT_NE(each.pick.value().backend, "breaks_bound");
    for (const ComparedCandidate& other : each.others) {
      EXPECT_FALSE(other.backend == "breaks_bound" && (other.compared || other.tied));
    }
  }
  for (const MeasuredClass& each : result.profile.classes) {
    for (const MeasuredBackend& measured : each.backends)
      EXPECT_NE(measured.backend, "breaks_bound");
  }
}

TEST(Pick, AFastBackendWithABoundOverTheBudgetCannotWin) {
  const RegisteredFake fake({.name = "loose_bound", .can_be_picked = true, .error_bound = 2});
  PickOptions options = quick({small});
  options.budget->most = 1.5;  // its measured error is 1
  const PickResult result = pick(options);
  EXPECT_FALSE(measurement_of(result, "loose_bound:scalar", "small").within_budget);
}

/// Times in which `fastest` takes half of what every other candidate takes.
TimingResult times_where_one_is_fastest(const TimingRequest& request, std::string_view fastest) {
  TimingResult result = {.tables = {}, .timed_seconds = 1, .lost_seconds = 0};
  for (const TimingRequest::Table& table : request.tables) {
    TimingResult::Table& timed = result.tables.emplace_back();
    for (const auto& each : table.candidates) {
      timed.seconds.push_back(each.backend == fastest ? 1e-6 : 2e-6);
    }
    timed.repeated_seconds = timed.seconds[table.repeated];
  }
  return result;
}

TEST(Pick, TheFastestWinsIfTheBudgetAdmitsIt) {
  const RegisteredFake fake({.name = "anything_goes", .can_be_picked = true, .error_bound = 2});
  PickOptions options = quick({{"medium", {.d_model = 512}, {0, 500}}});
  options.time_in_process = [](const TimingRequest& request) {
    return times_where_one_is_fastest(request, "anything_goes:scalar");
  };
  const auto picked = [&](double budget) {
    options.budget->most = budget;
    return pick(options).decisions.at(0).pick.value().backend;
  };
  EXPECT_EQ(picked(2), "anything_goes");
  EXPECT_NE(picked(1e-6), "anything_goes");
}

TEST(Pick, ABudgetInUlpIsHeldAgainstTheMeasuredUlp) {
  PickOptions options = quick({long_one});
  options.budget = ErrorBudget{1, ErrorBudget::Measure::ulp};
  const PickResult result = pick(options);
  const PickMeasurement& rotation32 =
      measurement_of(result, backend("rotation32").full_name(), "long_one");
  EXPECT_GT(rotation32.max_ulp, 1);
  EXPECT_FALSE(rotation32.within_budget);
  const PickMeasurement& rotation =
      measurement_of(result, backend("rotation").full_name(), "long_one");
  EXPECT_LE(rotation.max_ulp, 0.5);
  EXPECT_TRUE(rotation.within_budget);
  EXPECT_EQ(result.budget, options.budget);
  for (const ClassDecision& each : result.decisions) EXPECT_LE(each.pick.value().max_ulp, 1);
}

TEST(Pick, OneBackendOfEveryShapeIsTimedTwiceInEveryProcess) {
  const PickResult result = pick(quick({small, long_one}));
  for (const char* name : {"small", "long_one"}) {
    int repeated = 0;
    for (const PickMeasurement& each : result.measurements) {
      if (each.name != name || each.self_ratios.empty()) continue;
      ++repeated;
      EXPECT_EQ(each.self_ratios.size(), each.seconds.size());
      for (const double ratio : each.self_ratios) EXPECT_GT(ratio, 0);
    }
    EXPECT_EQ(repeated, 1) << name;
  }
}

TEST(Pick, BackendsForComparisonOnlyAreMeasuredAndNeverPicked) {
  // The fake fills memory: it is within this budget and faster than any method.
  const RegisteredFake fake({.name = "peer", .can_be_picked = false, .error_bound = 2});
  PickOptions options = quick({small});
  options.budget = ErrorBudget{2, ErrorBudget::Measure::absolute};
  const PickResult result = pick(options);
  const PickMeasurement& peer = measurement_of(result, "peer:scalar", "small");
  EXPECT_TRUE(peer.is_peer);
  EXPECT_TRUE(peer.within_budget);
  EXPECT_FALSE(peer.seconds.empty());
  EXPECT_FALSE(peer.picked);
  EXPECT_FALSE(peer.tied);
  ASSERT_EQ(result.decisions.size(), 1U);
  EXPECT_NE(result.decisions.front().pick.value().backend, "peer");
  EXPECT_NE(result.decisions.front().next()->backend, "peer");
  for (const MeasuredBackend& each : result.profile.classes.at(0).backends)
    EXPECT_NE(each.backend, "peer");
}

TEST(Pick, ABudgetThatNothingMeetsPicksNothing) {
  PickOptions options = quick({small});
  options.budget->most = 1e-12;
  const PickResult result = pick(options);
  for (const ClassDecision& each : result.decisions) EXPECT_FALSE(each.pick.has_value());
  EXPECT_THAT(result.measurements, Not(IsEmpty()));
  for (const PickMeasurement& each : result.measurements) EXPECT_FALSE(each.picked);
}

TEST(Pick, ProgressRisesAndNamesTheCurrentStep) {
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
    EXPECT_THAT(refused([&](auto& o) { o.budget->most = bad; }),
                AllOf(HasSubstr("max_error is"), HasSubstr("greater than 0")));
    EXPECT_THAT(refused([&](auto& o) {
                  o.budget = ErrorBudget{bad, ErrorBudget::Measure::ulp};
                }),
                HasSubstr("max_ulp is"));
    EXPECT_THAT(refused([&](auto& o) { o.seconds_per_sample = bad; }),
                HasSubstr("seconds_per_sample is"));
  }
  EXPECT_THAT(refused([](auto& o) { o.threads = 0; }), HasSubstr("threads is 0"));
  EXPECT_THAT(refused([](auto& o) { o.processes = 0; }), HasSubstr("processes is 0"));
  EXPECT_THAT(refused([](auto& o) { o.samples = 0; }), HasSubstr("samples is 0"));
  EXPECT_THAT(refused([](auto& o) { o.shapes.front().spec.d_model = 3; }),
              HasSubstr("d_model is 3"));
  EXPECT_THAT(refused([](auto& o) { o.shapes.front().rows.count = 0; }), HasSubstr("0 rows"));
}

}  // namespace
}  // namespace posenc
