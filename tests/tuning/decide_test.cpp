// The decision from given samples. No test here reads a clock, so that each gives the same result
// on every machine.
#include "posenc/tuning/pick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace posenc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Medians of nine processes around `seconds`. `phase` rotates them, so that the noise of two
/// backends differs.
std::vector<double> samples(double seconds, double noise = 0.001, std::size_t phase = 0) {
  std::vector<double> all;
  for (const double offset : {0.0, 1.0, -1.0, 0.5, -0.5, 1.0, -1.0, 0.5, -0.5}) {
    all.push_back(seconds * (1 + noise * offset));
  }
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(phase), all.end());
  return all;
}

PickMeasurement measured(std::string backend, double seconds, double max_abs = 1e-8) {
  PickMeasurement each;
  each.backend = std::move(backend);
  each.name = "small";
  each.spec = {.d_model = 64};
  each.rows = {0, 40};
  each.shape = ShapeClass::l1;
  each.max_abs = max_abs;
  each.max_ulp = max_abs / 6e-8;
  each.error_bound = 2 * max_abs;
  each.seconds = samples(seconds);
  return each;
}

ClassDecision decided(std::vector<PickMeasurement> measurements, ErrorBudget budget = {1e-6}) {
  const auto decisions = decide(measurements, budget);
  EXPECT_THAT(decisions, SizeIs(1));
  return decisions.front();
}

/// Names of the backends that tie with the pick.
std::vector<std::string> tied_with_pick(const ClassDecision& decision) {
  std::vector<std::string> names;
  for (const ComparedCandidate& each : decision.others) {
    if (each.tied) names.push_back(each.backend);
  }
  return names;
}

TEST(Decision, TheFastestWinsByItsMargin) {
  const ClassDecision decision =
      decided({measured("simple", 2e-6), measured("fast", 1e-6), measured("slow", 9e-6)});
  ASSERT_TRUE(decision.pick.has_value());
  EXPECT_EQ(decision.pick->backend, "fast");
  EXPECT_THAT(tied_with_pick(decision), IsEmpty());
  ASSERT_NE(decision.next(), nullptr);
  EXPECT_EQ(decision.next()->backend, "simple");
  EXPECT_NEAR(decision.next()->ratio, 2, 0.01);
  EXPECT_LE(decision.next()->low, decision.next()->ratio);
  EXPECT_GE(decision.next()->high, decision.next()->ratio);
  ASSERT_THAT(decision.others, SizeIs(2));
  EXPECT_EQ(decision.others.back().backend, "slow");
  EXPECT_NEAR(decision.others.back().ratio, 9, 0.1);
}

TEST(Decision, ATieGoesToTheSimplestAndItsCostIsReported) {
  const ClassDecision decision = decided({measured("simple", 1.01e-6), measured("fast", 1e-6)});
  EXPECT_EQ(decision.pick->backend, "simple");
  EXPECT_THAT(tied_with_pick(decision), ElementsAre("fast"));
  EXPECT_NEAR(decision.next()->ratio, 1 / 1.01, 0.001);
}

TEST(Decision, RatiosWithinTheNoiseFloorAreTies) {
  std::vector<PickMeasurement> measurements = {measured("simple", 1.2e-6), measured("fast", 1e-6)};
  EXPECT_THAT(tied_with_pick(decided(measurements)), IsEmpty());

  measurements.back().self_ratios = samples(1, 0.3);
  const ClassDecision noisy = decided(measurements);
  EXPECT_NEAR(noisy.noise_floor, 0.43, 0.02);  // 1 / 0.7 - 1, the ratio of two of the nine
  EXPECT_EQ(noisy.pick->backend, "fast") << "being simpler is worth no 20 %";
  EXPECT_THAT(tied_with_pick(noisy), ElementsAre("simple"));
}

TEST(Decision, VariationBetweenProcessesIsNoise) {
  std::vector<PickMeasurement> measurements = {measured("simple", 1.1e-6), measured("fast", 1e-6)};
  measurements.back().seconds = samples(1e-6, 0.1);
  measurements.back().self_ratios = std::vector<double>(9, 1.0);
  const ClassDecision decision = decided(measurements);
  EXPECT_NEAR(decision.noise_floor, 0.2, 0.05) << "1.1 after 0.9";
  EXPECT_THAT(tied_with_pick(decision), testing::SizeIs(1));
}

TEST(Decision, AnUncertainOrderIsATieAtAnyRatio) {
  std::vector<PickMeasurement> measurements = {measured("one", 1.3e-6), measured("other", 1e-6)};
  measurements.front().seconds = samples(1.3e-6, 0.7, 1);
  EXPECT_THAT(tied_with_pick(decided(measurements)), testing::SizeIs(1));
  measurements.front().seconds = samples(1.3e-6, 0.1, 1);
  EXPECT_THAT(tied_with_pick(decided(measurements)), IsEmpty());
}

TEST(Decision, WithOneProcessAllCandidatesTie) {
  std::vector<PickMeasurement> measurements = {measured("simple", 5e-6), measured("fast", 1e-6)};
  for (PickMeasurement& each : measurements) each.seconds.resize(1);
  const ClassDecision decision = decided(measurements);
  EXPECT_EQ(decision.pick->backend, "fast");
  EXPECT_THAT(tied_with_pick(decision), ElementsAre("simple"));
}

TEST(Decision, ABudgetInEitherMeasureDecidesWhoMayWin) {
  const std::vector<PickMeasurement> measurements = {measured("exact", 2e-6, 1e-8),
                                                     measured("rough", 1e-6, 3e-7)};
  EXPECT_EQ(decided(measurements).pick->backend, "rough");
  EXPECT_EQ(decided(measurements, {5e-7, ErrorBudget::Measure::absolute}).pick->backend, "exact")
      << "the bound is over it, whatever was measured";
  EXPECT_EQ(decided(measurements, {6, ErrorBudget::Measure::ulp}).pick->backend, "rough");
  EXPECT_EQ(decided(measurements, {1, ErrorBudget::Measure::ulp}).pick->backend, "exact");
  const ClassDecision none = decided(measurements, {1e-12, ErrorBudget::Measure::absolute});
  EXPECT_FALSE(none.pick.has_value());
  EXPECT_TRUE(std::ranges::none_of(none.others, &ComparedCandidate::within_budget));
}

TEST(Decision, ABackendThatBreaksItsBoundCannotWin) {
  std::vector<PickMeasurement> measurements = {measured("breaks_bound", 1e-7),
                                               measured("keeps_bound", 1e-6)};
  measurements.front().error_bound = 1e-9;
  const ClassDecision decision = decided(measurements);
  EXPECT_EQ(decision.pick->backend, "keeps_bound");
  EXPECT_FALSE(decision.others.front().keeps_its_bound);
}

TEST(Decision, ABackendNotTimedOnEveryShapeCannotWin) {
  std::vector<PickMeasurement> measurements = {measured("whole", 2e-6), measured("whole", 2e-6),
                                               measured("partial", 1e-6)};
  measurements[1].name = "other";
  EXPECT_EQ(decided(measurements).pick->backend, "whole");
  measurements.push_back(measured("partial", 1e-6));
  measurements.back().name = "other";
  EXPECT_EQ(decided(measurements).pick->backend, "partial");
  measurements.back().seconds.clear();
  EXPECT_EQ(decided(measurements).pick->backend, "whole");
}

TEST(Decision, MarksThePickAndItsTies) {
  std::vector<PickMeasurement> measurements = {measured("simple", 1.01e-6), measured("fast", 1e-6),
                                               measured("slow", 2e-6)};
  decide(measurements, {1e-6});
  EXPECT_TRUE(measurements[0].picked && measurements[0].tied);
  EXPECT_TRUE(!measurements[1].picked && measurements[1].tied);
  EXPECT_TRUE(!measurements[2].picked && !measurements[2].tied);
}

}  // namespace
}  // namespace posenc
