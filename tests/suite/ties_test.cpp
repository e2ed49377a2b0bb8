// The rule of ties, by the cases of tests/data/ties.json.
#include "posenc/suite/ties.h"
#include "posenc/suite/statistics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
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
  for (const json& each : cases("pairs")) {
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

TEST(Ties, SeveralComparisonsHaveWiderIntervals) {
  // Logarithms 0, 0, 1, 1: mean 1/2, standard error sqrt(1/12). Student's t with 3 degrees of
  // freedom is 3.18245 at 0.975, and 7.45332 at 1 - 0.025 / 10.
  const std::vector<double> one = {1, 1, std::exp(1.0), std::exp(1.0)}, other(4, 1.0);
  const double error = std::sqrt(1.0 / 12);
  EXPECT_NEAR(std::log(paired_ratio(one, other).high), 0.5 + 3.182446 * error, 1e-6);
  EXPECT_NEAR(std::log(paired_ratio(one, other, 10).high), 0.5 + 7.453319 * error, 1e-6);
  EXPECT_NEAR(std::log(paired_ratio(one, other, 10).low), 0.5 - 7.453319 * error, 1e-6);
}

TEST(Ties, TheFloorOfASessionIsOfMeans) {
  const std::vector<std::vector<double>> ratios = {{1.1, 1 / 1.1}, {1.02, 1.02}, {0.99, 0.99},
                                                   {1, 1},         {},           {2, 2}};
  EXPECT_NEAR(session_floor_of(ratios), 0.02, 1e-12) << "the largest of five, 2, is ignored";
  EXPECT_EQ(session_floor_of({}), 0);
}

TEST(Ties, TheNoiseFloorIgnoresAFifthOfTheProcesses) {
  for (const json& each : cases("floors")) {
    SCOPED_TRACE(each.at("name").get<std::string>());
    const auto self_ratios = each.at("self_ratios").get<std::vector<std::vector<double>>>();
    EXPECT_NEAR(noise_floor_of(self_ratios), each.at("floor").get<double>(), 1e-8);
  }
}

TEST(Ties, AFactorIsCommonIfTheLimitsHaveItToo) {
  const auto factor = [](std::vector<double> limits, std::vector<double> all) {
    return common_factor(limits, all);
  };
  EXPECT_EQ(factor({1.2}, {1.1, 1.3, 1.1}), 1.1);
  EXPECT_EQ(factor({1.1}, {1.2}), 1.1);
  EXPECT_EQ(factor({0.8}, {0.9}), 0.9);
  EXPECT_EQ(factor({1.2}, {0.9}), 1);
  EXPECT_EQ(factor({0.9}, {1.2}), 1);
  EXPECT_EQ(factor({}, {1.2}), 1);
}

TEST(Statistics, NanIsTheWorstError) {
  EXPECT_EQ(worst(1, 2), 2);
  EXPECT_EQ(worst(2, 1), 2);
  EXPECT_TRUE(std::isnan(worst(2, std::nan(""))));
}

}  // namespace
}  // namespace posenc::suite
