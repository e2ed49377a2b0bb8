/// @file
/// What a table is: its frequencies, its columns and the positions of its rows.
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

/// What a table over several axes is: images, videos, rotary embeddings of both.
struct TableAxes {
  std::string name = {};  ///< of the convention: "flux", "mae"; empty if only the spec is known
  std::array<std::int64_t, 3> grid = {};     ///< cells along time, height and width; or zeros
  AxesSpec spec = {};                        ///< the pairs of a row
  std::vector<std::int64_t> positions = {};  ///< positions[axis * rows + row]

  /// The position of one of the `rows` rows on an axis.
  std::int64_t position(std::int64_t axis, std::int64_t row, std::int64_t rows) const noexcept {
    return positions[static_cast<std::size_t>(axis * rows + row)];
  }
};

/// What a table is.
struct TableIdentity {
  EncodingSpec spec = {};                              ///< its layout is not used
  Arrangement arrangement = Arrangement::interleaved;  ///< of its columns
  std::int64_t first = 0;                              ///< the position of row 0
  std::int64_t step = 1;                               ///< from a row's position to the next
  std::vector<std::int64_t> positions = {};            ///< of the rows; empty: first + step row
  double factor = 1;                                   ///< of all entries: an attention factor
  bool has_negated_sines = false;                      ///< each sine with the other sign
  bool has_zero_column = false;  ///< a last one of zeros, beside the pairs. Not judged.
  /// Columns, if the last pair lacks its second one, else 0: w_k = base^(-2 k / odd_width), for
  /// which the spec has d_model odd_width + 1 and another base.
  std::int64_t odd_width = 0;
  /// A row of zeros among the first three: fairseq's and Transformers' padding_idx, or the class
  /// token of images. Not judged.
  std::optional<std::int64_t> padding_row = {};
  /// Instead of first, step and positions. The spec is then the one of the first axis.
  std::optional<TableAxes> axes = {};
  std::vector<std::string> presets = {};  ///< that have this convention, at this d_model or another

  /// The position of that row, which is not checked; also before row 0 of a run. Of a table over
  /// axes: the row.
  std::int64_t position(std::int64_t row) const noexcept {
    return positions.empty() ? first + step * row : positions[static_cast<std::size_t>(row)];
  }
};

/// The spec as a person would say it: of an odd width, with that width and its base.
EncodingSpec shown_spec(const TableIdentity& identity);

}  // namespace posenc::check
