// The accuracy report against planted errors: the encoders are correct, except where a test changes
// their values.
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/error_tally.h"

#include "fake_backend.h"
#include "posenc/registry.h"
#include "posenc/suite/measure_accuracy.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace posenc::test {
namespace {

const EncodingSpec small_spec = {.d_model = 8, .base = 100};

/// The formula for small_spec in long double, which is accurate enough at the small positions of
/// these tests.
long double exact(std::int64_t position, std::int64_t channel) {
  const long double angle = static_cast<long double>(position) *
                            std::pow(100.0L, static_cast<long double>(channel / 2) / -4);
  return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

/// The error that is added to an entry.
using Planted = std::function<float(std::int64_t position, std::int64_t channel)>;

Planted planted_at(std::int64_t position, std::int64_t channel, float error) {
  return [=](std::int64_t p, std::int64_t c) { return p == position && c == channel ? error : 0; };
}

const Planted nothing = planted_at(0, 0, 0);

float entry(const Planted& planted, std::int64_t position, std::int64_t channel) {
  return static_cast<float>(exact(position, channel)) + planted(position, channel);
}

/// A backend with errors. It is correctly rounded where none is planted.
Backend fake(const Planted& planted) {
  return Backend(fake_method({.name = "fake",
                              .error_bound = 0x1p-25,
                              .value = [=](std::int64_t position, std::int64_t channel) {
                                return entry(planted, position, channel);
                              }}));
}

AccuracyReport report_of(const Planted& planted, RowRange rows,
                         const AccuracyOptions& options = {}) {
  const Backend backend = fake(planted);
  return accuracy_of(*backend.plan(small_spec), rows, options);
}

/// The absolute errors by the formula above, in the order of positions and channels.
std::vector<double> errors_of(const Planted& planted, RowRange rows) {
  std::vector<double> errors;
  for (const std::int64_t position : positions_of(rows)) {
    for (std::int64_t channel = 0; channel < small_spec.d_model; ++channel) {
      const long double got = entry(planted, position, channel);
      errors.push_back(static_cast<double>(std::fabs(got - exact(position, channel))));
    }
  }
  return errors;
}

TEST(Accuracy, APlantedErrorIsReportedWhereItIs) {
  constexpr std::int64_t position = 37, channel = 5;
  const RowRange rows{0, 64};
  const Planted planted = planted_at(position, channel, 0.25F);
  const auto expected = static_cast<double>(exact(position, channel));
  const std::vector<double> errors = errors_of(planted, rows);
  const double error = *std::ranges::max_element(errors);

  const AccuracyReport report = report_of(planted, rows);
  EXPECT_EQ(report.worst().position, position);
  EXPECT_EQ(report.worst().channel, channel);
  EXPECT_EQ(report.worst().got, entry(planted, position, channel));
  EXPECT_DOUBLE_EQ(report.worst().expected, expected);
  EXPECT_DOUBLE_EQ(report.error.max_abs, error);
  EXPECT_DOUBLE_EQ(report.error.max_ulp, error / std::ldexp(1.0, std::ilogb(expected) - 23));
  const double squares = std::inner_product(errors.begin(), errors.end(), errors.begin(), 0.0);
  EXPECT_DOUBLE_EQ(report.error.rms, std::sqrt(squares / 512));
  EXPECT_EQ(report.wrongly_rounded, 1);
  EXPECT_DOUBLE_EQ(report.error.correctly_rounded, 1 - 1.0 / 512);

  const auto expect_summary = [&](const ErrorSummary& summary, bool has_error, double entries) {
    if (has_error) {
      EXPECT_DOUBLE_EQ(summary.max_abs, error);
      EXPECT_NEAR(summary.rms, error / std::sqrt(entries), 1e-9);
    } else {
      EXPECT_LE(summary.max_abs, 0x1p-25);
    }
  };
  ASSERT_EQ(report.by_channel.size(), 8U);
  for (std::size_t c = 0; c < 8; ++c) expect_summary(report.by_channel[c], c == channel, 64);
  ASSERT_EQ(report.by_position.size(), 7U);
  for (const auto& [octave, summary] : report.by_position)
    expect_summary(summary, octave == RowRange{32, 32}, 32 * 8);
}

/// The sine at position 0 is exactly 0, where an ulp has no finite inverse in float64.
TEST(Accuracy, AnExactZeroHasNoErrorInUlp) {
  for (const DataType type : all_data_types) {
    SCOPED_TRACE(to_string(type));
    const auto encoder = backend("naive").plan({.d_model = 8});
    const AccuracyReport report =
        accuracy_of(*encoder, {0, 50}, {.type = type, .worst = 3, .progress = {}});
    EXPECT_EQ(report.worst_by_ulp.front().ulps, report.error.max_ulp);
    EXPECT_GT(report.worst_by_ulp.back().ulps, 0);
    EXPECT_NE(report.worst_by_ulp.front().position, 0);
    double entries = 0;
    for (const UlpCount& each : report.by_ulp) {
      entries += static_cast<double>(each.entries);
      EXPECT_LE(each.above, report.error.max_ulp);
    }
    EXPECT_EQ(entries, 400);
  }
}

TEST(Accuracy, ShortOctavesAreCutToTheRows) {
  const auto octaves_of = [](RowRange rows) {
    std::vector<RowRange> octaves;
    for (const PositionError& each : report_of(nothing, rows).by_position)
      octaves.push_back(each.rows);
    return octaves;
  };
  EXPECT_THAT(octaves_of({5, 30}),
              ElementsAre(RowRange{5, 3}, RowRange{8, 8}, RowRange{16, 16}, RowRange{32, 3}));
  EXPECT_THAT(octaves_of({0, 4}), ElementsAre(RowRange{0, 1}, RowRange{1, 1}, RowRange{2, 2}));
}

TEST(Accuracy, QuantilesAreThoseOfTheSortedErrors) {
  // The n-th entry has an error of n * 1e-6, so that errors of all sizes occur.
  const Planted planted = [](std::int64_t position, std::int64_t channel) {
    return 1e-6F * static_cast<float>(position * 8 + channel);
  };
  const RowRange rows{1, 2000};
  std::vector<double> sorted = errors_of(planted, rows);
  std::ranges::sort(sorted);
  const AccuracyReport report = report_of(planted, rows);
  std::vector<double> shares;
  for (const auto& [share, abs_error, ulps] : report.quantiles) {
    shares.push_back(share);
    const double at_share = sorted[static_cast<std::size_t>(std::ceil(share * 16000)) - 1];
    EXPECT_GE(abs_error, at_share) << share;
    EXPECT_LE(abs_error, at_share * 1.02) << share;
    EXPECT_GT(ulps, 0) << share;
  }
  EXPECT_EQ(shares, (std::vector<double>{0.5, 0.9, 0.99, 0.999, 0.9999, 1}));
  EXPECT_DOUBLE_EQ(report.quantiles.back().abs_error, report.error.max_abs);
}

TEST(Accuracy, QuantilesAreWithinABinOfErrorsOfAnySize) {
  for (double error = 0x1.01p-80; error < 4; error *= 1.013) {
    Histogram<-80, 2, 6> one;
    one.add(error);
    EXPECT_GE(one.quantile(1, 1), error);
    EXPECT_LE(one.quantile(1, 1), error * (1 + 0x1p-6));
  }
}

TEST(Accuracy, TheHistogramInUlpCountsEveryEntryOnce) {
  // All entries are right but three cosines of 0, which are one, three and five ulp off.
  const Planted planted = [](std::int64_t position, std::int64_t channel) {
    const bool is_wrong = position == 0 && channel % 2 == 1 && channel < 6;
    return is_wrong ? static_cast<float>(channel) * 0x1p-23F : 0;
  };
  const AccuracyReport report = report_of(planted, {0, 50});
  EXPECT_EQ(report.wrongly_rounded, 3);
  std::int64_t entries = 0, above_half = 0;
  for (const UlpCount& bar : report.by_ulp) {
    entries += bar.entries;
    above_half += bar.above >= 0.5 ? bar.entries : 0;
    if (bar.to == 1 || bar.to == 4 || bar.to == 8) {
      EXPECT_EQ(bar.entries, 1) << bar.to;
    }
    EXPECT_TRUE(bar.above == 0 || bar.to == 2 * bar.above) << bar.to;
  }
  EXPECT_EQ(entries, report.entries);
  EXPECT_EQ(above_half, 3) << "an entry at exactly half an ulp counts as at most half an ulp";
  EXPECT_EQ(report.by_ulp.back().to, 8);
  EXPECT_EQ(report.quantiles.back().ulps, report.error.max_ulp);
  EXPECT_DOUBLE_EQ(report.error.max_ulp, 5);
}

TEST(Accuracy, ErrorsBeyondTheHistogramAreInItsLastBar) {
  // sin 0 is 0, of which an ulp is 2^-149.
  const AccuracyReport report = report_of(planted_at(0, 0, 0.25F), {0, 9});
  EXPECT_EQ(report.error.max_ulp, 0x1p147);
  EXPECT_EQ(report.by_ulp.back().to, 0x1p147);
  EXPECT_EQ(report.by_ulp.back().entries, 1);
  EXPECT_EQ(report.quantiles.back().ulps, 0x1p147);
}

TEST(Accuracy, TheMeanErrorShowsABias) {
  for (const float even : {0.25F, -0.25F}) {
    const AccuracyReport report =
        report_of([=](auto, auto channel) { return channel % 2 == 0 ? even : 0.25F; }, {1, 200});
    const double mean = even > 0 ? 0.25 : 0;
    EXPECT_NEAR(report.error.mean, mean, 1e-7);
    EXPECT_NEAR(report.error.rms, 0.25, 1e-7);
    EXPECT_NEAR(report.by_channel[2].mean, even, 1e-7);
    EXPECT_NEAR(report.by_channel[3].mean, 0.25, 1e-7);
    EXPECT_NEAR(report.by_position.back().error.mean, mean, 1e-7);
  }
}

TEST(Accuracy, TheWorstEntriesAreListedByErrorAndByUlp) {
  // Channel 0 at position 355 is near a zero of sine: a small error of many ulp.
  const Planted planted = [](std::int64_t position, std::int64_t channel) {
    if (position == 355 && channel == 0) return 0x1p-16F;
    return position % 10 == 0 && channel == 3 ? 0x1p-12F * static_cast<float>(position) : 0;
  };
  const auto at = [](std::int64_t position, std::int64_t channel) {
    return AllOf(testing::Field(&WorstEntry::position, position),
                 testing::Field(&WorstEntry::channel, channel));
  };
  for (const int threads : {1, 3}) {
    const AccuracyReport report =
        report_of(planted, {301, 100}, {.threads = threads, .worst = 3, .progress = {}});
    EXPECT_THAT(report.worst_by_error, ElementsAre(at(400, 3), at(390, 3), at(380, 3)));
    ASSERT_THAT(report.worst_by_ulp, SizeIs(3));
    EXPECT_THAT(report.worst_by_ulp[0], at(355, 0));
    EXPECT_EQ(report.worst_by_ulp[1].channel, 3);
    EXPECT_EQ(report.worst_by_ulp[0].ulps, report.error.max_ulp);
    EXPECT_TRUE(std::ranges::is_sorted(report.worst_by_ulp, std::greater(), &WorstEntry::ulps));
  }
  EXPECT_THAT(report_of(planted, {350, 10}).worst_by_ulp, SizeIs(1)) << "by default";
}

TEST(Accuracy, TheMapHasTheErrorWhereItIs) {
  const Planted planted = planted_at(707, 5, 0.25F);
  const AccuracyReport report = report_of(planted, {700, 10});
  ASSERT_EQ(report.map.rows, 10);
  ASSERT_EQ(report.map.columns, 8);
  for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(report.map.largest[i] > 0.1F, i == 7 * 8 + 5) << i;
  // A table of many rows has fewer parts, and each entry is in one of them.
  const AccuracyReport many = report_of(planted, {0, 1000});
  EXPECT_EQ(many.map.rows, MapTally::most_rows);
  EXPECT_EQ(std::ranges::count_if(many.map.largest, [](float error) { return error > 0.1F; }), 1);
}

TEST(Accuracy, NanAndInfinityAreTheLargestErrors) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {static_cast<float>(nan), infinity, -infinity}) {
    const AccuracyReport report = report_of(planted_at(6, 1, bad), {0, 10});
    EXPECT_FALSE(report.error.max_abs < 2) << bad;
    EXPECT_EQ(report.wrongly_rounded, 1) << bad;
    EXPECT_EQ(report.worst().position, 6) << bad;
    EXPECT_EQ(report.worst().channel, 1) << bad;
  }
}

TEST(Accuracy, TheDifferenceFromDivTermIsMeasuredSeparately) {
  const AccuracyReport of_itself =
      accuracy_of(*backend("div_term").plan({.d_model = 64}), {0, 5000});
  EXPECT_EQ(of_itself.max_abs_from_div_term, 0);
  EXPECT_GT(of_itself.error.max_abs, 1e-5);
  const AccuracyReport of_naive = accuracy_of(*backend("naive").plan({.d_model = 64}), {0, 5000});
  EXPECT_NEAR(of_naive.max_abs_from_div_term, of_itself.error.max_abs, 1e-7);
  EXPECT_NEAR(report_of(planted_at(3, 3, 0.5F), {0, 8}).max_abs_from_div_term, 0.5, 1e-6);
}

TEST(Accuracy, SeveralEncodersAreMeasuredTogetherAndReportedSeparately) {
  const Backend right = fake(nothing), wrong = fake(planted_at(9, 4, 0.125F));
  const auto one = right.plan(small_spec), other = wrong.plan(small_spec);
  const Encoder* const encoders[] = {one.get(), other.get(), one.get()};
  std::vector<std::int64_t> wrongly_rounded;
  for (const AccuracyReport& each : measure_accuracy(encoders, {0, 20}))
    wrongly_rounded.push_back(each.wrongly_rounded);
  EXPECT_THAT(wrongly_rounded, ElementsAre(0, 1, 0));
  EXPECT_THAT(measure_accuracy({}, {0, 20}), IsEmpty());
}

TEST(Accuracy, IsTheSameFromAnyNumberOfThreads) {
  const auto encoder = backend("div_term").plan({.d_model = 20});
  const AccuracyReport one = accuracy_of(*encoder, {7, 3000});
  for (const int threads : {2, 3, 7}) {
    const AccuracyReport many =
        accuracy_of(*encoder, {7, 3000}, {.threads = threads, .progress = {}});
    EXPECT_EQ(many.error.max_abs, one.error.max_abs);
    EXPECT_EQ(many.error.max_ulp, one.error.max_ulp);
    EXPECT_NEAR(many.error.rms, one.error.rms, one.error.rms * 1e-12);
    EXPECT_EQ(many.wrongly_rounded, one.wrongly_rounded);
    EXPECT_EQ(many.worst().position, one.worst().position);
    EXPECT_EQ(many.worst().channel, one.worst().channel);
    EXPECT_EQ(many.by_position.size(), one.by_position.size());
  }
}

TEST(Accuracy, RefusesInvalidArguments) {
  const Backend backend = fake(nothing);
  const auto one = backend.plan(small_spec), other = backend.plan({.d_model = 8, .base = 101});
  const Encoder* const two_specs[] = {one.get(), other.get()};
  const auto measuring = [&](RowRange rows, int threads = 1, int worst = 1) {
    return [=, &one] {
      accuracy_of(*one, rows, {.threads = threads, .worst = worst, .progress = {}});
    };
  };
  expect_refused({
      {"spec",
       [&] {
         measure_accuracy(two_specs, {0, 10});
       }},
      {"row count is 0; allowed for an accuracy report: at least 1", measuring({0, 0})},
      {"first position is -9007199254740993", measuring({-max_position - 1, 5})},
      {"threads is 0", measuring({0, 5}, 0)},
      {"worst is 0", measuring({0, 5}, 1, 0)},
  });
}

}  // namespace
}  // namespace posenc::test
