// Grids: the formulas of MAE, SimpleViT and DETR, as those systems write them, in double; bad
// input.
#include "posenc/model/grid.h"

#include "model/layer_support.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

constexpr std::int64_t grid_rows = 9, grid_columns = 14, grid_width = 64;
constexpr double rounding = 0x1p-25 + 1e-12;

/// `formula` gives the values that a system computes for the cell of a row and a column.
template <class Formula>
void expect_formula(GridConvention convention, const Formula& formula) {
  Matrix table(grid_rows * grid_columns, grid_width);
  encode_grid(convention, grid_rows, grid_columns, grid_width, table.view());
  for (std::int64_t row = 0; row < grid_rows; ++row) {
    for (std::int64_t column = 0; column < grid_columns; ++column) {
      const std::vector<double> expected =
          formula(static_cast<double>(row), static_cast<double>(column));
      ASSERT_EQ(static_cast<std::int64_t>(expected.size()), grid_width);
      for (std::int64_t i = 0; i < grid_width; ++i) {
        ASSERT_NEAR(static_cast<double>(table(row * grid_columns + column, i)),
                    expected[static_cast<std::size_t>(i)], rounding)
            << row << ", " << column << ", channel " << i;
      }
    }
  }
}

/// The column's half first, with omega_k = 10000^(-k / denominator). Each half has its sines before
/// its cosines.
void expect_column_first(GridConvention convention, double denominator) {
  std::vector<double> omega;
  for (int k = 0; k < grid_width / 4; ++k)
    omega.push_back(1.0 / std::pow(10000.0, k / denominator));
  expect_formula(convention, [&](double row, double column) {
    std::vector<double> values;
    for (const double position : {column, row}) {
      for (const double w : omega) values.push_back(std::sin(position * w));
      for (const double w : omega) values.push_back(std::cos(position * w));
    }
    return values;
  });
}

// models_mae's util/pos_embed.py: get_2d_sincos_pos_embed, where w goes first.
TEST(Grid, IsThatOfMae) { expect_column_first(GridConvention::mae, grid_width / 4.0); }

// vit-pytorch's simple_vit.py and Big Vision's vit.py: posemb_sincos_2d.
TEST(Grid, IsThatOfSimpleVit) {
  expect_column_first(GridConvention::simple_vit, grid_width / 4.0 - 1);
}

// detr's models/position_encoding.py: PositionEmbeddingSine with normalize=True and no padding.
TEST(Grid, IsThatOfDetr) {
  expect_formula(GridConvention::detr, [](double row, double column) {
    std::vector<double> values;
    for (const auto& [position, size] : {std::pair(row, grid_rows), {column, grid_columns}}) {
      const double embed =
          (position + 1) / (static_cast<double>(size) + 1e-6) * 2 * std::numbers::pi;
      constexpr int features = grid_width / 2;
      for (int i = 0; i < features; ++i) {
        const double dim_t = std::pow(10000.0, 2.0 * (i / 2) / features);
        values.push_back(i % 2 == 0 ? std::sin(embed / dim_t) : std::cos(embed / dim_t));
      }
    }
    return values;
  });
}

TEST(Grid, MayHaveWideCellsOrNone) {
  Matrix table(6, 1 << 16);
  encode_grid(GridConvention::mae, 2, 3, 1 << 16, table.view());
  EXPECT_EQ(table(0, (1 << 16) - 1), 1.0F);  // cos 0
  for (const auto& [rows, columns] : {std::pair(0, 5), std::pair(5, 0)})
    encode_grid(GridConvention::mae, rows, columns, 8, Matrix(0, 8).view());
}

TEST(Grid, BadInputIsRefused) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  Matrix small(3, 8);
  const auto grid = [&](GridConvention convention, std::int64_t rows, std::int64_t columns,
                        std::int64_t channels = 8, int threads = 1) {
    return [=, &small] { encode_grid(convention, rows, columns, channels, small.view(), threads); };
  };
  expect_refused({
      {"d_model is 6; allowed for a grid", grid(GridConvention::mae, 1, 1, 6)},
      {"d_model is 1099511627776; allowed for a grid: a multiple of 4, 4 to",
       [] { grid_axes(GridConvention::detr, 1, 1, huge); }},  // before it takes memory
      {"size of the grid is 0", grid(GridConvention::detr, 0, 1)},
      {"d_model is 4", grid(GridConvention::simple_vit, 1, 1, 4)},
      {"a size of the grid is -1", grid(GridConvention::mae, -1, 1)},
      {"a size of the grid is -1", grid(GridConvention::mae, 1, -1)},
      {"at most 9007199254740992 cells", grid(GridConvention::mae, huge, huge)},
      {"view has 3 rows; allowed: at least the row count, 4", grid(GridConvention::mae, 2, 2)},
      {"threads is 0", grid(GridConvention::mae, 1, 1, 8, 0)},
  });
}

}  // namespace
}  // namespace posenc::test
