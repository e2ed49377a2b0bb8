// posenc::check::table(): kinds of tables and of mistakes that people have reported, one test each.
#include "check/tables.h"
#include "frequency_rules.h"
#include "posenc/check/columns.h"
#include "posenc/check/table.h"
#include "posenc/model/axes_presets.h"
#include "posenc/model/grid.h"
#include "posenc/model/rotary.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace model;

using namespace check;
namespace {

using Frequencies = std::vector<double>;

/// w_k = base^(-2 k / d_model)
Frequencies paper(std::int64_t d_model, double base = 1e4) {
  Frequencies all;
  for (std::int64_t k = 0; k < d_model / 2; ++k)
    all.push_back(frequency(static_cast<double>(k), static_cast<double>(d_model) / 2, base));
  return all;
}

/// Cosines, then sines, of phases in double.
Matrix cosines_then_sines(const std::vector<std::int64_t>& positions, const Frequencies& w) {
  const int columns = 2 * static_cast<int>(w.size());
  return table_of(std::ssize(positions), columns,
                  arranged(Arrangement::halves_cos_first, columns, [&](int k, int row) {
                    return static_cast<double>(positions[static_cast<std::size_t>(row)]) *
                           w[static_cast<std::size_t>(k)];
                  }));
}

std::vector<std::int64_t> up_to(std::int64_t rows) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

Matrix noise(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  return table_of(rows, columns, [&](int, int) { return uniform(random); });
}

const check::TableOptions vllm = {.spec = EncodingSpec{.d_model = 0},
                                  .arrangements = {Arrangement::halves_cos_first},
                                  .first = 0};

TEST(CheckKinds, TablesOverAxesAreRightAsFoundAndAsClaimed) {
  for (const AxesPreset& preset : axes_presets()) {
    SCOPED_TRACE(preset.name);
    GridSizes sizes = {preset.usual[0] > 1 ? 3 : 1, 6, 8};
    if (preset.name == "cogvideox" || preset.name == "sam3")  // their sizes are fixed
      sizes = {std::min<std::int64_t>(preset.usual[0], 2), preset.usual[1], preset.usual[2]};
    const AxesTable axes = axes_table(preset.name, sizes);
    Matrix table(axes.rows, axes.spec.d_model());
    AxesEncoder(axes.spec).encode(axes.row_positions(), table.view());
    const check::TableReport found = check::table(table.view());
    EXPECT_EQ(to_string(found.verdict()), "right") << to_string(found);
    ASSERT_TRUE(found.identity.axes.has_value()) << to_string(found);
    const check::TableOptions claimed = {
        .axes = TableAxes{.spec = axes.spec, .positions = axes.positions}};
    EXPECT_TRUE(check::table(table.view(), claimed).is_good);
    table(5, 3) += 0.01F;
    const check::TableReport wrong = check::table(table.view(), claimed);
    EXPECT_EQ(wrong.entries_off, 1) << to_string(wrong);
    EXPECT_THAT(to_string(wrong), HasSubstr("found: column 3 is off"));
  }
}

TEST(CheckKinds, TablesOfGridsAreRightWithAndWithoutAClassToken) {
  for (const GridConvention convention :
       {GridConvention::mae, GridConvention::simple_vit, GridConvention::detr}) {
    for (const std::int64_t token : {0, 1}) {
      Matrix table(14 * 10 + token, 64);
      for (std::int64_t column = 0; column < 64; ++column) table(0, column) = 0;
      MatrixView<float> cells = table.view();
      cells.data += token * cells.stride;
      cells.rows -= token;
      encode_grid(convention, 14, 10, 64, cells);
      const check::TableReport report = check::table(table.view());
      EXPECT_TRUE(report.is_good) << to_string(report);
      EXPECT_THAT(to_string(report), HasSubstr("on a grid of 14 x 10"));
    }
  }
  Matrix mae(14 * 14, 64);
  encode_grid(GridConvention::mae, 14, 14, 64, mae.view());
  EncodingSpec one_axis = preset("mae").spec;
  one_axis.d_model = 0;
  EXPECT_TRUE(check::table(mae.view(), {.spec = one_axis, .first = 0}).is_good);
  one_axis.base = 100;
  EXPECT_FALSE(check::table(mae.view(), {.spec = one_axis, .first = 0}).is_good);
}

TEST(CheckKinds, PositionsOnTheAxesOfAModelAreFound) {
  const AxesSpec spec =
      axes_in_sections(std::vector<std::int64_t>{16, 24, 24}, {.d_model = 128, .base = 1e6});
  std::vector<std::int64_t> positions;  // text, then an image
  for (const int axis : {0, 1, 2})
    for (std::int64_t row = 0; row < 84; ++row)
      positions.push_back(row < 20 ? row
                                   : 20 + (axis == 0   ? 0
                                           : axis == 1 ? (row - 20) / 8
                                                       : (row - 20) % 8));
  const Rotary rotary(RotarySpec{.angles = spec});
  Matrix cache(84, 128);
  rotary.cache(RowPositions(positions.data(), 3, 84, 84), RotaryLayout::halves, cache.view());
  Matrix cosines = table_of(84, 128, [&](int row, int column) { return cache(row, column % 64); });
  const check::TableOptions of_model = {
      .spec = spec_of_equal_positions(spec), .first = 0, .axes = TableAxes{.spec = spec}};
  for (const Matrix* const table : {&cache, &cosines}) {
    const check::TableReport report = check::table(table->view(), of_model);
    EXPECT_TRUE(report.is_good) << to_string(report);
    ASSERT_TRUE(report.identity.axes.has_value());
    // Cosines of the slowest pairs do not tell position 0 from 1.
    if (table != &cache) continue;
    EXPECT_EQ(report.identity.axes->positions, positions);
  }
}

TEST(CheckKinds, EveryRuleIsRightAsClaimedAndNeverWrongUnclaimed) {
  for (const auto& [name, spec] : specs_of_every_rule()) {
    SCOPED_TRACE(name);
    Matrix table(600, spec.d_model);
    backend("rotation").plan(spec)->encode(RowRange{0, 600}, table.view());
    const check::TableOptions claimed = {
        .spec = spec, .arrangements = {arrangement_of(spec.layout)}, .first = 0};
    EXPECT_TRUE(check::table(table.view(), claimed).is_good);
    const check::TableReport found = check::table(table.view());
    EXPECT_NE(to_string(found.verdict()), "wrong") << to_string(found);
  }
}

TEST(CheckKinds, TheLimitComesFromThePhaseAndNotFromThePosition) {
  EncodingSpec spec = {.d_model = 128, .frequencies = LinearScaling{0x1p40}};
  const std::vector<std::int64_t> positions = {std::int64_t{978} << 40, std::int64_t{681} << 40};
  Frequencies w = paper(128);
  for (double& each : w) each /= 0x1p40;
  Matrix table = cosines_then_sines(positions, w);
  check::TableOptions claimed = {
      .spec = spec, .arrangements = {Arrangement::halves_cos_first}, .positions = positions};
  EXPECT_TRUE(check::table(table.view(), claimed).is_good);
  table(0, 5) += 0.5F;
  table(1, 5) += 0.5F;
  EXPECT_THAT(to_string(check::table(table.view(), claimed)),
              AllOf(HasSubstr("wrong: "), HasSubstr("column 5 is off, the other 127 are right")));

  std::vector<std::int64_t> far = up_to(100);
  for (std::int64_t& each : far) each += max_position - 100;
  claimed.positions = far;
  claimed.spec->frequencies = BaseFrequencies{};
  Matrix zeros(100, 128);
  std::fill_n(zeros.data(), 100 * 128, 0.0F);
  EXPECT_FALSE(check::table(zeros.view(), claimed).is_good);
  const check::TableReport doubles =
      check::table(cosines_then_sines(far, paper(128)).view(), claimed);
  EXPECT_THAT(to_string(doubles), HasSubstr("where doubles are too coarse to hold phases"));
}

TEST(CheckKinds, AnOddWidthLacksItsLastColumn) {
  constexpr int width = 127;
  Matrix table = table_of(512, width,
                          arranged(Arrangement::interleaved, width + 1,
                                   [](int k, int row) { return row * frequency(k, width / 2.0); }));
  const check::TableOptions claimed = {
      .spec = EncodingSpec{.d_model = 0}, .arrangements = {Arrangement::interleaved}, .first = 0};
  for (const check::TableOptions& options : {check::TableOptions(), claimed}) {
    const check::TableReport report = check::table(table.view(), options);
    EXPECT_TRUE(report.is_good) << to_string(report);
    EXPECT_THAT(to_string(report), HasSubstr("base 10000, spacing paper, odd width 127"));
  }
  for (std::int64_t row = 0; row < 512; ++row) table(row, width - 1) = noise(512, 1)(row, 0);
  EXPECT_THAT(to_string(check::table(table.view())),
              AllOf(HasSubstr("wrong: "), HasSubstr("column 126 is off, the other 126 are right")));
}

TEST(CheckKinds, RowsInAnyOrderAreRightAndTheirPositionsListed) {
  std::vector<std::int64_t> shuffled = up_to(2000), gathered, repeated, class_token = {0};
  std::ranges::shuffle(shuffled, std::mt19937(3));
  for (int i = 0; i < 30; ++i) gathered.push_back(std::lround(999 - 33.31 * i));
  for (int i = 0; i < 1024; ++i) repeated.push_back(i % 256);
  for (int i = 0; i < 499; ++i) class_token.push_back(i);
  for (const auto& positions : {shuffled, gathered, repeated, class_token}) {
    const check::TableReport report =
        check::table(cosines_then_sines(positions, paper(128)).view());
    EXPECT_TRUE(report.is_good) << to_string(report);
    EXPECT_EQ(report.identity.positions, positions);
  }
  EXPECT_THAT(to_string(check::table(cosines_then_sines(class_token, paper(128)).view(), vllm)),
              HasSubstr("cause: the positions are 0, 0 .. 498, not 0 .. 499"));
  const check::TableReport list =
      check::table(cosines_then_sines({1000, 936, 832, 624}, paper(128)).view());
  EXPECT_THAT(to_string(list), HasSubstr("positions 1000, 936, 832, 624,"));

  // Four sequences, one function alone.
  const Matrix cosines = table_of(1200, 64, arranged(Arrangement::cosines, 64, [](int k, int row) {
                                    return row % 300 * frequency(k, 64);
                                  }));
  EXPECT_TRUE(check::table(cosines.view()).is_good);
}

TEST(CheckKinds, ColumnsAndFrequenciesThatAreOffAreListed) {
  const auto said = [](const Matrix& table) { return to_string(check::table(table.view(), vllm)); };
  const auto said_with = [&](const std::function<void(Frequencies&)>& change) {
    Frequencies w = paper(128);
    change(w);
    return said(cosines_then_sines(up_to(800), w));
  };
  EXPECT_THAT(said_with([](Frequencies& w) { w[5] = 0.5; }),
              AllOf(HasSubstr("cause: not recognised"),
                    HasSubstr("columns 5, 69 are off, the other 126 are right"),
                    HasSubstr("frequency 5 is 0.5, not 0.486968")));
  EXPECT_THAT(said_with([](Frequencies& w) { std::fill_n(w.begin(), 4, 0.0); }),
              HasSubstr("frequencies 0 .. 3 are 0"));
  EXPECT_THAT(said_with([](Frequencies& w) {
                for (std::size_t k = 32; k < 64; ++k) w[k] = paper(128, 5e5)[k];
              }),
              AllOf(HasSubstr("columns 32 .. 63, 96 .. 127 are off, the other 64 are right"),
                    HasSubstr("frequencies 32 .. 63 are multiplied by 0.021")));

  const Matrix right = cosines_then_sines(up_to(800), paper(128));
  EXPECT_THAT(said(table_of(800, 128,
                            [&](int row, int column) {
                              return right(row, column == 20 ? 24 : column == 24 ? 20 : column);
                            })),
              HasSubstr("columns 20, 24 are off, the other 126 are right"));
  for (const auto& [factor, text] : {std::pair(1.05, "multiplied by 1.05"), {-1.0, "negated"}})
    EXPECT_THAT(said(table_of(800, 128,
                              [&, by = factor](int row, int column) {
                                return (column < 64 ? by : 1) * right(row, column);
                              })),
                HasSubstr(std::string("cause: the cosines are ") + text));
}

TEST(CheckKinds, WhatIsNoTableHasNoIdentity) {
  for (const auto& [rows, columns] : {std::pair(10000, 64), {4, 16384}, {300, 7}}) {
    const Matrix random = noise(rows, columns);
    const Matrix ones = table_of(rows, columns, [](int, int) { return 1.0; });
    for (const Matrix* const table : {&random, &ones}) {
      const check::TableReport report = check::table(table->view());
      EXPECT_EQ(report.verdict(), check::Verdict::not_recognised) << to_string(report);
    }
  }
  Matrix walk = noise(4096, 64);
  for (std::int64_t row = 1; row < walk.rows(); ++row)
    for (std::int64_t column = 0; column < 64; ++column)
      walk(row, column) = walk(row - 1, column) + 0.01F * walk(row, column);
  // Fourier features of -1 to 1
  Matrix bands = table_of(224, 128, arranged(Arrangement::halves, 128, [](int k, int row) {
                            return (2.0 * row / 223 - 1) * std::numbers::pi * (1 + 111.0 * k / 63);
                          }));
  for (const Matrix* const table : {&walk, &bands})
    EXPECT_EQ(check::table(table->view()).verdict(), check::Verdict::not_recognised);
}

/// In float64, the rounding of other programs is visible. No rule explains it.
TEST(CheckKinds, TablesInDoubleHaveNoRuleThatChangesNothing) {
  const auto tutorial = [](double d_model) {
    return [=](int row, int column) {
      const double phase = row * frequency(column / 2, d_model / 2);
      return column % 2 == 0 ? std::sin(phase) : std::cos(phase);
    };
  };
  const auto whole = check::table(table_of<double>(100, 256, tutorial(256)).view());
  EXPECT_EQ(whole.identity.spec, (EncodingSpec{.d_model = 256})) << to_string(whole);
  const auto scaled = check::table(table_of<double>(200, 64, [&](int row, int column) {
                                     return 8 * tutorial(64)(row, column);
                                   }).view());
  EXPECT_EQ(scaled.identity.spec, (EncodingSpec{.d_model = 64})) << to_string(scaled);
  const auto cut = check::table(table_of<double>(200, 127, tutorial(128)).view());
  EXPECT_TRUE(cut.is_good) << to_string(cut);
}

TEST(CheckKinds, ARowOfZeroSinesIsExplainedByItsPosition) {
  const Matrix table =
      table_of(20, 16, [](int row, int column) { return std::sin(row * frequency(column, 16)); });
  const check::TableReport report =
      check::table(table.view(), {.arrangements = {Arrangement::sines}, .first = 5});
  EXPECT_THAT(to_string(report),
              AllOf(HasSubstr("the first row is position 0, not 5"), Not(HasSubstr("is zero"))));
}

/// Transformers multiplies float32 cosines by a float32 factor. Its first digits are right.
TEST(CheckKinds, AFactorWithTheSameDigitsIsNoCause) {
  const EncodingSpec spec = {.d_model = 128,
                             .frequencies = YarnScaling{.factor = 40, .trained_rows = 4096}};
  const std::vector<double> frequencies = frequencies_of(spec);
  const auto factor = static_cast<float>(attention_factor(spec.frequencies));
  const Matrix table = table_of(2048, 128, [&](int row, int column) {
    const double phase = row * frequencies[static_cast<std::size_t>(column % 64)];
    return factor * static_cast<float>(std::cos(phase));
  });
  const check::TableReport report =
      check::table(table.view(), {.spec = spec, .arrangements = {Arrangement::cosines_twice}});
  EXPECT_THAT(to_string(report), Not(HasSubstr("the attention factor is")));
}

/// At far positions, the phases of a convention are coarse enough to resemble random numbers.
TEST(CheckKinds, RandomNumbersAreNoTableAtFarPositions) {
  std::mt19937 random(61);
  std::uniform_real_distribution<double> uniform(0, 1);
  const Matrix table = table_of(12, 768, [&](int, int) { return uniform(random); });
  const check::TableReport report = check::table(table.view());
  EXPECT_EQ(report.verdict(), check::Verdict::not_recognised) << to_string(report);
}

TEST(CheckKinds, AClaimOfAnyArrangementIsJudgedInThatArrangement) {
  for (const Layout layout : all_layouts) {
    const EncodingSpec spec = {.d_model = 24, .base = 5e5, .layout = layout};
    Matrix table(40, spec.d_model);
    backend("rotation").plan(spec)->encode({.first = 3, .count = 40}, table.view());
    for (const Arrangement claimed : all_arrangements) {
      SCOPED_TRACE(std::string(to_string(layout)) + " as " + std::string(to_string(claimed)));
      const check::TableReport report = check::table(table.view(), {.arrangements = {claimed}});
      EXPECT_EQ(report.is_good, claimed == arrangement_of(layout)) << to_string(report);
      // A claim of cosines alone has as many frequencies as columns.
      EXPECT_TRUE(!report.is_identified || report.identity.arrangement == claimed);
    }
  }
}

TEST(CheckKinds, AClaimOfAnotherWidthIsReadInAnArrangementThatHasIt) {
  Matrix table = noise(300, 128);
  const check::TableReport report =
      check::table(table.view(), {.spec = EncodingSpec{.d_model = 128, .base = 1e6}, .first = 0});
  EXPECT_EQ(report.verdict(), check::Verdict::wrong);
  EXPECT_EQ(report.identity.spec.d_model, 128);
  EXPECT_EQ(report.errors.entries, 300 * 128);
}

}  // namespace
}  // namespace posenc::test
