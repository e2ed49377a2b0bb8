/// @file
/// The identity of a table: its frequencies, its columns and the positions of its rows.
#pragma once

#include "posenc/check/arrangement.h"
#include "posenc/model/axes.h"
#include "posenc/spec.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace posenc::check {

/// The axes of a table over several axes, for images, videos and rotary embeddings of both.
struct TableAxes {
  /// Name of the convention: "flux", "mae". Empty if only the spec is known.
  std::string name = {};
  /// Cells along time, height and width; zeros if not known.
  std::array<std::int64_t, 3> grid = {};
  model::AxesSpec spec = {};                 ///< the pairs of a row
  std::vector<std::int64_t> positions = {};  ///< positions[axis * rows + row]

  /// The position of one of the `rows` rows on an axis.
  std::int64_t position(std::int64_t axis, std::int64_t row, std::int64_t rows) const noexcept {
    return positions[static_cast<std::size_t>(axis * rows + row)];
  }
};

/// The identity of a table.
struct TableIdentity {
  EncodingSpec spec = {};                              ///< the frequencies; the layout is not used
  Arrangement arrangement = Arrangement::interleaved;  ///< arrangement of the columns
  std::int64_t first = 0;                              ///< the position of row 0
  std::int64_t step = 1;  ///< difference between the positions of successive rows
  std::vector<std::int64_t> positions = {};  ///< positions of the rows; empty: first + step * row
  double factor = 1;                         ///< factor of all entries: an attention factor
  bool has_negated_sines = false;            ///< true if every sine has the opposite sign
  /// True if a last column of zeros follows the pairs; it is not judged.
  bool has_zero_column = false;
  /// The number of columns if it is odd and the last pair lacks its second column, otherwise 0.
  /// `spec` then has d_model odd_width + 1. With paper spacing it also has another base, which
  /// gives w_k = base^(-2 k / odd_width).
  std::int64_t odd_width = 0;
  /// A row of zeros among the first three: the padding_idx of fairseq and Transformers, or the
  /// class token of images. It is not judged.
  std::optional<std::int64_t> padding_row = {};
  /// Set for a table over several axes, in place of first, step and positions. `spec` is then the
  /// spec of the first part.
  std::optional<TableAxes> axes = {};
  /// Presets with this convention and d_model. If there are none, presets with another d_model.
  std::vector<std::string> presets = {};

  /// The position of a row, which is not checked. A run also continues before row 0. For a table
  /// over axes, this is the row number.
  std::int64_t position(std::int64_t row) const noexcept {
    return positions.empty() ? first + step * row : positions[static_cast<std::size_t>(row)];
  }
};

/// The spec as a person would write it. For an odd width, d_model is the width, and the base is the
/// one in base^(-2 k / width).
EncodingSpec shown_spec(const TableIdentity& identity);

}  // namespace posenc::check
