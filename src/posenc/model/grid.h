/// @file
/// Encodings of the cells of a two-dimensional grid, such as the patches of an image: two axes, one
/// behind the other (axes.h).
///
///     posenc::Matrix table(14 * 14, 768);
///     posenc::encode_grid(posenc::GridConvention::mae, 14, 14, 768, table.view());
///     const float* cell = table.row(14 * row + column).data();
#pragma once

#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/axes_encoder.h"
#include "posenc/model/row_positions.h"

#include <cstdint>

namespace posenc {

/// What a cell of d_model channels, a multiple of 4, has: half of them for each axis.
enum class GridConvention {
  /// MAE, and what is derived from it (get_2d_sincos_pos_embed): the column's half first; sines
  /// before cosines; the paper's frequencies of d_model / 2 channels.
  mae,
  /// SimpleViT and Big Vision (posemb_sincos_2d): as MAE, with frequencies from 1 to 1 / base,
  /// inclusive. d_model is at least 8.
  simple_vit,
  /// DETR (PositionEmbeddingSine with normalize=True), without padding: the row's half first; sines
  /// and cosines interleaved; positions from 1 on, times 2 pi / (size + 10^-6). The frequencies of
  /// these products are rounded to double. The grid has at least one cell.
  detr,
};

/// The pairs of a cell. Axis 0 is its row, and axis 1 its column. Throws InvalidArgument unless the
/// convention has the sizes.
AxesSpec grid_axes(GridConvention convention, std::int64_t rows, std::int64_t columns,
                   std::int64_t d_model);

/// Writes rows * columns cells of d_model channels to the first rows of `out`, correctly rounded:
/// the cell of a row and a column goes to row `row * columns + column`. Throws InvalidArgument,
/// before anything is written, as grid_axes() does, and if the sizes are negative or too large, if
/// `out` is smaller than that or has no memory, or if threads < 1.
void encode_grid(GridConvention convention, std::int64_t rows, std::int64_t columns,
                 std::int64_t d_model, OutputView out, EncodeOptions options = {});

}  // namespace posenc
