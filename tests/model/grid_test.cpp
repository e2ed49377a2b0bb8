// Grids: the formulas of MAE, SimpleViT and DETR, as those systems write them, in double; bad
// input.
#include "posenc/model/grid.h"

#include "model/layer_support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

namespace posenc {
namespace {

constexpr std::int64_t grid_rows = 9, grid_columns = 14, d_model = 64;
constexpr double rounding = 0x1p-25 + 1e-12;

/// What a system computes for the cell of a row and a column: d_model values.
using Formula = std::function<std::vector<double>(double row, double column)>;

void expect_formula(const GridSpec& spec, const Formula& formula) {
  const Matrix table = encode_grid(grid_rows, grid_columns, spec);
  ASSERT_EQ(table.rows(), grid_rows * grid_columns);
  ASSERT_EQ(table.columns(), d_model);
  for (std::int64_t row = 0; row < grid_rows; ++row) {
    for (std::int64_t column = 0; column < grid_columns; ++column) {
      const std::vector<double> expected =
          formula(static_cast<double>(row), static_cast<double>(column));
      ASSERT_EQ(static_cast<std::int64_t>(expected.size()), d_model);
      for (std::int64_t i = 0; i < d_model; ++i) {
        ASSERT_NEAR(static_cast<double>(table(row * grid_columns + column, i)),
                    expected[static_cast<std::size_t>(i)], rounding)
            << row << ", " << column << ", channel " << i;
      }
    }
  }
}

/// Sines, then cosines, of one position.
void append_halves(std::vector<double>& values, double position, const std::vector<double>& omega) {
  for (const double w : omega) values.push_back(std::sin(position * w));
  for (const double w : omega) values.push_back(std::cos(position * w));
}

/// The column's half first, with omega_k = 10000^(-k / denominator).
void expect_column_first(const GridSpec& spec, double denominator) {
  std::vector<double> omega;
  for (int k = 0; k < d_model / 4; ++k) omega.push_back(1.0 / std::pow(10000.0, k / denominator));
  expect_formula(spec, [&](double row, double column) {
    std::vector<double> values;
    append_halves(values, column, omega);
    append_halves(values, row, omega);
    return values;
  });
}

// models_mae's util/pos_embed.py: get_2d_sincos_pos_embed, where w goes first.
TEST(Grid, IsThatOfMae) { expect_column_first(mae_grid(d_model), d_model / 4.0); }

// vit-pytorch's simple_vit.py and Big Vision's vit.py: posemb_sincos_2d.
TEST(Grid, IsThatOfSimpleVit) { expect_column_first(simple_vit_grid(d_model), d_model / 4.0 - 1); }

// detr's models/position_encoding.py: PositionEmbeddingSine with normalize=True and no padding.
TEST(Grid, IsThatOfDetr) {
  const auto append = [](std::vector<double>& values, double position, double size) {
    const double embed = (position + 1) / (size + 1e-6) * 2 * std::numbers::pi;
    constexpr int features = d_model / 2;
    for (int i = 0; i < features; ++i) {
      const double dim_t = std::pow(10000.0, 2.0 * (i / 2) / features);
      values.push_back(i % 2 == 0 ? std::sin(embed / dim_t) : std::cos(embed / dim_t));
    }
  };
  expect_formula(detr_grid(d_model, grid_rows, grid_columns), [&](double row, double column) {
    std::vector<double> values;
    append(values, row, grid_rows);
    append(values, column, grid_columns);
    return values;
  });
}

TEST(Grid, MayHaveWideCellsOrNoneOrASingleLine) {
  EXPECT_EQ(encode_grid(2, 3, mae_grid(1 << 16))(0, (1 << 16) - 1), 1.0F);  // cos 0
  EXPECT_EQ(encode_grid(0, 5, mae_grid(8)).rows(), 0);
  EXPECT_EQ(encode_grid(5, 0, mae_grid(8)).rows(), 0);
  EXPECT_FLOAT_EQ(encode_grid(1, 3, mae_grid(8))(1, 0), std::sin(1.0F));
}

TEST(Grid, BadInputIsRefused) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  const GridSpec mae = mae_grid(8);
  Matrix small(3, 8);
  test::expect_refused({
      {"d_model is 6; allowed for a grid", [] { mae_grid(6); }},
      {"size of the grid is 0", [] { detr_grid(8, 0, 1); }},
      {"d_model is 4", [] { simple_vit_grid(4); }},
      {"a size of the grid is -1", [&] { encode_grid(-1, 1, mae); }},
      {"a size of the grid is -1", [&] { encode_grid(1, -1, mae); }},
      {"at most 9007199254740992 cells", [&] { encode_grid(huge, huge, mae); }},
      {"view has 3 rows; allowed: at least the row count, 4",
       [&] { encode_grid(2, 2, mae, small.view()); }},
      {"threads is 0", [&] { encode_grid(1, 1, mae, small.view(), {0}); }},
  });
}

}  // namespace
}  // namespace posenc
