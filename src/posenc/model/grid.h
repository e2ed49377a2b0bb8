/// @file
/// Encodings of the cells of a two-dimensional grid, such as the patches of an image: two axes, one
/// behind the other (axes.h).
///
///     const posenc::Matrix table = posenc::encode_grid(14, 14, posenc::mae_grid(768));
///     const float* cell = table.row(14 * row + column).data();
#pragma once

#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/spec.h"

#include <cstdint>

namespace posenc {

/// The encoding of a cell. Axis 0 is its row, y, and axis 1 its column, x.
struct GridSpec {
  AxesSpec axes = {};      ///< the pairs of a cell, on two axes
  std::int64_t first = 0;  ///< position of the first column, and of the first row

  /// Channels of a cell.
  std::int64_t d_model() const noexcept { return axes.d_model(); }
};

/// The grid of MAE, and of what is derived from it (get_2d_sincos_pos_embed): the column's half
/// first; sines before cosines; the paper's frequencies of d_model / 2 channels. Throws
/// InvalidArgument unless d_model, that of a cell, is a multiple of 4: each half holds as many
/// sines as cosines.
GridSpec mae_grid(std::int64_t d_model);

/// SimpleViT and Big Vision (posemb_sincos_2d): as MAE, with frequencies from 1 to 1 / base,
/// inclusive. Throws as mae_grid() does, and unless d_model is at least 8.
GridSpec simple_vit_grid(std::int64_t d_model);

/// DETR (PositionEmbeddingSine with normalize=True), without padding: the row's half first; sines
/// and cosines interleaved; positions from 1 on, times 2 pi / (size + 10^-6). The frequencies of
/// these products are rounded to double. `rows` and `columns` are the sizes of the grid. Throws as
/// mae_grid() does, and unless both are at least 1.
GridSpec detr_grid(std::int64_t d_model, std::int64_t rows, std::int64_t columns);

/// Writes rows * columns cells of spec.d_model() channels to the first rows of `out`, correctly
/// rounded: the cell of a row and a column goes to row `row * columns + column`. Throws
/// InvalidArgument, before anything is written, if the sizes are negative or too large, if a spec
/// is not allowed, if `out` is smaller than that or has no memory, or if threads < 1.
void encode_grid(std::int64_t rows, std::int64_t columns, const GridSpec& spec, OutputView out,
                 EncodeOptions options = {});

/// The same in a new matrix of shape (rows * columns, spec.d_model()).
Matrix encode_grid(std::int64_t rows, std::int64_t columns, const GridSpec& spec,
                   EncodeOptions options = {});

}  // namespace posenc
