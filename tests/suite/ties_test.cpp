// The rule of ties, by the cases of tests/data/ties.json.
#include "posenc/suite/measuring/ties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace posenc::suite {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

json cases(const char* kind) {
  std::ifstream file(POSENC_TEST_DATA "/ties.json");
  return json::parse(file).at(kind);
}

TEST(Ties, PairsAreJudgedByIntervalAndNoise) {
  const json pairs = cases("pairs");
  ASSERT_FALSE(pairs.empty());
  for (const json& each : pairs) {
    SCOPED_TRACE(each.at("name").get<std::string>());
    const auto one = each.at("one").get<std::vector<double>>(),
               other = each.at("other").get<std::vector<double>>();
    const PairedRatio ratio = paired_ratio(one, other);
    EXPECT_NEAR(ratio.ratio, each.at("ratio").get<double>(), 1e-8);
    EXPECT_NEAR(ratio.low, each.at("low").get<double>(), 1e-8);
    if (each.at("high").is_null()) {
      EXPECT_EQ(ratio.high, std::numeric_limits<double>::infinity());
    } else {
      EXPECT_NEAR(ratio.high, each.at("high").get<double>(), 1e-8);
    }
    EXPECT_EQ(is_tie(ratio, each.at("noise_floor").get<double>()), each.at("tie").get<bool>());
  }
}

TEST(Ties, TheNoiseFloorIgnoresAFifthOfTheProcesses) {
  const json floors = cases("floors");
  ASSERT_FALSE(floors.empty());
  for (const json& each : floors) {
    SCOPED_TRACE(each.at("name").get<std::string>());
    const auto self_ratios = each.at("self_ratios").get<std::vector<std::vector<double>>>();
    EXPECT_NEAR(noise_floor_of(self_ratios), each.at("floor").get<double>(), 1e-8);
  }
}

TEST(Ties, SuccessiveProcessesGiveRatios) {
  EXPECT_THAT(ratios_of_successive(std::vector{2.0, 4.0, 1.0}), ElementsAre(2.0, 0.25));
  EXPECT_THAT(ratios_of_successive(std::vector{2.0}), IsEmpty());
}

TEST(Ties, ThePreferredIsTheSimplestMethodAtItsBestIsaThatCostsLittle) {
  const std::vector<double> fast = {1, 1.001, 0.999}, even = {1.01, 1.011, 1.009},
                            slow = {2, 2.01, 1.99};
  const std::vector<double> uncertain = {1.5, 0.9, 1.4};
  const std::vector<TimedCandidate> candidates = {{0, Isa::scalar, slow},
                                                  {1, Isa::sse2, even},
                                                  {1, Isa::avx2, even},
                                                  {2, Isa::avx2, fast},
                                                  {0, Isa::sse2, uncertain}};
  EXPECT_EQ(fastest_of(candidates), 3U);
  EXPECT_THAT(by_preference(candidates, 3, 0.0), ElementsAre(2, 1, 3));
}

}  // namespace
}  // namespace posenc::suite
