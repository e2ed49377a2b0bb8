// posenc::check::table() and check::frequencies(): what they find, judge, report and refuse.
#include "posenc/check/table.h"
#include "check/tables.h"
#include "posenc/check/columns.h"
#include "posenc/check/frequencies.h"
#include "posenc/check/report.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace check;
namespace {

/// A correctly rounded table in any arrangement, also in one that no layout writes.
template <class T = float>
BasicMatrix<T> exact_table(EncodingSpec spec, RowRange rows, Arrangement arrangement) {
  spec.layout = Layout::interleaved;
  const auto exact = encoded<T>(*backend("rotation").plan(spec), rows);
  const bool is_once = order_of(arrangement).place == ColumnOrder::one;
  const std::int64_t columns = is_once ? spec.d_model / 2 : spec.d_model;
  return table_of<T>(rows.count, columns, [&](int row, int column) {
    const auto [k, is_cosine] = content_of(arrangement, columns, column);
    return to_double(exact(row, 2 * k + (is_cosine ? 1 : 0)));
  });
}

Matrix exact_table(const EncodingSpec& spec, RowRange rows) {
  return exact_table(spec, rows, arrangement_of(spec.layout));
}

constexpr RowRange some_rows = {0, 300};
constexpr auto halves = Layout::halves, cos_first = Layout::halves_cos_first;
constexpr auto inclusive = Spacing::inclusive;
constexpr DataType float32 = DataType::float32, bfloat16 = DataType::bfloat16;

/// A table and what a check must find in it.
struct Known {
  EncodingSpec spec;
  RowRange rows = some_rows;
  DataType type = float32;
  Arrangement arrangement = arrangement_of(spec.layout);
};

TEST(Check, FindsWhatATableIs) {
  std::vector<Known> all;
  std::size_t next_type = 0;
  for (const std::int64_t first : {0, 2, -40, -5000})
    for (const Layout layout : {Layout::interleaved, halves, cos_first})
      all.push_back({{.d_model = 64, .base = 5e5, .layout = layout},
                     {first, 300},
                     all_data_types[next_type++ % std::size(all_data_types)]});
  for (const Arrangement each : all_arrangements)
    if (each != Arrangement::alternating)  // a mistake
      all.push_back({{.d_model = 64}, some_rows, float32, each});
  for (const EncodingSpec& rule :
       {EncodingSpec{.d_model = 64, .spacing = inclusive},
        EncodingSpec{.d_model = 64, .base = 5e5, .frequencies = Llama3Scaling{}},
        EncodingSpec{.d_model = 64, .base = 5e5, .frequencies = Llama3Scaling{.factor = 3.5}},
        EncodingSpec{.d_model = 64, .frequencies = LinearScaling{4}},
        EncodingSpec{.d_model = 64, .base = 12345}})
    for (const DataType type : all_data_types) all.push_back({rule, {0, 2048}, type});
  // Bases that no list has, far first positions, and few rows, in types that show little.
  const Known unusual[] = {
      {{.d_model = 80, .base = 20000, .layout = cos_first}, {1000, 3000}, bfloat16},
      {{.d_model = 80, .base = 87, .layout = halves, .spacing = inclusive}, {7, 3000}},
      {{.d_model = 512, .base = 3e7, .layout = halves, .spacing = inclusive}, {0, 3000}, bfloat16},
      {{.d_model = 1280, .layout = halves, .spacing = inclusive}, {0, 1000}, bfloat16},
      {{.d_model = 128}, {50'000, 100}, bfloat16},
      {{.d_model = 80, .base = 5e5, .layout = halves}, {1'000'000, 1000}, bfloat16},
      {{.d_model = 64, .base = 256, .layout = cos_first}, {1'000'000, 3000}},
      {{.d_model = 512}, {3, 1}},
      {{.d_model = 64, .base = 5e5}, {1000, 2}, DataType::float16},
      {{.d_model = 8, .base = 256, .layout = cos_first}, {50'000, 100}}};
  all.insert(all.end(), std::begin(unusual), std::end(unusual));
  for (const Known& each : all) {
    with_type(each.type, [&]<class T>(T) {
      const auto table = exact_table<T>(each.spec, each.rows, each.arrangement);
      const check::TableReport report = check::table(table.view());
      const TableIdentity& is = report.identity;
      EXPECT_TRUE(report.is_good) << to_string(report);
      EXPECT_EQ(is.arrangement, each.arrangement) << to_string(report);
      EXPECT_EQ(is.first, each.rows.first) << to_string(report);
      EXPECT_EQ(is.spec.base, each.spec.base) << to_string(report);
      EXPECT_EQ(is.spec.spacing, each.spec.spacing) << to_string(report);
      EXPECT_EQ(is.spec.frequencies, each.spec.frequencies) << to_string(report);
      EXPECT_EQ(report.errors.table.spec, is.spec);
      EXPECT_EQ(report.type, each.type);
    });
  }
}

/// A careful computation in double, of the conventions of presets.
TEST(Check, PhasesInDoubleRaiseNoAlarm) {
  for (const char* const name : {"tutorial", "fairseq", "whisper", "musicgen", "hf_marian", "xlm",
                                 "dit", "roformer", "vllm"}) {
    const Preset& from = preset(name);
    const auto d_model = static_cast<int>(from.spec.d_model);
    const double h = d_model / 2.0 - (from.spec.spacing == inclusive ? 1 : 0);
    const Entry entry = arranged(arrangement_of(from.spec.layout), d_model, [&](int k, int row) {
      return static_cast<double>(from.rows.first + row) *
             std::exp(-k * (std::log(from.spec.base) / h));
    });
    const std::int64_t rows = std::min<std::int64_t>(from.rows.count, 1500);
    const check::TableReport report = check::table(table_of<double>(rows, d_model, entry).view());
    EXPECT_TRUE(report.is_good) << name << "\n" << to_string(report);
  }
}

/// Of positions in hundreds, the first frequencies turn by more than half a turn a row and look
/// like slower ones; unusual bases are found from the others, with few digits in 16 bits.
TEST(Check, FindsUnusualBasesOfFastFrequencies) {
  for (const Known& each : {Known{{.d_model = 128, .base = 4242, .spacing = inclusive}, {0, 200}},
                            Known{{.d_model = 128, .base = 31415.9, .spacing = inclusive}, {0, 8}},
                            Known{{.d_model = 64, .base = 31415.9}, {0, 32}}}) {
    EncodingSpec spec = each.spec;
    spec.frequencies = LinearScaling{0.01};
    const check::TableReport report =
        check::table(exact_table<BFloat16>(spec, each.rows, each.arrangement).view());
    EXPECT_TRUE(report.is_good) << to_string(report);
  }
}

/// What is right, of any convention, type, arrangement and size, is called good.
TEST(Check, RightTablesRaiseAtMostOneAlarm) {
  std::uint32_t state = 7;
  const auto draw = [&](std::size_t count) {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::size_t>(state >> 8) % count;
  };
  const std::vector<Preset> from(presets().begin(), presets().end());
  constexpr int sizes[] = {4, 8, 20, 64, 150, 400};
  constexpr std::int64_t widths[] = {32, 64, 128, 320};
  int alarms = 0;
  std::string said;
  constexpr int tables = 150;
  for (int i = 0; i < tables; ++i) {
    EncodingSpec spec = from[draw(from.size())].spec;
    spec.d_model = widths[draw(std::size(widths))];
    const Arrangement arrangement = all_arrangements[draw(std::size(all_arrangements) - 1)];
    const std::int64_t rows = sizes[draw(std::size(sizes))];
    const std::int64_t first =
        has_both_functions(arrangement) ? static_cast<std::int64_t>(draw(3)) : 0;
    with_type(all_data_types[draw(std::size(all_data_types))], [&]<class T>(T) {
      const check::TableReport report =
          check::table(exact_table<T>(spec, {first, rows}, arrangement).view());
      alarms += !report.is_good;
      if (!report.is_good) said += to_string(report) + "\n";
    });
  }
  EXPECT_LE(alarms, 1) << said;
}

/// What is claimed is tried before what is usual: few rows of 16 bits tell no such base.
TEST(Check, ExpectsTheSpecAskedFor) {
  const EncodingSpec spec = {.d_model = 64, .base = 54321.5};
  auto table = exact_table<BFloat16>(spec, {0, 6}, Arrangement::halves);
  for (std::int64_t row = 0; row < 6; ++row)
    for (std::int64_t k = 0; k < 32; ++k)
      table(row, k) = nearest<BFloat16>(-to_double(table(row, k)));
  for (const std::int64_t d_model : {std::int64_t{0}, spec.d_model}) {
    EncodingSpec claimed = spec;
    claimed.d_model = d_model;
    const check::TableReport report = check::table(
        table.view(), {.spec = claimed, .arrangements = {Arrangement::halves}, .first = 0});
    ASSERT_EQ(report.causes.size(), 1U) << to_string(report);
    EXPECT_EQ(report.causes[0].kind, CauseKind::negated_sines);
  }
}

/// Of two columns, a sine and a cosine, several layouts are right.
TEST(Check, ReadsWhatMayBeSeveralAsTheArrangementAskedFor) {
  Matrix table = exact_table({.d_model = 2}, some_rows);
  for (std::int64_t row = 0; row < table.rows(); ++row) table(row, 0) *= -1;
  for (const Arrangement each : {Arrangement::interleaved, Arrangement::halves}) {
    const check::TableReport report = check::table(table.view(), {.arrangements = {each}});
    EXPECT_THAT(report.causes, SizeIs(1)) << to_string(report);
    EXPECT_THAT(to_string(report), HasSubstr("cause: the sines are negated"));
  }
}

TEST(Check, KnowsATableWithEntriesThatAreNotFinite) {
  Matrix table = exact_table({.d_model = 32}, some_rows);
  table(7, 3) = std::numeric_limits<float>::quiet_NaN();
  table(9, 4) = std::numeric_limits<float>::infinity();
  const check::TableReport report = check::table(table.view());
  EXPECT_EQ(report.verdict(), check::Verdict::wrong);
  EXPECT_EQ(report.entries_not_finite, 2);
  EXPECT_EQ(report.entries_off, 2);
}

TEST(Check, OnlyConventionsWithAPaddingIndexMayHaveARowOfZeros) {
  const EncodingSpec fairseq = {
      .d_model = 32, .layout = Layout::halves, .spacing = Spacing::inclusive};
  for (const auto& [spec, may_have] :
       {std::pair{fairseq, true}, {EncodingSpec{.d_model = 32}, false}}) {
    Matrix table = exact_table(spec, {1, 300});
    for (std::int64_t column = 0; column < 32; ++column) table(1, column) = 0;
    for (const bool is_claimed : {false, true}) {
      check::TableOptions options;
      if (is_claimed) options = {.spec = spec, .arrangements = {arrangement_of(spec.layout)}};
      const check::TableReport report = check::table(table.view(), options);
      EXPECT_EQ(report.is_good, may_have) << to_string(report);
      EXPECT_EQ(report.identity.padding_row,
                may_have ? std::optional<std::int64_t>(1) : std::nullopt);
    }
  }
}

TEST(Check, AClaimRestrictsWhatItNamesAndNothingElse) {
  const EncodingSpec whisper = {
      .d_model = 128, .layout = Layout::halves, .spacing = Spacing::inclusive};
  const Matrix table = exact_table(whisper, {0, 512});
  const EncodingSpec base_alone = {.d_model = 0, .base = 1e4};
  const check::TableReport found = check::table(
      table.view(), {.spec = base_alone, .claimed = {.spacing = false, .frequencies = false}});
  EXPECT_TRUE(found.is_good) << to_string(found);
  EXPECT_EQ(found.identity.spec.spacing, Spacing::inclusive);
  EXPECT_FALSE(check::table(table.view(), {.spec = base_alone}).is_good) << "all of it is claimed";
}

TEST(Check, AnExcludedPairingIsWrong) {
  const Matrix repeated = exact_table({.d_model = 64}, some_rows, Arrangement::cosines_repeated);
  check::TableOptions options = {.spec = EncodingSpec{.d_model = 64}, .first = 0};
  EXPECT_TRUE(check::table(repeated.view(), options).is_good);
  options.excluded = {Arrangement::cosines_repeated, Arrangement::sines_repeated};
  const check::TableReport report = check::table(repeated.view(), options);
  EXPECT_FALSE(report.is_good);
  EXPECT_THAT(to_string(report), HasSubstr("the table is cosines_repeated, not cosines_twice"));
}

TEST(Check, HoldsEveryEntryToTheLimitOfTheCallerOnAnyNumberOfThreads) {
  Matrix table = exact_table({.d_model = 32}, some_rows);
  table(100, 5) += 1e-3F;
  const check::TableReport one = check::table(table.view()),
                           four = check::table(table.view(), {.threads = 4});
  EXPECT_FALSE(one.is_good);
  EXPECT_EQ(one.entries_off, 1);
  EXPECT_NEAR(one.allowed_error, 0x1p-24, 1e-12);
  EXPECT_EQ(one.errors.error.max_abs, four.errors.error.max_abs);
  EXPECT_EQ(to_string(one), to_string(four));
  EXPECT_TRUE(check::table(table.view(), {.max_error = 1.1e-3}).is_good);
  EXPECT_FALSE(check::table(table.view(), {.max_error = 0.9e-3}).is_good);
}

TEST(Check, RefusesWhatDoesNotFit) {
  const Matrix table = exact_table({.d_model = 32}, some_rows);
  const Matrix column(5, 1), row(1, 32);
  const auto of = [&](const check::TableOptions& options, const Matrix& checked) {
    return [=, view = checked.view()] { check::table(view, options); };
  };
  const check::TableOptions interleaved = {.spec = EncodingSpec{.d_model = 0},
                                           .arrangements = {Arrangement::interleaved}};
  expect_refused({
      {"at least one row", [] { check::table(TableView()); }},
      {"table has 32 columns", of({.spec = EncodingSpec{.d_model = 128}}, table)},
      {"d_model is 31", of({.spec = EncodingSpec{.d_model = 31}}, table)},
      {"table has 1 columns", of(interleaved, column)},
      {"position", of({.positions = {(std::int64_t{1} << 53) + 2}}, row)},
      {"position", of({.positions = {std::numeric_limits<std::int64_t>::min()}}, row)},
      {"max_error", of({.max_error = 0}, table)},
      {"threads", of({.threads = 0}, table)},
  });
}

/// inv_freq as models hold it.
TEST(CheckFrequencies, AreJudgedAndTheirFaultsNamed) {
  std::vector<double> right, of_other_base;
  for (int k = 0; k < 32; ++k) {
    right.push_back(f32(frequency(k, 32)));
    of_other_base.push_back(frequency(k, 32, 5e5));
  }
  EXPECT_TRUE(check::frequencies(of_other_base).is_good);
  const FrequencyReport other = check::frequencies(of_other_base, EncodingSpec{.d_model = 0});
  EXPECT_FALSE(other.is_good);
  EXPECT_THAT(other.cause, HasSubstr("base 500000"));
  EXPECT_THAT(refusal([&] { check::frequencies(right, EncodingSpec{.d_model = 62}); }),
              HasSubstr("allowed with d_model 62: 31"));
  EXPECT_THAT(refusal([] { check::frequencies({}); }), HasSubstr("there are 0 frequencies"));
  const auto changed = [&](auto change) {
    std::vector<double> all = right;
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = change(k);
    return check::frequencies(all);
  };
  EXPECT_TRUE(check::frequencies(right).is_good);
  EXPECT_THAT(changed([](std::size_t) { return 0.0; }).cause, HasSubstr("0 .. 31 are zero"));
  EXPECT_THAT(changed([](std::size_t) { return 8.4e-45; }).cause, HasSubstr("0 .. 31 are zero"));
  EXPECT_THAT(changed([&](std::size_t k) { return k == 7 ? nan : right[k]; }).cause,
              HasSubstr("frequency 7 is NaN"));
  EXPECT_THAT(changed([&](std::size_t k) { return right[31 - k]; }).cause,
              HasSubstr("in reversed order"));
  EXPECT_THAT(changed([&](std::size_t k) { return k < 24 ? right[k] : 1e30; }).cause,
              HasSubstr("frequencies 24 .. 31 have other values"));
  using NarrowType = std::pair<Round, const char*>;
  for (const auto& [narrow, name] : {NarrowType(bf16, "bfloat16"), NarrowType(f16, "float16")}) {
    const FrequencyReport report = changed([&, r = narrow](std::size_t k) { return r(right[k]); });
    EXPECT_FALSE(report.is_good);
    EXPECT_EQ(report.spec.base, 1e4);
    EXPECT_EQ(report.cause, std::string("frequencies in ") + name);
  }
}

}  // namespace
}  // namespace posenc::test
