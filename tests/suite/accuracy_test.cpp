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
#include <memory>
#include <utility>
#include <vector>

namespace posenc::test {
namespace {

const EncodingSpec small_spec = {.d_model = 8, .base = 100};

/// The formula in long double, which is accurate enough at the small positions of these tests.
long double exact(const EncodingSpec& spec, std::int64_t position, std::int64_t channel) {
  const auto k = static_cast<long double>(channel / 2);
  const long double frequency = std::pow(static_cast<long double>(spec.base),
                                         -2 * k / static_cast<long double>(spec.d_model));
  const long double angle = static_cast<long double>(position) * frequency;
  return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

using Wrong = std::function<float(std::int64_t position, std::int64_t channel, float right)>;

/// An encoder with errors. It is correctly rounded if `wrong` changes nothing.
class FakeEncoder {
 public:
  explicit FakeEncoder(
      const EncodingSpec& spec, const Wrong& wrong = [](auto, auto, float right) { return right; })
      : backend_(fake_method({.name = "fake",
                              .error_bound = 0x1p-25,
                              .value =
                                  [=](std::int64_t position, std::int64_t channel) {
                                    const long double right = exact(spec, position, channel);
                                    return wrong(position, channel, static_cast<float>(right));
                                  }})),
        encoder_(backend_.plan(spec)) {}

  const Encoder* get() const { return encoder_.get(); }
  operator const Encoder&() const { return *encoder_; }

 private:
  Backend backend_;
  std::unique_ptr<const Encoder> encoder_;
};

Wrong planted_at(std::int64_t position, std::int64_t channel, float error) {
  return [=](std::int64_t p, std::int64_t c, float right) {
    return p == position && c == channel ? right + error : right;
  };
}

/// The absolute errors of an encoder by the formula above, in the order of positions and channels.
std::vector<double> errors_of(const Encoder& encoder, RowRange rows) {
  const std::int64_t d_model = encoder.spec().d_model;
  const Matrix table = encoded(encoder, rows);
  std::vector<double> errors;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    for (std::int64_t c = 0; c < d_model; ++c) {
      errors.push_back(static_cast<double>(std::fabs(static_cast<long double>(table(r, c)) -
                                                     exact(encoder.spec(), rows.first + r, c))));
    }
  }
  return errors;
}

double rms(const std::vector<double>& errors) {
  double squares = 0;
  for (const double error : errors) squares += error * error;
  return std::sqrt(squares / static_cast<double>(errors.size()));
}

TEST(Accuracy, ACorrectEncoderIsCorrectlyRoundedEverywhere) {
  const FakeEncoder right(small_spec);
  const AccuracyReport report = accuracy_of(right, {0, 100});
  EXPECT_EQ(report.wrongly_rounded, 0);
  EXPECT_EQ(report.error.correctly_rounded, 1.0);
  EXPECT_EQ(report.entries, 800);
  EXPECT_LE(report.error.max_abs, 0x1p-25);
  EXPECT_LE(report.error.max_ulp, 0.5);
  EXPECT_EQ(report.backend, "fake");
  EXPECT_EQ(report.isa, "portable");
  EXPECT_EQ(report.table.spec, small_spec);
  EXPECT_EQ(report.table.rows, (RowRange{0, 100}));
  EXPECT_EQ(report.promise.max_abs, 0x1p-25);
}

TEST(Accuracy, APlantedErrorIsReportedWhereItIs) {
  constexpr std::int64_t position = 37, channel = 5;
  const RowRange rows{0, 64};
  const FakeEncoder fake(small_spec, planted_at(position, channel, 0.25F));
  const long double expected = exact(small_spec, position, channel);
  const float got = static_cast<float>(expected) + 0.25F;
  const auto error = static_cast<double>(std::fabs(static_cast<long double>(got) - expected));
  const double ulp = std::ldexp(1.0, std::ilogb(static_cast<double>(expected)) - 23);

  const AccuracyReport report = accuracy_of(fake, rows);
  EXPECT_EQ(report.worst().position, position);
  EXPECT_EQ(report.worst().channel, channel);
  EXPECT_EQ(report.worst().got, got);
  EXPECT_DOUBLE_EQ(report.worst().expected, static_cast<double>(expected));
  EXPECT_DOUBLE_EQ(report.error.max_abs, error);
  EXPECT_DOUBLE_EQ(report.error.max_ulp, error / ulp);
  EXPECT_DOUBLE_EQ(report.error.rms, rms(errors_of(fake, rows)));
  EXPECT_EQ(report.wrongly_rounded, 1);
  EXPECT_DOUBLE_EQ(report.error.correctly_rounded, 1 - 1.0 / 512);

  ASSERT_EQ(report.by_channel.size(), 8U);
  for (std::size_t c = 0; c < 8; ++c) {
    if (c == channel) {
      EXPECT_DOUBLE_EQ(report.by_channel[c].max_abs, error);
      EXPECT_NEAR(report.by_channel[c].rms, error / 8, 1e-9);  // one of 64 rows
    } else {
      EXPECT_LE(report.by_channel[c].max_abs, 0x1p-25) << c;
    }
  }
  ASSERT_EQ(report.by_position.size(), 7U);
  for (const PositionError& octave : report.by_position) {
    if (octave.rows == RowRange{32, 32}) {
      EXPECT_DOUBLE_EQ(octave.error.max_abs, error);
      EXPECT_NEAR(octave.error.rms, error / 16, 1e-9);  // one of 32 x 8 entries
    } else {
      EXPECT_LE(octave.error.max_abs, 0x1p-25) << octave.rows.first;
    }
  }
}

TEST(Accuracy, ShortOctavesAreCutToTheRows) {
  const auto octaves_of = [](RowRange rows) {
    std::vector<RowRange> octaves;
    for (const PositionError& each : accuracy_of(FakeEncoder(small_spec), rows).by_position)
      octaves.push_back(each.rows);
    return octaves;
  };
  EXPECT_THAT(octaves_of({5, 30}),
              ElementsAre(RowRange{5, 3}, RowRange{8, 8}, RowRange{16, 16}, RowRange{32, 3}));
  EXPECT_THAT(octaves_of({0, 4}), ElementsAre(RowRange{0, 1}, RowRange{1, 1}, RowRange{2, 2}));
}

TEST(Accuracy, QuantilesAreThoseOfTheSortedErrors) {
  // The n-th entry has an error of n * 1e-6, so that errors of all sizes occur.
  const FakeEncoder fake(small_spec, [](std::int64_t position, std::int64_t channel, float right) {
    return right + 1e-6F * static_cast<float>(position * 8 + channel);
  });
  const RowRange rows{1, 2000};
  std::vector<double> sorted = errors_of(fake, rows);
  std::sort(sorted.begin(), sorted.end());
  const AccuracyReport report = accuracy_of(fake, rows);
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
  // All entries are right but three, which are one, two and five ulp of 1 off.
  const FakeEncoder fake(small_spec, [](std::int64_t position, std::int64_t channel, float right) {
    const float wrong = position == 0 && channel % 2 == 1 ? static_cast<float>(channel) : 0;
    return right + (channel < 6 ? wrong : 0) * 0x1p-23F;  // 1, 3 and 5 ulp of the cosines of 0
  });
  const AccuracyReport report = accuracy_of(fake, {0, 50});
  EXPECT_EQ(report.wrongly_rounded, 3);
  std::int64_t entries = 0, above_half = 0;
  for (const UlpCount& bar : report.by_ulp) {
    entries += bar.entries;
    above_half += bar.above >= 0.5 ? bar.entries : 0;
    EXPECT_EQ(bar.entries, bar.to == 1 ? 1 : bar.to == 4 ? 1 : bar.to == 8 ? 1 : bar.entries);
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
  const AccuracyReport report =
      accuracy_of(FakeEncoder(small_spec, planted_at(0, 0, 0.25F)), {0, 9});
  EXPECT_EQ(report.error.max_ulp, 0x1p147);
  EXPECT_EQ(report.by_ulp.back().to, 0x1p147);
  EXPECT_EQ(report.by_ulp.back().entries, 1);
  EXPECT_EQ(report.quantiles.back().ulps, 0x1p147);
}

TEST(Accuracy, TheMeanErrorShowsABias) {
  const auto report_with = [](float first, float second) {
    return accuracy_of(FakeEncoder(small_spec,
                                   [=](std::int64_t, std::int64_t channel, float right) {
                                     return right + (channel % 2 == 0 ? first : second);
                                   }),
                       {1, 200});
  };
  EXPECT_NEAR(report_with(0.25F, 0.25F).error.mean, 0.25, 1e-7);
  EXPECT_NEAR(report_with(-0.25F, -0.25F).error.mean, -0.25, 1e-7);
  const AccuracyReport balanced = report_with(-0.25F, 0.25F);
  EXPECT_NEAR(balanced.error.mean, 0, 1e-7);
  EXPECT_NEAR(balanced.error.rms, 0.25, 1e-7);
  EXPECT_NEAR(balanced.by_channel[2].mean, -0.25, 1e-7);
  EXPECT_NEAR(balanced.by_channel[3].mean, 0.25, 1e-7);
  EXPECT_NEAR(balanced.by_position.back().error.mean, 0, 1e-7);
}

TEST(Accuracy, TheWorstEntriesAreListedByErrorAndByUlp) {
  // Channel 0 at position 355 is near a zero of sine: a small error of many ulp.
  const FakeEncoder fake(small_spec, [](std::int64_t position, std::int64_t channel, float right) {
    if (position == 355 && channel == 0) return right + 0x1p-16F;
    return position % 10 == 0 && channel == 3 ? right + 0x1p-12F * static_cast<float>(position)
                                              : right;
  });
  for (const int threads : {1, 3}) {
    const AccuracyReport report =
        accuracy_of(fake, {301, 100}, {.threads = threads, .worst = 3, .progress = {}});
    ASSERT_EQ(report.worst_by_error.size(), 3U);
    EXPECT_EQ(report.worst_by_error[0].position, 400);
    EXPECT_EQ(report.worst_by_error[1].position, 390);
    EXPECT_EQ(report.worst_by_error[2].position, 380);
    EXPECT_EQ(report.worst_by_error[0].position, report.worst().position);
    ASSERT_EQ(report.worst_by_ulp.size(), 3U);
    EXPECT_EQ(report.worst_by_ulp[0].position, 355);
    EXPECT_EQ(report.worst_by_ulp[0].channel, 0);
    EXPECT_EQ(report.worst_by_ulp[1].channel, 3);
    EXPECT_EQ(report.worst_by_ulp[0].ulps, report.error.max_ulp);
    EXPECT_GE(report.worst_by_ulp[0].ulps, report.worst_by_ulp[1].ulps);
    EXPECT_GE(report.worst_by_ulp[1].ulps, report.worst_by_ulp[2].ulps);
  }
  const AccuracyReport one = accuracy_of(fake, {350, 10});
  ASSERT_EQ(one.worst_by_ulp.size(), 1U);
  EXPECT_THROW(accuracy_of(fake, {0, 1}, {.worst = 0, .progress = {}}), InvalidArgument);
}

TEST(Accuracy, TheMapHasTheErrorWhereItIs) {
  const FakeEncoder fake(small_spec, planted_at(707, 5, 0.25F));
  const AccuracyReport report = accuracy_of(fake, {700, 10});
  ASSERT_EQ(report.map.rows, 10);
  ASSERT_EQ(report.map.columns, 8);
  for (std::int64_t i = 0; i < 80; ++i)
    EXPECT_EQ(report.map.largest[static_cast<std::size_t>(i)] > 0.1F, i == 7 * 8 + 5) << i;
  // A table of many rows has fewer parts, and each entry is in one of them.
  const AccuracyReport many = accuracy_of(fake, {0, 1000});
  EXPECT_EQ(many.map.rows, MapTally::most_rows);
  EXPECT_EQ(std::ranges::count_if(many.map.largest, [](float error) { return error > 0.1F; }), 1);
}

TEST(Accuracy, NanAndInfinityAreTheLargestErrors) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    const FakeEncoder fake(small_spec,
                           [bad](std::int64_t position, std::int64_t channel, float right) {
                             return position == 6 && channel == 1 ? bad : right;
                           });
    const AccuracyReport report = accuracy_of(fake, {0, 10});
    EXPECT_FALSE(report.error.max_abs < 2) << bad;
    EXPECT_EQ(report.wrongly_rounded, 1) << bad;
    EXPECT_EQ(report.worst().position, 6) << bad;
    EXPECT_EQ(report.worst().channel, 1) << bad;
  }
}

TEST(Accuracy, TheDifferenceFromDivTermIsMeasuredSeparately) {
  const auto div_term = backend("div_term").plan({.d_model = 64});
  const AccuracyReport of_itself = accuracy_of(*div_term, {0, 5000});
  EXPECT_EQ(of_itself.max_abs_from_div_term, 0);
  EXPECT_GT(of_itself.error.max_abs, 1e-5);

  const auto naive = backend("naive").plan({.d_model = 64});
  const AccuracyReport of_naive = accuracy_of(*naive, {0, 5000});
  EXPECT_NEAR(of_naive.max_abs_from_div_term, of_itself.error.max_abs, 1e-7);

  const AccuracyReport planted =
      accuracy_of(FakeEncoder(small_spec, planted_at(3, 3, 0.5F)), {0, 8});
  EXPECT_NEAR(planted.max_abs_from_div_term, 0.5, 1e-6);
}

TEST(Accuracy, SeveralEncodersAreMeasuredTogetherAndReportedSeparately) {
  const FakeEncoder right(small_spec);
  const FakeEncoder wrong(small_spec, planted_at(9, 4, 0.125F));
  const Encoder* const both[] = {right.get(), wrong.get(), right.get()};
  const auto reports = measure_accuracy(both, {0, 20});
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[0].wrongly_rounded, 0);
  EXPECT_EQ(reports[1].wrongly_rounded, 1);
  EXPECT_EQ(reports[2].wrongly_rounded, 0);
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
  const FakeEncoder one(small_spec);
  const FakeEncoder other({.d_model = 8, .base = 101});
  const Encoder* const two_specs[] = {one.get(), other.get()};
  const Encoder* const just_one[] = {one.get()};
  const auto measuring = [](std::span<const Encoder* const> encoders, RowRange rows,
                            int threads = 1) {
    return [=] { measure_accuracy(encoders, rows, {.threads = threads, .progress = {}}); };
  };
  expect_refused({
      {"spec", measuring(two_specs, {0, 10})},
      {"row count is 0; allowed for an accuracy report: at least 1", measuring(just_one, {0, 0})},
      {"first position is -9007199254740993", measuring(just_one, {-max_position - 1, 5})},
      {"threads is 0", measuring(just_one, {0, 5}, 0)},
  });
}

}  // namespace
}  // namespace posenc::test
