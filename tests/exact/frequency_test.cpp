// The exact frequencies and phases against MPFR.
#include "posenc/exact/frequency.h"

#include "exact/mpfr_value.h"
#include "frequency_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace posenc::test {
namespace {

class FrequencyTest : public testing::TestWithParam<EncodingSpec> {};

TEST_P(FrequencyTest, IsWithinItsBoundOfMpfr) {
  const EncodingSpec spec = GetParam();
  const Frequencies frequencies(spec);
  ASSERT_EQ(frequencies.count(), spec.d_model / 2);
  MpfrValue two_pi;
  mpfr_const_pi(two_pi.get(), MPFR_RNDN);
  mpfr_mul_2ui(two_pi.get(), two_pi.get(), 1, MPFR_RNDN);
  const std::int64_t step = std::max<std::int64_t>(1, frequencies.count() / 300);
  for (std::int64_t k = frequencies.count() - 1; k >= 0; k -= step) {
    MpfrValue expected = exact_frequency(spec, k);
    mpfr_div(expected.get(), expected.get(), two_pi.get(), MPFR_RNDN);
    mpfr_frac(expected.get(), expected.get(), MPFR_RNDN);
    if (expected < MpfrValue(0)) expected = expected + MpfrValue(1);
    ASSERT_LE(log2_distance(to_mpfr(frequencies[k]), expected), -254) << "k = " << k;
  }
}

TEST_P(FrequencyTest, PhaseIsExactlyReduced) {
  const EncodingSpec spec = GetParam();
  const Frequencies frequencies(spec);
  for (const std::int64_t position :
       {std::int64_t{1}, std::int64_t{1000}, std::int64_t{1000000000000}, max_position}) {
    const std::int64_t k = frequencies.count() / 2;
    MpfrValue expected = to_mpfr(frequencies[k]);
    mpfr_mul_si(expected.get(), expected.get(), static_cast<long>(position), MPFR_RNDN);
    mpfr_frac(expected.get(), expected.get(), MPFR_RNDN);
    EXPECT_NE(mpfr_equal_p(expected.get(), to_mpfr(frequencies.phase(k, position)).get()), 0)
        << "position " << position;
  }
}

constexpr Layout interleaved = Layout::interleaved;
constexpr Spacing paper = Spacing::paper;
constexpr Spacing inclusive = Spacing::inclusive;

INSTANTIATE_TEST_SUITE_P(
    Specs, FrequencyTest,
    testing::Values(
        EncodingSpec{2, 1e4, interleaved, paper}, EncodingSpec{2, 1e4, interleaved, inclusive},
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
        EncodingSpec{256, std::numeric_limits<double>::max(), interleaved, inclusive}),
    [](const auto& test) { return "case_" + std::to_string(test.index); });

std::vector<EncodingSpec> specs_of_rules() {
  std::vector<EncodingSpec> specs;
  for (const SpecOfRule& each : specs_of_every_rule()) specs.push_back(each.spec);
  return specs;
}
INSTANTIATE_TEST_SUITE_P(Rules, FrequencyTest, testing::ValuesIn(specs_of_rules()),
                         [](const auto& test) { return specs_of_every_rule()[test.index].name; });

}  // namespace
}  // namespace posenc::test
