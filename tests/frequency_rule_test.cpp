// The rules of frequencies against the code of the systems that have them, in double; and what they
// refuse. tests/exact compares their exact values with MPFR, and presets_test.cpp has Llama 3.1's.
#include "posenc/frequency_rule.h"

#include "frequency_rules.h"
#include "posenc/exact/frequency.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

constexpr double pi = std::numbers::pi;

std::vector<double> in_radians(const EncodingSpec& spec) {
  const Frequencies frequencies(spec);
  std::vector<double> radians;
  for (std::int64_t k = 0; k < frequencies.count(); ++k)
    radians.push_back(to_radians(frequencies[k]));
  return radians;
}

/// Formula gives w_k from 2k, d_model and base.
void expect_formula(const EncodingSpec& spec,
                    const std::function<double(double even, double dim, double base)>& formula) {
  const std::vector<double> got = in_radians(spec);
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double expected =
        formula(2 * static_cast<double>(k), static_cast<double>(spec.d_model), spec.base);
    EXPECT_NEAR(got[k], expected, 1e-13 * expected) << "k = " << k;
  }
}

/// Transformers 4.51, modeling_rope_utils.py.
double inv_freq(double even, double dim, double base) { return 1 / std::pow(base, even / dim); }

TEST(FrequencyRule, DynamicNtkIsThatOfTransformers) {
  const EncodingSpec spec = {.d_model = 128, .frequencies = dynamic_ntk_scaling(2, 4096, 16384)};
  expect_formula(spec, [](double even, double dim, double base) {
    const double factor = 2, seq_len = 16384, max_position_embeddings = 4096;
    const double scaled_base =
        base *
        std::pow((factor * seq_len / max_position_embeddings) - (factor - 1), dim / (dim - 2));
    return inv_freq(even, dim, scaled_base);
  });
}

TEST(FrequencyRule, DynamicNtkBeginsBeyondTheTrainedRows) {
  EXPECT_EQ(dynamic_ntk_scaling(2, 4096, 4096).factor, 1);
  EXPECT_EQ(dynamic_ntk_scaling(2, 4096, 100).factor, 1);
  EXPECT_EQ(dynamic_ntk_scaling(2, 4096, 8192).factor, 3);
  EXPECT_EQ(in_radians({.d_model = 64, .frequencies = NtkScaling{1}}), in_radians({.d_model = 64}));
}

TEST(FrequencyRule, YarnIsThatOfTransformers) {
  for (const bool truncate : {true, false}) {
    const EncodingSpec spec = {
        .d_model = 128,
        .base = 1e6,
        .frequencies = YarnScaling{.factor = 4, .trained_rows = 32768, .truncate = truncate}};
    expect_formula(spec, [truncate](double even, double dim, double base) {
      const auto find_correction_dim = [&](double num_rotations) {
        return (dim * std::log(32768 / (num_rotations * 2 * pi))) / (2 * std::log(base));
      };
      double low = find_correction_dim(32), high = find_correction_dim(1);
      if (truncate) {
        low = std::floor(low);
        high = std::ceil(high);
      }
      low = std::max(low, 0.0);
      high = std::min(high, dim - 1);
      const double ramp = std::clamp((even / 2 - low) / (high - low), 0.0, 1.0);
      const double extrapolation_factor = 1 - ramp;
      const double extrapolation = inv_freq(even, dim, base), interpolation = extrapolation / 4;
      return interpolation * (1 - extrapolation_factor) + extrapolation * extrapolation_factor;
    });
  }
}

TEST(FrequencyRule, PositionsOfALinearScalingAreFractions) {
  const Matrix whole = encode({100, 5}, {.d_model = 64});
  const auto encoder = backend("rotation").plan({.d_model = 64, .frequencies = LinearScaling{4}});
  Matrix quarters(5, 64);
  const std::int64_t positions[] = {400, 404, 408, 412, 416};
  encoder->encode(positions, quarters.view());
  for (std::int64_t r = 0; r < 5; ++r)
    EXPECT_TRUE(same_bits(whole.row(r), quarters.row(r))) << "row " << r;
}

TEST(FrequencyRule, HasTheAttentionFactorOfItsModel) {
  EXPECT_EQ(attention_factor(Llama3Scaling{}), 1);
  EXPECT_DOUBLE_EQ(attention_factor(YarnScaling{.factor = 4}), 1.1386294361119891);
  EXPECT_EQ(attention_factor(YarnScaling{.factor = 4, .attention_factor = 1.25}), 1.25);
  EXPECT_EQ(attention_factor(LongRopeScaling{.attention_factor = 1.19}), 1.19);
}

TEST(FrequencyRule, NoEncodingLacksItsAttentionFactorSilently) {
  const LongRopeScaling longrope = {.factors = {1, 2}};
  for (const FrequencyRule& rule :
       {FrequencyRule(YarnScaling{.factor = 4}),
        FrequencyRule(YarnScaling{.factor = 4, .attention_factor = 2}), FrequencyRule(longrope)}) {
    const EncodingSpec spec = {.d_model = 4, .frequencies = rule},
                       without = {.d_model = 4, .frequencies = without_attention_factor(rule)};
    const std::string reason = "allowed in an encoding: 1, because only Rotary applies";
    const RowRange rows = {0, 3};
    expect_refused(
        {{reason, [&] { encode(rows, spec); }}, {reason, [&] { PositionalEncoding(spec, 3); }}});
    EXPECT_NO_THROW(validate(spec));
    EXPECT_EQ(encode(rows, without).rows(), 3);
  }
  EXPECT_NO_THROW(
      backend("rotation").plan({.d_model = 4, .frequencies = YarnScaling{.factor = 1}}));
  expect_refused({{"attention_factor is 0, not given; allowed: greater than 0",
                   [&] { Rotary(4, 10000.0, RotaryLayout::halves, longrope); }}});
}

TEST(FrequencyRule, TextKeepsEveryParameter) {
  for (const auto& [name, spec] : specs_of_every_rule()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(parse_frequency_rule(to_string(spec.frequencies)), spec.frequencies);
  }
  EXPECT_EQ(to_string(FrequencyRule()), "base");
  EXPECT_EQ(to_string(OwnFrequencies{{1, 0.5}}), "own:values=1/0.5");
  EXPECT_EQ(to_string(Llama3Scaling{}),
            "llama3:factor=8,trained_rows=8192,low_frequency_factor=1,high_frequency_factor=4");
  EXPECT_EQ(to_string(YarnScaling{.factor = 4, .truncate = false}),
            "yarn:factor=4,trained_rows=4096,beta_fast=32,beta_slow=1,truncate=false,"
            "attention_factor=0");
}

TEST(FrequencyRule, ParametersThatTheTextLeavesOutHaveTheirDefaults) {
  EXPECT_EQ(parse_frequency_rule("base"), FrequencyRule());
  EXPECT_EQ(parse_frequency_rule("llama3"), FrequencyRule(Llama3Scaling{}));
  EXPECT_EQ(parse_frequency_rule("yarn:truncate=false,factor=4"),
            FrequencyRule(YarnScaling{.factor = 4, .truncate = false}));
}

TEST(FrequencyRule, RefusesBadText) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "frequencies is ''; allowed: base, own, linear, ntk, yarn, llama3, longrope"},
      {"llama4", "frequencies is 'llama4'; allowed: base, own"},
      {"linear:", "parameter of the frequencies is ''; allowed for linear: factor"},
      {"linear:factor", "factor of the frequencies is ''; allowed: a number"},
      {"linear:factor=4x", "factor of the frequencies is '4x'; allowed: a number"},
      {"linear:factor=4,", "parameter of the frequencies is ''; allowed for linear: factor"},
      {"linear:factor=4,factor=8",
       "parameter of the frequencies is 'factor'; allowed for linear: factor, each once"},
      {"linear:facter=4", "parameter of the frequencies is 'facter'; allowed for linear: factor"},
      {"base:factor=4", "parameter of the frequencies is 'factor'; allowed for base: none"},
      {"yarn:truncate=1", "truncate of the frequencies is '1'; allowed: true, false"},
      {"yarn:trained_rows=1e3", "trained_rows of the frequencies is '1e3'; allowed: an integer"},
      {"own:values=1//2", "values of the frequencies is '1//2'; allowed: numbers with slashes"},
      {"own:values=", "values of the frequencies is ''; allowed: numbers with slashes"},
  };
  for (const auto& [text, reason] : cases)
    expect_refused({{reason, [text = text] { parse_frequency_rule(text); }}});
}

TEST(FrequencyRule, RefusesWhatIsNotAllowed) {
  const struct {
    FrequencyRule rule;
    const char* reason;
  } cases[] = {
      {OwnFrequencies{{1}}, "frequencies has 1 values; allowed: d_model / 2, which is 2"},
      {OwnFrequencies{{1, nan}}, "frequencies[1] is nan; allowed: 0, or a magnitude of"},
      {OwnFrequencies{{1, 1e10}}, "frequencies[1] is 10000000000; allowed: 0, or"},
      {OwnFrequencies{{1e-40, 1}}, "frequencies[0] is 1e-40; allowed: 0, or"},
      {LinearScaling{0}, "factor is 0; allowed: 0.0009765625 to 1.8446744073709552e+19"},
      {LinearScaling{nan}, "factor is nan; allowed"},
      {NtkScaling{0.5}, "factor is 0.5; allowed: 1 to 1048576"},
      {YarnScaling{.factor = -1}, "factor is -1; allowed: 1 to"},
      {YarnScaling{.factor = 2, .trained_rows = 0}, "trained_rows is 0; allowed: 1 to"},
      {YarnScaling{.factor = 2, .beta_fast = 1, .beta_slow = 2},
       "beta_slow is 2; allowed: 9.5367431640625e-07 to 1"},
      {YarnScaling{.factor = 2, .attention_factor = -1}, "attention_factor is -1; allowed: 0 to"},
      {Llama3Scaling{.factor = 0}, "factor is 0; allowed: 1 to"},
      {Llama3Scaling{.low_frequency_factor = 5}, "high_frequency_factor is 4; allowed: 5 to"},
      {LongRopeScaling{{1, 2, 3}}, "factors has 3 values; allowed: d_model / 2, which is 2"},
      {LongRopeScaling{{1, 0}}, "factors[1] is 0; allowed: 0.0009765625 to 1048576"},
  };
  for (const auto& [rule, reason] : cases)
    expect_refused({{reason, [rule = rule] { validate({.d_model = 4, .frequencies = rule}); }}});
  expect_refused({
      {"spacing is inclusive; allowed with this rule of frequencies: paper",
       [] { validate({.spacing = Spacing::inclusive, .frequencies = NtkScaling{2}}); }},
      {"trained_rows is 0; allowed: 1 to", [] { dynamic_ntk_scaling(2, 0, 1); }},
  });
}

}  // namespace
}  // namespace posenc::test
