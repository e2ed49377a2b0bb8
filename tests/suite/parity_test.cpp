// Tables like those of other systems, against each system's formula as plain loops in float32.
#include "posenc/suite/parity.h"

#include "posenc/encoder.h"
#include "posenc/exact/float32_phases.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace posenc::test {
namespace {

/// The float nearest to a double: of a function's value, the correctly rounded one, unless the
/// double is within an ulp of a midpoint of floats, which none is here.
float f(double value) { return static_cast<float>(value); }

constexpr RowRange ranges[] = {{0, 70}, {131'000, 70}, {16'777'210, 20}};

/// Expects that entries are the sines and cosines of the frequencies times the positions.
void expect_phases(const Encoder& encoder, const std::vector<float>& frequencies) {
  for (const RowRange rows : ranges) {
    const Matrix table = encoded(encoder, rows, 3);
    for (std::int64_t row = 0; row < rows.count; ++row) {
      for (std::int64_t k = 0; k < encoder.spec().d_model / 2; ++k) {
        const double phase =
            static_cast<float>(rows.first + row) * frequencies[static_cast<std::size_t>(k)];
        const ChannelPair channel = channels_of(encoder.spec(), k);
        ASSERT_EQ(table(row, channel.sine), f(std::sin(phase))) << "row " << row << ", k " << k;
        ASSERT_EQ(table(row, channel.cosine), f(std::cos(phase))) << "row " << row << ", k " << k;
      }
    }
  }
}

/// 1 / base^(2k / d)
std::vector<float> inverse_powers(float base, int dimension) {
  std::vector<float> all;
  for (int i = 0; i < dimension; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(dimension);
    all.push_back(1.0F / f(std::pow(static_cast<double>(base), static_cast<double>(exponent))));
  }
  return all;
}

TEST(Parity, TheTutorialsPhases) {
  std::vector<float> div_term;
  const float scale = f(-std::log(10000.0) / 512);
  for (int i = 0; i < 512; i += 2)
    div_term.push_back(f(std::exp(static_cast<double>(static_cast<float>(i) * scale))));
  expect_phases(*plan_like(System::tutorial, {}), div_term);
}

TEST(Parity, TransformersPhasesByEveryRule) {
  const std::vector<float> plain = inverse_powers(5e5F, 128);
  std::vector<float> linear = plain, llama3 = plain;
  for (float& each : linear) each /= 3.0F;
  for (float& each : llama3) {
    const float wavelength = (1.0F / each) * 6.2831853F;
    if (wavelength > 8192.0F) {
      each = each / 8.0F;
    } else if (wavelength >= 2048.0F) {
      const float smooth = (8192.0F * (1.0F / wavelength) - 1.0F) / 3.0F;
      each = (1.0F - smooth) * each / 8.0F + smooth * each;
    }
  }
  const std::vector<float> ntk = inverse_powers(f(5e5 * std::pow(4.0, 128.0 / 126)), 128);
  std::vector<float> yarn;
  for (int k = 0; k < 64; ++k) {
    const float power = f(std::pow(5e5, static_cast<double>(static_cast<float>(2 * k) / 128.0F)));
    // 32 and 1 turns in 8192 rows: between frequencies 18.08 and 34.98.
    const float kept = 1.0F - std::clamp((static_cast<float>(k) - 18.0F) / 17.0F, 0.0F, 1.0F);
    yarn.push_back(1.0F / (4.0F * power) * (1.0F - kept) + 1.0F / power * kept);
  }
  const std::pair<FrequencyRule, std::vector<float>> rules[] = {
      {{}, plain},
      {LinearScaling{3}, linear},
      {NtkScaling{4}, ntk},
      {YarnScaling{.factor = 4, .trained_rows = 8192, .attention_factor = 1}, yarn},
      {Llama3Scaling{}, llama3}};
  for (const auto& [rule, frequencies] : rules) {
    SCOPED_TRACE(to_string(rule));
    expect_phases(
        *plan_like(
            System::transformers,
            {.d_model = 128, .base = 5e5, .layout = Layout::halves_cos_first, .frequencies = rule}),
        frequencies);
  }
}

TEST(Parity, VllmConvertsTheFloat32ValuesOfTransformersToBfloat16) {
  const EncodingSpec spec = {.d_model = 128, .layout = Layout::halves_cos_first};
  const RowRange rows = {4000, 40};
  const auto encoder = plan_like(System::transformers, spec);
  const Matrix wide = encoded(*encoder, rows);
  const auto narrow = encoded<BFloat16>(*encoder, rows);
  for (std::int64_t i = 0; i < rows.count * 128; ++i)
    ASSERT_EQ(narrow.data()[i], nearest<BFloat16>(to_double(wide.data()[i])));
}

TEST(Parity, ErrorsAreWithinTheirBounds) {
  const EncodingSpec spec = {.d_model = 128, .base = 5e5};
  for (const System system : all_systems) {
    const auto encoder = plan_like(system, spec);
    for (const RowRange rows : {RowRange{0, 3000}, RowRange{1'000'000, 3000}}) {
      for (const DataType type : all_data_types) {
        const AccuracyReport report = accuracy_of(*encoder, rows, {.type = type, .progress = {}});
        EXPECT_LE(report.error.max_abs, report.promise.max_abs) << to_string(system);
      }
    }
    EXPECT_LT(encoder->error_bound({0, 4096}, DataType::float32), 1e-2) << to_string(system);
  }
}

/// There, positions are rounded, and products once more.
TEST(Parity, PhasesBeyond2To24AreWithinTheirBound) {
  const EncodingSpec spec = {.d_model = 64};
  const std::vector<float> frequencies = detail::transformers_frequencies(spec);
  double most = 0;
  for (int position = (1 << 24) + 1; position < (1 << 24) + 4000; position += 2) {
    for (std::size_t k = 0; k < 32; ++k) {
      const float phase = static_cast<float>(position) * frequencies[k];
      const double exact = position * std::pow(1e4, -static_cast<double>(k) / 32);
      most = std::max(most, std::fabs(phase - exact) / position);
    }
  }
  const double bound = detail::error_per_position(frequencies, spec);
  EXPECT_LE(most, bound);
  EXPECT_GT(most, 0.55 * bound);
}

TEST(Parity, WhatASystemDoesNotHaveIsRefused) {
  const auto planned = [](System system, const EncodingSpec& spec) {
    return refusal([&] { plan_like(system, spec); });
  };
  for (const System system : all_systems) {
    EXPECT_EQ(
        planned(system, {.spacing = Spacing::inclusive}),
        "spacing is inclusive; allowed for system " + std::string(to_string(system)) + ": paper");
    EXPECT_THAT(planned(system, {.d_model = 2, .frequencies = OwnFrequencies{{1.0}}}),
                HasSubstr("frequencies is own; allowed for system"));
  }
  EXPECT_EQ(planned(System::tutorial, {.frequencies = Llama3Scaling{}}),
            "frequencies is llama3; allowed for system tutorial: base");
}

}  // namespace
}  // namespace posenc::test
