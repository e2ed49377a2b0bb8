// Every backend stays within its error bound and within [-1, 1], in blocks of rows from position 0
// to 10^12.
#include "frequency_rules.h"
#include "posenc/encoder.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/measure.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::test {
namespace {

constexpr std::int64_t long_context = 131072;
constexpr std::int64_t far_starts[] = {1'000'000, std::int64_t{1} << 31, 1'000'000'000'000};

/// Blocks of 24 rows (of all rows, if there are fewer) spread evenly over `rows`, including its
/// first and last rows. Their distance is not a multiple of a large power of two, so that they
/// begin at different places relative to anchors and tiles.
std::vector<RowRange> sampled_blocks(RowRange rows, std::int64_t d_model) {
  const std::int64_t height = std::min<std::int64_t>(24, rows.count);
  const std::int64_t entries = sanitized ? 20'000 : 200'000;
  const std::int64_t blocks = std::max<std::int64_t>(entries / (height * d_model), 3);
  std::vector<RowRange> sampled;
  for (std::int64_t b = 0; b < blocks; ++b)
    sampled.push_back({rows.first + (rows.count - height) * b / (blocks - 1), height});
  return sampled;
}

using Encoders = std::vector<std::unique_ptr<const Encoder>>;

/// The encoders of every backend that takes the spec, so that their errors are measured with exact
/// values that are computed once.
Encoders encoders_of(const EncodingSpec& spec) {
  return plan_all(running_backends(), table_of(spec, {0, 1})).encoders;
}

/// Expects that each encoder that writes the type keeps its promises.
void expect_bounds(const Encoders& encoders, RowRange rows, DataType type, int threads = 1) {
  std::vector<const Encoder*> measured;
  for (const auto& each : encoders)
    if (each->backend().supports(type)) measured.push_back(each.get());
  const std::vector<AccuracyReport> reports =
      measure_accuracy(measured, rows, {.threads = threads, .type = type, .progress = {}});
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const AccuracyReport& report = reports[i];
    const Backend& backend = measured[i]->backend();
    SCOPED_TRACE(testing::Message()
                 << backend.full_name() << ", " << to_string(type) << ", rows " << rows.first
                 << " + " << rows.count << ", worst: position " << report.worst().position
                 << ", channel " << report.worst().channel);
    EXPECT_EQ(report.table.type, type);
    EXPECT_LE(report.error.max_abs, report.promise.max_abs);
    if (backend.is_correctly_rounded(type)) {
      EXPECT_EQ(report.wrongly_rounded, 0);
    }
  }
}

void expect_bounds_in_every_type(const EncodingSpec& spec,
                                 std::initializer_list<std::int64_t> starts, std::int64_t count) {
  const Encoders encoders = encoders_of(spec);
  for (const std::int64_t first : starts)
    for (const DataType type : all_data_types) expect_bounds(encoders, {first, count}, type);
}

class BoundsOfPreset : public testing::TestWithParam<Preset> {};

TEST_P(BoundsOfPreset, HoldFromPosition0ToFarOnes) {
  const EncodingSpec& spec = GetParam().spec;
  const Encoders encoders = encoders_of(spec);
  std::vector<RowRange> ranges = {{0, long_context}, {long_context, (1 << 20) - long_context + 1}};
  for (const std::int64_t first : far_starts) ranges.push_back({first, long_context});
  for (const RowRange rows : ranges)
    for (const RowRange block : sampled_blocks(rows, spec.d_model))
      expect_bounds(encoders, block, DataType::float32);
}

/// Presets that differ by their rows alone are one.
std::vector<Preset> presets_of_different_encodings() {
  std::vector<Preset> different;
  for (const Preset& each : presets())
    if (std::ranges::find(different, each.spec, &Preset::spec) == different.end())
      different.push_back(each);
  return different;
}

INSTANTIATE_TEST_SUITE_P(All, BoundsOfPreset, testing::ValuesIn(presets_of_different_encodings()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Bounds, HoldForOtherBasesAndTheSmallestShapesInEveryType) {
  for (const double base : {1.0000001, 2.0, 500000.0, 1e300}) {
    for (const std::int64_t d_model : {2, 4, 66}) {
      for (const Spacing spacing : all_spacings) {
        SCOPED_TRACE(testing::Message()
                     << "base " << base << ", d_model " << d_model << ", " << to_string(spacing));
        expect_bounds_in_every_type(
            {.d_model = d_model, .base = base, .layout = Layout::halves, .spacing = spacing},
            {0, far_starts[2], max_position - 199}, 200);
      }
    }
  }
}

/// A backend that a user adds may refuse rules, and the tests then leave it out.
TEST(Bounds, ThePublishedMethodsRefuseNoRule) {
  for (const auto& [name, spec] : specs_of_every_rule()) {
    for (const char* const method : {"naive", "div_term", "xsimd", "rotation", "rotation32"})
      EXPECT_NO_THROW(backend(method).plan(spec)) << method << ", " << name;
  }
}

TEST(Bounds, HoldForEveryRuleOfFrequencies) {
  for (const auto& [name, spec] : specs_of_every_rule()) {
    SCOPED_TRACE(name);
    expect_bounds_in_every_type(spec, {0, far_starts[0], far_starts[2], max_position - 79}, 80);
  }
}

/// No entry is certain at first. Rows of 16-bit types that are a page apart have the widest panels,
/// whose lists of uncertain pairs are then full.
TEST(Bounds, HoldNextToMidpoints) {
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16})
    for (const Layout layout : {Layout::interleaved, Layout::halves})
      expect_bounds(encoders_of(spec_near_midpoints(type, 2048, 52, layout)),
                    {(std::int64_t{1} << 52) - 32, 64}, type);
}

class BoundsOfBackend : public testing::TestWithParam<const Backend*> {};

/// Every looser bound holds, too.
TEST_P(BoundsOfBackend, AreNoLooserThanPublished) {
  struct Published {
    std::string_view name;
    double of_base, of_rule;
  };
  for (const auto& [name, of_base, of_rule] : {Published{"naive", 3.03e-8, 3.17e-8},
                                               {"div_term", 0.2501, 0.6251},
                                               {"xsimd", 2.981e-8, 2.981e-8},
                                               {"rotation", 2.981e-8, 2.981e-8},
                                               {"rotation32", 2.9e-7, 2.9e-7}}) {
    if (name != GetParam()->name()) continue;
    const auto bound_of = [](const FrequencyRule& rule) {
      return GetParam()->plan({.d_model = 128, .frequencies = rule})->error_bound({0, 1 << 20});
    };
    EXPECT_LE(bound_of(BaseFrequencies{}), of_base);
    EXPECT_LE(bound_of(Llama3Scaling{}), of_rule);
  }
}

TEST_P(BoundsOfBackend, KeepEntriesWithinOne) {
  constexpr std::int64_t d_model = 128, count = sanitized ? 500 : 4000;
  for (const Layout layout : {Layout::interleaved, Layout::halves}) {
    const auto encoder = GetParam()->plan({.d_model = d_model, .layout = layout});
    for (const DataType type : all_data_types) {
      if (!encoder->backend().supports(type)) continue;
      SCOPED_TRACE(testing::Message() << to_string(layout) << ", " << to_string(type));
      with_type(type, [&]<class T>(T) {
        for (const std::int64_t first : {std::int64_t{0}, far_starts[0], far_starts[2]}) {
          const auto table = encoded<T>(*encoder, {first, count});
          const auto beyond = std::ranges::count_if(
              std::span(table.data(), static_cast<std::size_t>(count * d_model)),
              [](T entry) { return !(std::fabs(to_double(entry)) <= 1); });
          EXPECT_EQ(beyond, 0) << "entries beyond 1 in rows from " << first;
        }
      });
    }
  }
}

TEST_P(BoundsOfBackend, AreFiniteAndNoSmallerThanHalfAnUlp) {
  const auto encoder = GetParam()->plan({.d_model = 512});
  for (const RowRange rows :
       {RowRange{0, 5000}, RowRange{0, 1 << 20}, RowRange{1'000'000'000'000, 10}}) {
    const double bound = encoder->error_bound(rows);
    EXPECT_TRUE(std::isfinite(bound));
    EXPECT_GE(bound, 0x1p-25);
    EXPECT_LE(encoder->error_bound({rows.first, rows.count / 2}), bound)
        << "a part of the rows has no larger bound";
  }
}

INSTANTIATE_TEST_SUITE_P(All, BoundsOfBackend, testing::ValuesIn(running_backends()), of_backend);

// Every entry of the long context, not a sample.
TEST(WholeLongContext, IsWithinTheBounds) {
  if (sanitized) GTEST_SKIP() << "too long under sanitizers";
  expect_bounds(encoders_of({.d_model = 128}), {0, long_context}, DataType::float32, 2);
}

TEST(Xsimd, RoundsNearlyEveryEntryCorrectly) {
  const auto report = accuracy_of(*backend("xsimd").plan({.d_model = 512}), {1'000'000, 2000});
  EXPECT_LT(report.wrongly_rounded, report.entries / 100'000);
}

// div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model)), then sin and
// cos of position * div_term.
TEST(DivTerm, IsBitIdenticalToPyTorchsTutorial) {
  constexpr int d_model = 512;
  const auto encoder = backend("div_term").plan({.d_model = d_model});
  for (const std::int64_t position : {0, 1, 2, 63, 4999, 131071}) {
    const Matrix row = encoded(*encoder, {position, 1});
    for (int two_i = 0; two_i < d_model; two_i += 2) {
      const auto step = static_cast<float>(-std::log(10000.0) / d_model);
      const float div_term = std::exp(static_cast<float>(two_i) * step);
      const float angle = static_cast<float>(position) * div_term;
      ASSERT_EQ(row(0, two_i), std::sin(angle)) << position << ", " << two_i;
      ASSERT_EQ(row(0, two_i + 1), std::cos(angle)) << position << ", " << two_i;
    }
  }
}

}  // namespace
}  // namespace posenc::test
