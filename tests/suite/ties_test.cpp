// The rule of ties, by the cases of tests/data/ties.json.
#include "posenc/suite/measuring/ties.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace posenc::suite {
namespace {

using nlohmann::json;

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

}  // namespace
}  // namespace posenc::suite
