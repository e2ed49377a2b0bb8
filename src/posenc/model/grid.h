/// @file
/// Encodings of the cells of a two-dimensional grid, such as the patches of an image. The encodings
/// of both axes stand side by side in a row (see axes.h).
///
///     posenc::Matrix table(14 * 14, 768);
///     posenc::model::encode_grid(posenc::model::GridConvention::mae, 14, 14, 768, table.view());
///     const float* cell = table.row(14 * row + column).data();
#pragma once

#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/axes_encoder.h"
#include "posenc/model/row_positions.h"

#include <cstdint>

namespace posenc::model {

/// The contents of a cell of d_model channels. d_model is a multiple of 4, and each axis has half
/// of the channels.
enum class GridConvention {
  /// MAE and its derivatives (get_2d_sincos_pos_embed). The first half of the channels encodes the
  /// column, and the second half encodes the row. In each half, sines come before cosines. The
  /// frequencies are the paper's for d_model / 2 channels.
  mae,
  /// SimpleViT and Big Vision (posemb_sincos_2d). As MAE, but with frequencies from 1 to 1 / base,
  /// inclusive. d_model is at least 8.
  simple_vit,
  /// DETR (PositionEmbeddingSine with normalize=True), without padding. The first half of the
  /// channels encodes the row, and the second half encodes the column. In each half, sines and
  /// cosines are interleaved. Positions count from 1 and are multiplied by 2 pi / (size + 10^-6).
  /// The frequencies that include this factor are rounded to double. The grid must have at least
  /// one cell.
  detr,
};

/// The pairs of a cell. Axis 0 is the row, and axis 1 is the column. Throws InvalidArgument unless
/// the convention allows these sizes.
AxesSpec grid_axes(GridConvention convention, std::int64_t rows, std::int64_t columns,
                   std::int64_t d_model);

/// Writes rows * columns cells of d_model channels to the first rows of `out`, correctly rounded.
/// The cell at a row and a column goes to row `row * columns + column` of `out`. Throws
/// InvalidArgument, before anything is written, as grid_axes() does. Also throws if the sizes are
/// negative or too large, if `out` is too small or has no memory, or if threads < 1.
void encode_grid(GridConvention convention, std::int64_t rows, std::int64_t columns,
                 std::int64_t d_model, OutputView out, EncodeOptions options = {});

}  // namespace posenc::model
