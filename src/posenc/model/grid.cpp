#include "posenc/model/grid.h"

#include "posenc/support/check.h"
#include "posenc/support/format.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace posenc::model {
namespace {

/// The frequencies of DETR along a side of `size` cells.
FrequencyRule normalised_frequencies(std::int64_t channels, std::int64_t size) {
  if (size < 1) throw_invalid("size of the grid is {}; allowed: at least 1", size);
  const double scale = 2 * std::numbers::pi / (static_cast<double>(size) + 1e-6);
  OwnFrequencies own;
  for (std::int64_t k = 0; k < channels / 2; ++k) {
    const double exponent = static_cast<double>(2 * k) / static_cast<double>(channels);
    own.values.push_back(scale / std::pow(10000.0, exponent));
  }
  return own;
}

}  // namespace

AxesSpec grid_axes(GridConvention convention, std::int64_t rows, std::int64_t columns,
                   std::int64_t d_model) {
  const bool is_detr = convention == GridConvention::detr,
             is_simple_vit = convention == GridConvention::simple_vit;
  const std::int64_t least = is_simple_vit ? 8 : 4;
  if (d_model < least || d_model % 4 != 0 || d_model > 2 * max_d_model) {
    throw_invalid("d_model is {}; allowed for a grid: a multiple of 4, {} to {}", d_model, least,
                  2 * max_d_model);
  }
  EncodingSpec half = {.d_model = d_model / 2};
  if (!is_detr) half.layout = Layout::halves;
  if (is_simple_vit) half.spacing = Spacing::inclusive;
  AxisPairs of_row = {.axis = 0, .spec = half}, of_column = {.axis = 1, .spec = half};
  if (!is_detr) return {.parts = {of_column, of_row}, .parts_have_layouts = true};
  of_row.spec.frequencies = normalised_frequencies(half.d_model, rows);
  of_column.spec.frequencies = normalised_frequencies(half.d_model, columns);
  return {.parts = {of_row, of_column}, .parts_have_layouts = true};
}

void encode_grid(GridConvention convention, std::int64_t rows, std::int64_t columns,
                 std::int64_t d_model, OutputView out, EncodeOptions options) {
  const std::int64_t first = convention == GridConvention::detr ? 1 : 0;
  const std::int64_t sizes[] = {rows, columns}, firsts[] = {first, first};
  const std::int64_t cells = grid_cells(sizes);
  const AxesEncoder encoder(grid_axes(convention, rows, columns, d_model), {}, out.type);
  // These checks come before memory for positions is allocated.
  check_threads(options.threads);
  check_view(out, cells, d_model);
  const std::vector<std::int64_t> positions = grid_positions(sizes, firsts);
  encoder.encode(RowPositions(positions.data(), 2, cells, cells), out, options);
}

}  // namespace posenc::model
