// Real positions: exact where they can be, within the stated error elsewhere.
#include "posenc/real_positions.h"

#include "posenc/spec.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace posenc::test {
namespace {

constexpr auto most_position = static_cast<double>(max_position);

/// Every multiple is that of its position, within max_error, which one position reaches.
void expect_consistent(const std::vector<double>& positions, const RealPositions& real) {
  ASSERT_EQ(real.multiples.size(), positions.size());
  long double most = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    EXPECT_GE(real.multiples[i], 0);
    EXPECT_LE(real.multiples[i], max_position);
    const auto multiple = static_cast<long double>(real.multiples[i]);
    most = std::max(most, std::fabs(multiple / real.denominator - positions[i]));
  }
  EXPECT_EQ(most, real.max_error);
}

TEST(RealPositionsTest, TakeTheSmallestDenominatorThatIsExact) {
  const std::vector<double> eighths = {0, 0.5, 3, 731.125};
  const RealPositions real = real_positions(eighths);
  EXPECT_THAT(real.multiples, ElementsAre(0, 4, 24, 5849));
  EXPECT_EQ(real.denominator, 8);
  EXPECT_EQ(real.max_error, 0);
  EXPECT_EQ(real.frequencies(), LinearScaling{8});
  const RealPositions integers = real_positions(std::vector<double>{0, 5, most_position});
  EXPECT_THAT(integers.multiples, ElementsAre(0, 5, max_position));
  EXPECT_EQ(integers.denominator, 1);
  EXPECT_EQ(real_positions(std::vector<double>{}).denominator, 1);
}

TEST(RealPositionsTest, HoldAtTheEndsOfTheirRanges) {
  EXPECT_THAT(real_positions(std::vector<double>{-0.0}).multiples, ElementsAre(0));
  // Beside 1, a denominator of 2^53 is the largest.
  const RealPositions wide = real_positions(std::vector<double>{1, 0x1p-53});
  EXPECT_THAT(wide.multiples, ElementsAre(max_position, 1));
  EXPECT_EQ(wide.max_error, 0);
  const std::vector<double> small = {std::nextafter(0x1p-12, 1)};
  EXPECT_EQ(real_positions(small).denominator, 0x1p64);
  EXPECT_EQ(real_positions(small).max_error, 0);
  // A given denominator at both ends.
  EXPECT_THAT(real_positions(std::vector<double>{2.75}, 1).multiples, ElementsAre(3));
  const std::vector<double> most = {0x1p-11};
  EXPECT_THAT(real_positions(most, 0x1p64).multiples, ElementsAre(max_position));
  const std::vector<double> beyond = {std::nextafter(0x1p-11, 1)};
  expect_refused({{"positions[0] is", [&] { static_cast<void>(real_positions(beyond, 0x1p64)); }}});
  const std::vector<double> subnormal = {std::numeric_limits<double>::denorm_min()};
  EXPECT_EQ(real_positions(subnormal, 8).max_error, subnormal[0]);
  EXPECT_EQ(real_positions(subnormal).denominator, 0x1p64);
}

TEST(RealPositionsTest, AnyOneDoubleOfUsualSizeIsExact) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-12, 53);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<double> one = {std::exp2(exponent(random))};
    const RealPositions real = real_positions(one);
    EXPECT_EQ(real.max_error, 0) << one[0];
    expect_consistent(one, real);
  }
}

TEST(RealPositionsTest, WithoutACommonDenominatorKeepTheStatedError) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-80, 53);
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> positions;
    for (int j = 0; j < 5; ++j) positions.push_back(std::exp2(exponent(random)));
    const RealPositions real = real_positions(positions);
    expect_consistent(positions, real);
    EXPECT_LE(real.max_error, std::max(0x1p-53 * std::ranges::max(positions), 0x1p-65));
  }
}

TEST(RealPositionsTest, AGivenDenominatorRoundsToItsMultiples) {
  const std::vector<double> positions = {0.1, 1, 999.9, 0x1p33};
  const RealPositions real = real_positions(positions, 0x1p20);
  EXPECT_EQ(real.denominator, 0x1p20);
  EXPECT_THAT(real.multiples, ElementsAre(104858, 1 << 20, 1048471142, max_position));
  EXPECT_LE(real.max_error, 0x1p-21);
  expect_consistent(positions, real);
}

TEST(RealPositionsTest, SayWhatIsAllowed) {
  const auto convert = [](const std::vector<double>& positions,
                          std::optional<double> denominator = {}) {
    return [=] { static_cast<void>(real_positions(positions, denominator)); };
  };
  expect_refused({
      {"positions[1] is -1e+300; allowed: -90071992", convert({0, -1e300})},
      {"positions[0] is nan", convert({nan})},
      {"positions[0] is 1.8014398509481984e+16", convert({2 * most_position})},
      {"positions[0] is 9; allowed: -8 to 8", convert({9}, 0x1p50)},
  });
  for (const double bad : {0.0, 0.5, 3.0, -2.0, 0x1p65, HUGE_VAL, nan})
    expect_refused({{"allowed: a power of two, 1 to 2^64", convert({1}, bad)}});
}

}  // namespace
}  // namespace posenc::test
