// The exact frequencies and phases against MPFR.
#include "posenc/exact/frequency.h"

#include "exact/mpfr_value.h"
#include "frequency_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace posenc::test {
namespace {

class FrequencyTest : public testing::TestWithParam<SpecOfRule> {};

/// Every tenth frequency is also computed alone, as the second stage of rounding does.
TEST_P(FrequencyTest, IsWithinItsBoundOfMpfr) {
  const EncodingSpec& spec = GetParam().spec;
  const Frequencies frequencies(spec);
  ASSERT_EQ(frequencies.count(), spec.d_model / 2);
  EXPECT_NO_THROW(validate(spec));
  const std::int64_t step = std::max<std::int64_t>(1, frequencies.count() / 300);
  for (std::int64_t k = frequencies.count() - 1, i = 0; k >= 0; k -= step, ++i) {
    MpfrValue expected = computed(mpfr_frac, exact_frequency(spec, k) / two_pi());
    if (expected < MpfrValue(0)) expected = expected + MpfrValue(1);
    ASSERT_LE(log2_distance(to_mpfr(frequencies[k]), expected), -254) << "k = " << k;
    if (step > 1 && i % 10 != 0) continue;
    ASSERT_LE(log2_distance(to_mpfr(frequencies.widest(k)), expected), -640) << "k = " << k;
  }
}

/// The k of the frequency that turns `rotations` times in the trained rows.
MpfrValue index_of(const EncodingSpec& spec, std::int64_t trained_rows, double rotations) {
  const MpfrValue rows(static_cast<double>(trained_rows));
  return MpfrValue(static_cast<double>(spec.d_model) / 2) *
         computed(mpfr_log, rows / (MpfrValue(rotations) * two_pi())) /
         computed(mpfr_log, MpfrValue(spec.base));
}

TEST(YarnRange, FollowsItsFormula) {
  for (const double base : {1.5, 1e4, 150000.0, 1e6, 1e300}) {
    for (const std::int64_t trained_rows : {1, 2048, 4096, 32768, 1 << 20}) {
      const EncodingSpec spec = {.d_model = 128, .base = base};
      const YarnScaling yarn = {.factor = 4, .trained_rows = trained_rows, .beta_slow = 0.7};
      const MpfrValue begin = index_of(spec, trained_rows, yarn.beta_fast),
                      end = index_of(spec, trained_rows, yarn.beta_slow);
      YarnScaling exact = yarn;
      exact.truncate = false;
      const double first = mpfr_get_d(begin.get(), MPFR_RNDN),
                   last = mpfr_get_d(end.get(), MPFR_RNDN);
      SCOPED_TRACE(testing::Message() << "base " << base << ", rows " << trained_rows);
      const double low = std::max(std::floor(first), 0.0), high = std::min(std::ceil(last), 127.0);
      EXPECT_EQ(yarn_range(spec, yarn).low, low);
      EXPECT_EQ(yarn_range(spec, yarn).high, low == high ? high + 0.001 : high);
      EXPECT_NEAR(yarn_range(spec, exact).low, std::max(first, 0.0), 0x1p-50 * std::fabs(first));
      EXPECT_NEAR(yarn_range(spec, exact).high, std::min(last, 127.0), 0x1p-50 * std::fabs(last));
    }
  }
}

TEST(PickedFrequencies, EqualTheirOriginalsInEveryPrecision) {
  const auto of_base = std::make_shared<const Frequencies>(EncodingSpec{.d_model = 128});
  const auto of_turns = std::make_shared<const Frequencies>(
      EncodingSpec{.d_model = 4, .frequencies = TurnFrequencies{{1, 3}, {4, 8}}});
  const std::vector<PickedFrequency> picked = {{of_base, 63}, {of_turns, 1}, {of_base, 2}};
  const Frequencies frequencies(picked);
  ASSERT_EQ(frequencies.count(), 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto& [from, k] = picked[static_cast<std::size_t>(i)];
    EXPECT_EQ(frequencies[i].limb, (*from)[k].limb);
    EXPECT_EQ(frequencies.widest(i).limb, from->widest(k).limb);
    for (const std::int64_t position : {1, 2, 4})
      EXPECT_EQ(frequencies.whole_quarters(i, position), from->whole_quarters(k, position));
  }
  EXPECT_EQ(frequencies.whole_quarters(1, 4), 2u) << "3/8 of a turn, four times";
}

TEST_P(FrequencyTest, PhaseIsExactlyReduced) {
  const Frequencies frequencies(GetParam().spec);
  const std::int64_t k = frequencies.count() / 2;
  for (const std::int64_t position : {std::int64_t{1}, std::int64_t{1000}, max_position}) {
    const MpfrValue phase = to_mpfr(frequencies[k]) * ExactFrequency::integer(position);
    EXPECT_NE(mpfr_equal_p(computed(mpfr_frac, phase).get(),
                           to_mpfr(frequencies.phase(k, position)).get()),
              0)
        << "position " << position;
  }
}

constexpr Layout interleaved = Layout::interleaved;
constexpr Spacing paper = Spacing::paper;
constexpr Spacing inclusive = Spacing::inclusive;

std::vector<SpecOfRule> specs_of_bases() {
  std::vector<SpecOfRule> all;
  for (const EncodingSpec& spec :
       {EncodingSpec{2, 1e4, interleaved, paper}, EncodingSpec{2, 1e4, interleaved, inclusive},
        EncodingSpec{4, 1e4, interleaved, inclusive}, EncodingSpec{20, 1e4, interleaved, paper},
        EncodingSpec{512, 1e4, interleaved, paper}, EncodingSpec{1280, 1e4, interleaved, inclusive},
        EncodingSpec{4096, 1e4, interleaved, paper},
        EncodingSpec{max_d_model, 1e4, interleaved, paper},
        EncodingSpec{128, 5e5, interleaved, paper}, EncodingSpec{64, 1e10, interleaved, inclusive},
        EncodingSpec{64, 2.0, interleaved, paper}, EncodingSpec{64, 1.5, interleaved, paper},
        EncodingSpec{64, 1.0000000000000002, interleaved, paper},
        EncodingSpec{4, 1e100, interleaved, inclusive}, EncodingSpec{6, 1e300, interleaved, paper},
        EncodingSpec{64, 9999.9999999999982, interleaved, paper},
        EncodingSpec{64, 1e300, interleaved, paper},
        EncodingSpec{256, std::numeric_limits<double>::max(), interleaved, inclusive}})
    all.push_back({"base_" + std::to_string(all.size()), spec});
  return all;
}

/// The other spacing, and parameters at their limits, with all digits that a double has.
std::vector<SpecOfRule> specs_at_the_limits() {
  constexpr double least_factor = 0x1.fffffffffffffp-10;
  const auto of = [](FrequencyRule rule, double base = 1e4, Spacing spacing = inclusive) {
    return EncodingSpec{
        .d_model = 64, .base = base, .spacing = spacing, .frequencies = std::move(rule)};
  };
  LongRopeScaling longrope;
  OwnFrequencies own;
  for (int k = 0; k < 32; ++k) {
    longrope.factors.push_back(k % 2 == 0 ? least_factor : 0x1.fffffffffffffp0 + k);
    own.values.push_back(k % 2 == 0 ? 0x1.fffffffffffffp31 - k : -0x1.fffffffffffffp-100 * (k + 1));
  }
  const Llama3Scaling llama3 = {.factor = 1.1,
                                .trained_rows = max_position,
                                .low_frequency_factor = 0x1.fffffffffffffp-20,
                                .high_frequency_factor = 0x1.fffffffffffffp19};
  // The first frequency turns 8192 / (2 pi) times: in the middle of this ramp.
  const Llama3Scaling narrow = {.factor = 7.1,
                                .low_frequency_factor = 1303.7972938088065 * (1 - 0x1p-45),
                                .high_frequency_factor = 1303.7972938088067 * (1 + 0x1p-45)};
  const YarnScaling yarn = {.factor = 1.1,
                            .trained_rows = max_position,
                            .beta_fast = 0x1.fffffffffffffp19,
                            .beta_slow = 0x1.fffffffffffffp-20,
                            .truncate = false};
  return {{"linear_inclusive", of(LinearScaling{3})},
          {"linear_least", of(LinearScaling{least_factor})},
          {"linear_least_base_1e300", of(LinearScaling{least_factor}, 1e300)},
          {"llama3_inclusive", of(Llama3Scaling{}, 5e5)},
          {"llama3_limits", of(llama3, 1e20)},
          {"llama3_limits_paper", of(llama3, 1e20, paper)},
          {"llama3_narrow", of(narrow)},
          {"longrope_inclusive", of(longrope)},
          {"longrope_base_1_5", of(longrope, 1.5)},
          {"own_limits", of(own)},
          {"yarn_limits", of(yarn, 1e20, paper)},
          {"ntk_limits", of(NtkScaling{1.0000000000000002}, 1e300, paper)}};
}
std::string name_of_rule(const testing::TestParamInfo<SpecOfRule>& test) { return test.param.name; }
INSTANTIATE_TEST_SUITE_P(Bases, FrequencyTest, testing::ValuesIn(specs_of_bases()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Rules, FrequencyTest, testing::ValuesIn(specs_of_every_rule()),
                         name_of_rule);
INSTANTIATE_TEST_SUITE_P(Limits, FrequencyTest, testing::ValuesIn(specs_at_the_limits()),
                         name_of_rule);

}  // namespace
}  // namespace posenc::test
