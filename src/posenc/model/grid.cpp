#include "posenc/model/grid.h"

#include "posenc/support/check.h"
#include "posenc/support/format.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace posenc {
namespace {

void check_quarters(std::int64_t d_model, std::int64_t least) {
  if (d_model >= least && d_model % 4 == 0) return;
  throw InvalidArgument(format_text(
      "d_model is {}; allowed for a grid: a multiple of 4, at least {}", d_model, least));
}

/// The encodings of a row and of a column side by side.
GridSpec side_by_side(AxisPairs first, AxisPairs second, std::int64_t first_position = 0) {
  return {{.parts = {std::move(first), std::move(second)}, .parts_have_layouts = true},
          first_position};
}

/// The column's half first.
GridSpec column_first(std::int64_t d_model, Spacing spacing, std::int64_t least) {
  check_quarters(d_model, least);
  const EncodingSpec each = {.d_model = d_model / 2, .layout = Layout::halves, .spacing = spacing};
  return side_by_side({.axis = 1, .spec = each}, {.axis = 0, .spec = each});
}

/// The frequencies of DETR along a side of that size.
FrequencyRule normalised_frequencies(std::int64_t channels, std::int64_t size) {
  if (size < 1)
    throw InvalidArgument(format_text("size of the grid is {}; allowed: at least 1", size));
  const double scale = 2 * std::numbers::pi / (static_cast<double>(size) + 1e-6);
  OwnFrequencies own;
  for (std::int64_t k = 0; k < channels / 2; ++k) {
    const double exponent = static_cast<double>(2 * k) / static_cast<double>(channels);
    own.values.push_back(scale / std::pow(10000.0, exponent));
  }
  return own;
}

}  // namespace

GridSpec mae_grid(std::int64_t d_model) { return column_first(d_model, Spacing::paper, 4); }

GridSpec simple_vit_grid(std::int64_t d_model) {
  return column_first(d_model, Spacing::inclusive, 8);
}

GridSpec detr_grid(std::int64_t d_model, std::int64_t rows, std::int64_t columns) {
  check_quarters(d_model, 4);
  const std::int64_t half = d_model / 2;
  return side_by_side(
      {.axis = 0, .spec = {.d_model = half, .frequencies = normalised_frequencies(half, rows)}},
      {.axis = 1, .spec = {.d_model = half, .frequencies = normalised_frequencies(half, columns)}},
      1);
}

void encode_grid(std::int64_t rows, std::int64_t columns, const GridSpec& spec, OutputView out,
                 EncodeOptions options) {
  const std::int64_t sizes[] = {rows, columns}, firsts[] = {spec.first, spec.first};
  const std::int64_t cells = grid_cells(sizes);
  const AxesEncoder encoder(spec.axes, {}, out.type);
  // Before memory for positions is taken.
  check_threads(options.threads);
  check_view(out, cells, spec.d_model());
  const std::vector<std::int64_t> positions = grid_positions(sizes, firsts);
  encoder.encode(RowPositions(positions.data(), 2, cells, cells), out, options);
}

Matrix encode_grid(std::int64_t rows, std::int64_t columns, const GridSpec& spec,
                   EncodeOptions options) {
  validate(spec.axes);
  const std::int64_t sizes[] = {rows, columns};
  Matrix table(grid_cells(sizes), spec.d_model());
  encode_grid(rows, columns, spec, table.view(), options);
  return table;
}

}  // namespace posenc
