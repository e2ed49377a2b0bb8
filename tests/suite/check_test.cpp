// posenc::check() and check_frequencies(): what they find, judge, report and refuse.
#include "posenc/suite/checking/check.h"
#include "posenc/data_type.h"
#include "posenc/registry.h"
#include "posenc/suite/checking/arrangement.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace posenc {
namespace {

using testing::HasSubstr;

template <class T = float>
BasicMatrix<T> encoded(const EncodingSpec& spec, RowRange rows) {
  BasicMatrix<T> table(rows.count, spec.d_model);
  backend("rotation").plan(spec)->encode(rows, table.view());
  return table;
}

constexpr RowRange some_rows = {0, 300};

TEST(Check, FindsWhatATableOfAnyTypeAndLayoutIs) {
  for (const Layout layout : {Layout::interleaved, Layout::halves, Layout::halves_cos_first}) {
    for (const std::int64_t first : {0, 2, -40, -5000}) {
      for (const DataType type : all_data_types) {
        with_type(type, [&]<class T>(T) {
          const EncodingSpec spec = {.d_model = 64, .base = 5e5, .layout = layout};
          const auto table = encoded<T>(spec, {first, 300});
          const CheckReport report = check(table.view());
          EXPECT_TRUE(report.is_good) << to_string(report);
          EXPECT_EQ(report.identity.arrangement, arrangement_of(layout)) << to_string(report);
          EXPECT_EQ(report.identity.first, first) << to_string(report);
          EXPECT_EQ(report.identity.spec.base, 5e5) << to_string(report);
          EXPECT_EQ(report.type, type);
        });
      }
    }
  }
}

TEST(Check, NamesACauseAtPositionsBefore0) {
  const EncodingSpec spec = {.d_model = 64};
  Matrix table(2048, 64);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (int k = 0; k < 32; ++k) {
      const float w = 1 / std::pow(1e4F, static_cast<float>(2 * k) / 64);
      const float phase = static_cast<float>(row - 9000) * w;
      table(row, 2 * k) = std::sin(phase);
      table(row, 2 * k + 1) = std::cos(phase);
    }
  }
  const CheckReport report = check(table.view(), {.spec = spec});
  EXPECT_FALSE(report.is_good);
  EXPECT_EQ(report.identity.first, -9000) << to_string(report);
  ASSERT_FALSE(report.causes.empty());
  EXPECT_EQ(report.causes.front().kind, CauseKind::float32_phases) << to_string(report);
}

TEST(Check, FindsRulesOfFrequencies) {
  for (const EncodingSpec& spec :
       {EncodingSpec{.d_model = 64, .spacing = Spacing::inclusive},
        EncodingSpec{.d_model = 64, .base = 5e5, .frequencies = Llama3Scaling{}},
        EncodingSpec{.d_model = 64, .frequencies = LinearScaling{4}},
        EncodingSpec{.d_model = 64, .base = 12345}}) {
    const Matrix table = encoded(spec, {0, 2048});
    const CheckReport report = check(table.view());
    EXPECT_TRUE(report.is_good) << to_string(report);
    EXPECT_EQ(report.identity.spec.base, spec.base) << to_string(report);
    EXPECT_EQ(report.identity.spec.spacing, spec.spacing) << to_string(report);
    EXPECT_EQ(report.identity.spec.frequencies, spec.frequencies) << to_string(report);
  }
}

/// Tables that no layout writes: their columns are those of an exact table in another order.
TEST(Check, FindsEveryArrangement) {
  const Matrix exact = encoded({.d_model = 64}, some_rows);
  for (const Arrangement arrangement : all_arrangements) {
    if (arrangement == Arrangement::alternating) continue;  // a mistake
    const std::int64_t columns =
        arrangement == Arrangement::cosines || arrangement == Arrangement::sines ? 32 : 64;
    Matrix table(some_rows.count, columns);
    for (std::int64_t row = 0; row < some_rows.count; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const auto [k, is_cosine] = content_of(arrangement, columns, column);
        table(row, column) = exact(row, 2 * k + (is_cosine ? 1 : 0));
      }
    }
    const CheckReport report = check(table.view());
    EXPECT_TRUE(report.is_good) << to_string(arrangement) << "\n" << to_string(report);
    EXPECT_EQ(report.identity.arrangement, arrangement) << to_string(report);
  }
}

TEST(Check, JudgesByTheSpecAskedFor) {
  const EncodingSpec spec = {.d_model = 64, .base = 5e5};
  const Matrix table = encoded(spec, some_rows);
  EXPECT_TRUE(check(table.view(), {.spec = spec}).is_good);
  EncodingSpec of_table = spec;
  of_table.d_model = 0;
  EXPECT_TRUE(check(table.view(), {.spec = of_table}).is_good);
  const CheckReport report = check(table.view(), {.spec = EncodingSpec{.d_model = 64}});
  EXPECT_FALSE(report.is_good);
  EXPECT_EQ(report.identity.spec.base, 1e4);
}

TEST(Check, SaysThatNoiseIsNotKnown) {
  Matrix table(200, 16);
  std::uint32_t state = 1;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (std::int64_t column = 0; column < 16; ++column) {
      state = state * 1664525U + 1013904223U;
      table(row, column) = static_cast<float>(state) * 0x1p-31F - 1;
    }
  }
  const CheckReport report = check(table.view());
  EXPECT_FALSE(report.is_good);
  EXPECT_FALSE(report.is_identified);
  EXPECT_EQ(report.rows, 200);
  EXPECT_TRUE(check(table.view(), {.spec = EncodingSpec{.d_model = 16}}).causes.empty());
}

/// The report does not depend on the number of threads.
TEST(Check, AnyNumberOfThreadsGivesTheSameFigures) {
  Matrix table = encoded({.d_model = 32}, some_rows);
  table(100, 5) += 1e-3F;
  const CheckReport one = check(table.view()), four = check(table.view(), {.threads = 4});
  EXPECT_EQ(one.entries_off, four.entries_off);
  EXPECT_EQ(one.errors.error.max_abs, four.errors.error.max_abs);
  EXPECT_EQ(to_string(one), to_string(four));
}

TEST(Check, ReadsAnyStrides) {
  const EncodingSpec spec = {.d_model = 32};
  const Matrix table = encoded(spec, some_rows);
  std::vector<float> column_major(300 * 32);
  for (std::int64_t row = 0; row < 300; ++row) {
    for (std::int64_t column = 0; column < 32; ++column)
      column_major[static_cast<std::size_t>(column * 300 + row)] = table(row, column);
  }
  TableView view = table.view();
  view.data = column_major.data();
  view.row_stride = 1;
  view.column_stride = 300;
  EXPECT_TRUE(check(view, {.spec = spec, .first = 0}).is_good);
}

TEST(Check, CountsEntriesThatAreNotFinite) {
  Matrix table = encoded({.d_model = 32}, some_rows);
  table(7, 3) = std::numeric_limits<float>::quiet_NaN();
  table(9, 4) = std::numeric_limits<float>::infinity();
  const CheckReport report = check(table.view());
  EXPECT_FALSE(report.is_good);
  EXPECT_TRUE(report.is_identified);
  EXPECT_EQ(report.entries_not_finite, 2);
  EXPECT_EQ(report.entries_off, 2);
}

TEST(Check, JudgesNoPaddingRow) {
  Matrix table = encoded({.d_model = 32}, {1, 300});
  for (std::int64_t column = 0; column < 32; ++column) table(1, column) = 0;
  const CheckReport report = check(table.view());
  EXPECT_TRUE(report.is_good) << to_string(report);
  EXPECT_EQ(report.identity.padding_row, 1);
}

TEST(Check, HoldsEveryEntryToTheLimitOfTheCaller) {
  Matrix table = encoded({.d_model = 32}, some_rows);
  table(100, 5) += 1e-3F;
  EXPECT_FALSE(check(table.view()).is_good);
  EXPECT_EQ(check(table.view()).entries_off, 1);
  EXPECT_TRUE(check(table.view(), {.max_error = 1.1e-3}).is_good);
  EXPECT_FALSE(check(table.view(), {.max_error = 0.9e-3}).is_good);
}

TEST(Check, RefusesWhatDoesNotFit) {
  const Matrix table = encoded({.d_model = 32}, some_rows);
  const auto refused = [&](const CheckOptions& options) {
    return test::refusal([&] { check(table.view(), options); });
  };
  EXPECT_THAT(test::refusal([] { check(TableView()); }), HasSubstr("at least one row"));
  EXPECT_THAT(refused({.spec = EncodingSpec{.d_model = 128}}), HasSubstr("table has 32 columns"));
  EXPECT_THAT(refused({.spec = EncodingSpec{.d_model = 31}}), HasSubstr("d_model is 31"));
  const Matrix column(5, 1);
  EXPECT_THAT(test::refusal([&] {
                check(column.view(), {.spec = EncodingSpec{.d_model = 0},
                                      .arrangements = {Arrangement::interleaved}});
              }),
              HasSubstr("table has 1 columns"));
  EXPECT_THAT(refused({.max_error = 0}), HasSubstr("max_error"));
  EXPECT_THAT(refused({.threads = 0}), HasSubstr("threads"));
}

TEST(CheckFrequencies, JudgesThem) {
  std::vector<double> exact, of_other_base;
  for (int k = 0; k < 32; ++k) {
    exact.push_back(std::pow(1e4, -k / 32.0));
    of_other_base.push_back(std::pow(5e5, -k / 32.0));
  }
  EXPECT_TRUE(check_frequencies(exact).is_good);
  EXPECT_TRUE(check_frequencies(of_other_base).is_good);
  const FrequencyReport other = check_frequencies(of_other_base, EncodingSpec{.d_model = 0});
  EXPECT_FALSE(other.is_good);
  EXPECT_THAT(other.cause, HasSubstr("base 500000"));
  EXPECT_THAT(test::refusal([&] { check_frequencies(exact, EncodingSpec{.d_model = 62}); }),
              HasSubstr("allowed with d_model 62: 31"));
  EXPECT_THAT(test::refusal([] { check_frequencies({}); }), HasSubstr("there are 0 frequencies"));
}

}  // namespace
}  // namespace posenc
