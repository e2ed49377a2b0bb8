// Every backend stays within its error bound and within [-1, 1], in blocks of rows from position 0
// to 10^12.
#include "frequency_rules.h"
#include "posenc/encoder.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/suite/accuracy_report.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace posenc::test {
namespace {

constexpr double half_ulp_of_one_with_margin = 2.9803e-8;
constexpr double least_share_correctly_rounded = 0.99999;
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

struct Totals {
  double max_abs = 0;
  std::int64_t entries = 0;
  std::int64_t wrongly_rounded = 0;

  double correctly_rounded() const {
    return 1 - static_cast<double>(wrongly_rounded) / static_cast<double>(entries);
  }
};

Totals measure(const Encoder& encoder, RowRange rows) {
  Totals totals;
  for (const RowRange block : sampled_blocks(rows, encoder.spec().d_model)) {
    const AccuracyReport report = accuracy_of(encoder, block);
    EXPECT_LE(report.error.max_abs, report.promise.max_abs)
        << "rows " << block.first << " + " << block.count << ", worst: position "
        << report.worst.position << ", channel " << report.worst.channel;
    totals.max_abs = std::max(totals.max_abs, report.error.max_abs);
    totals.entries += report.entries;
    totals.wrongly_rounded += report.wrongly_rounded;
  }
  return totals;
}

/// What each method promises for rows up to `last` in addition to its error_bound(), which
/// measure() checks for every backend.
void expect_promises_of(const Backend& backend, const Totals& totals, std::int64_t last) {
  if (backend.name() == "rotation" || backend.name() == "xsimd") {
    EXPECT_LE(totals.max_abs, half_ulp_of_one_with_margin);
    EXPECT_GE(totals.correctly_rounded(), least_share_correctly_rounded)
        << totals.wrongly_rounded << " wrong";
  }
  if (backend.name() == "rotation") {
    EXPECT_EQ(totals.wrongly_rounded, 0);
  }
  if (backend.name() == "naive") {
    // Half a float32 ulp, plus the error of the phase in double: position times a frequency whose
    // relative error is a few units of 2^-53.
    EXPECT_LE(totals.max_abs, 0x1p-25 + static_cast<double>(last) * 0x1p-51);
  }
}

class Bounds : public testing::TestWithParam<std::tuple<const Backend*, Preset>> {};

TEST_P(Bounds, HoldFromPosition0ToFarOnes) {
  const auto& [backend, preset] = GetParam();
  const auto encoder = backend->plan(preset.spec);
  std::vector<RowRange> ranges = {{0, long_context}, {long_context, (1 << 20) - long_context + 1}};
  for (const std::int64_t first : far_starts) ranges.push_back({first, long_context});
  for (const RowRange rows : ranges) {
    SCOPED_TRACE("rows from " + std::to_string(rows.first));
    expect_promises_of(*backend, measure(*encoder, rows), rows.farthest());
  }
}

/// Presets that differ by their rows alone are one.
std::vector<Preset> presets_of_different_encodings() {
  std::vector<Preset> different;
  for (const Preset& each : presets())
    if (std::ranges::find(different, each.spec, &Preset::spec) == different.end())
      different.push_back(each);
  return different;
}

INSTANTIATE_TEST_SUITE_P(All, Bounds,
                         testing::Combine(testing::ValuesIn(running_backends()),
                                          testing::ValuesIn(presets_of_different_encodings())),
                         [](const auto& each) {
                           return identifier(*std::get<0>(each.param)) + "_" +
                                  std::string(std::get<1>(each.param).name);
                         });

class BoundsOfBackend : public testing::TestWithParam<const Backend*> {};

void expect_bounds_of(const Encoder& encoder, RowRange rows, DataType type) {
  if (!encoder.backend().supports(type)) return;
  SCOPED_TRACE(testing::Message() << to_string(type) << ", rows from " << rows.first);
  const AccuracyReport report = accuracy_of(encoder, rows, {.type = type, .progress = {}});
  EXPECT_EQ(report.table.type, type);
  EXPECT_LE(report.error.max_abs, report.promise.max_abs);
  if (encoder.backend().is_correctly_rounded(type)) {
    EXPECT_EQ(report.wrongly_rounded, 0);
  }
}

void expect_bounds_of(const Encoder& encoder, RowRange rows) {
  for (const DataType type : all_data_types) expect_bounds_of(encoder, rows, type);
}

TEST_P(BoundsOfBackend, HoldForOtherBasesAndTheSmallestShapesInEveryType) {
  for (const double base : {1.0000001, 2.0, 500000.0, 1e300}) {
    for (const std::int64_t d_model : {2, 4, 66}) {
      for (const Spacing spacing : all_spacings) {
        SCOPED_TRACE(testing::Message()
                     << "base " << base << ", d_model " << d_model << ", " << to_string(spacing));
        const auto encoder = GetParam()->plan(
            {.d_model = d_model, .base = base, .layout = Layout::halves, .spacing = spacing});
        for (const std::int64_t first : {std::int64_t{0}, far_starts[2], max_position - 199})
          expect_bounds_of(*encoder, {first, 200});
      }
    }
  }
}

TEST_P(BoundsOfBackend, HoldForEveryRuleOfFrequencies) {
  for (const auto& [name, spec] : specs_of_every_rule()) {
    SCOPED_TRACE(name);
    const auto encoder = GetParam()->plan(spec);
    for (const std::int64_t first :
         {std::int64_t{0}, far_starts[0], far_starts[2], max_position - 79})
      expect_bounds_of(*encoder, {first, 80});
  }
}

/// No entry is certain at first. Rows of 16-bit types that are a page apart have the widest panels,
/// whose lists of uncertain pairs are then full.
TEST_P(BoundsOfBackend, HoldNextToMidpoints) {
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16})
    for (const Layout layout : {Layout::interleaved, Layout::halves})
      expect_bounds_of(*GetParam()->plan(spec_near_midpoints(type, 2048, 52, layout)),
                       {(std::int64_t{1} << 52) - 32, 64}, type);
}

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

// Every entry of the long context, not a sample. All backends share one pass over the exact values.
TEST(WholeLongContext, IsWithinTheBounds) {
  if (sanitized) GTEST_SKIP() << "too long under sanitizers";
  const EncodingSpec spec = {.d_model = 128};
  const RowRange rows = {0, long_context};
  std::vector<std::unique_ptr<const Encoder>> planned;
  std::vector<const Encoder*> encoders;
  for (const Backend* each : running_backends())
    encoders.push_back(planned.emplace_back(each->plan(spec)).get());
  const auto reports = measure_accuracy(encoders, rows, {.threads = 2, .progress = {}});
  const std::vector<const Backend*> measured = running_backends();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    SCOPED_TRACE(measured[i]->full_name());
    EXPECT_LE(reports[i].error.max_abs, reports[i].promise.max_abs);
    expect_promises_of(*measured[i],
                       {reports[i].error.max_abs, reports[i].entries, reports[i].wrongly_rounded},
                       rows.count);
  }
}

// Published figures: the error of the float32 formula is 7e-3 at 131072 rows of 512, and 6e-2 at
// 2^20 rows.
TEST(DivTerm, HasThePublishedError) {
  const auto encoder = backend("div_term").plan({.d_model = 512});
  double max_abs = 0;
  for (std::int64_t first = 120'000; first < long_context; first += 500)
    max_abs = std::max(max_abs, accuracy_of(*encoder, {first, 10}).error.max_abs);
  EXPECT_GT(max_abs, 2e-3);
  EXPECT_LT(max_abs, 1.2e-2);
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
