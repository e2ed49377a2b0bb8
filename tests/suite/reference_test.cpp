// The reference, with each of its methods, against MPFR: for random entries and for those that are
// hardest to round.
#include "posenc/suite/reference.h"

#include "exact/mpfr_value.h"
#include "posenc/exact/sincos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

namespace posenc::test {

using namespace suite;
namespace {

class ReferenceTest : public testing::TestWithParam<std::tuple<EncodingSpec, ReferenceMethod>> {
 protected:
  void expect_matches(std::int64_t k, std::int64_t position) const {
    const ReferencePair pair = reference(k, position);
    const double log2_error = std::get<1>(GetParam()) == ReferenceMethod::integers ? -105 : -62;
    for (const bool cosine : {false, true}) {
      SCOPED_TRACE(testing::Message()
                   << "k " << k << " position " << position << " cosine " << cosine);
      const long double value = cosine ? pair.cosine : pair.sine;
      const MpfrValue expected = exact_entry(reference.spec(), k, position, cosine);
      MpfrValue got;
      mpfr_set_ld(got.get(), value, MPFR_RNDN);
      mpfr_add_d(got.get(), got.get(), cosine ? pair.cosine_rest : pair.sine_rest, MPFR_RNDN);
      ASSERT_LE(log2_distance(got, expected),
                static_cast<double>(mpfr_get_exp(expected.get())) + log2_error);
      ASSERT_EQ(reference.nearest(k, position, cosine, value),
                mpfr_get_flt(expected.get(), MPFR_RNDN));
    }
  }

  const Reference reference{std::get<0>(GetParam()), std::get<1>(GetParam())};
  const std::int64_t pairs = reference.spec().d_model / 2;
};

TEST_P(ReferenceTest, RandomEntries) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto k = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(pairs));
    // Positions in every octave up to 2^53.
    const auto position = static_cast<std::int64_t>((random() >> 11) >> (random() % 53)) + 1;
    expect_matches(k, std::min(position, max_position));
  }
}

/// The distance of a value from the nearest midpoint of two floats, in units of their spacing.
double distance_to_midpoint(long double value) {
  const int exponent = std::ilogb(value) - 23;
  const long double scaled = std::ldexp(std::fabs(value), -exponent);
  return static_cast<double>(std::fabs(scaled - std::floor(scaled) - 0.5L));
}

/// Of many entries, those nearest to a midpoint, where an error in the last bit changes the rounded
/// float, and those nearest to zero.
TEST_P(ReferenceTest, HardestEntries) {
  for (const std::int64_t first : {1LL, 1'000'000LL, 1'000'000'000'000LL}) {
    int hardest = 0;
    for (std::int64_t position = first; position < first + 2000; ++position) {
      for (std::int64_t k = 0; k < pairs; k += 1 + pairs / 64) {
        const ReferencePair pair = reference(k, position);
        const double midpoint =
            std::min(distance_to_midpoint(pair.sine), distance_to_midpoint(pair.cosine));
        const long double zero = std::min(std::fabs(pair.sine), std::fabs(pair.cosine));
        if (midpoint >= 2e-5 && zero >= 2e-5L) continue;
        ++hardest;
        expect_matches(k, position);
      }
    }
    EXPECT_GT(hardest, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ReferenceTest,
    testing::Combine(testing::Values(EncodingSpec{128},
                                     EncodingSpec{512, 1e4, Layout::halves, Spacing::inclusive},
                                     EncodingSpec{4096}, EncodingSpec{64, 5e5},
                                     EncodingSpec{32, 1.001}),
                     testing::Values(reference_method, ReferenceMethod::integers)));

TEST(ReferenceTest, QuarterTurnsAreExact) {
  const Reference reference({.d_model = 4, .base = 16, .frequencies = BaseTurns{}});
  for (int quarters = -4; quarters <= 4; ++quarters) {  // k = 1 turns by a quarter each row
    constexpr int sines[] = {0, 1, 0, -1};
    const ReferencePair pair = reference(1, quarters);
    EXPECT_EQ(pair.sine, sines[(quarters + 4) % 4]) << quarters;
    EXPECT_EQ(pair.cosine, sines[(quarters + 5) % 4]) << quarters;
  }
}

}  // namespace
}  // namespace posenc::test
