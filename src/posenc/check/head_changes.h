// The changes to a rotary embedding and to the positions that explain the angles of a kernel.
// Internal: not installed.
#pragma once

#include "posenc/check/columns.h"
#include "posenc/check/head_turns.h"
#include "posenc/check/report.h"
#include "posenc/model/rotary.h"
#include "posenc/model/row_positions.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posenc::check {
inline namespace internals {

/// Rotary embeddings and their names.
using NamedRotaries = std::vector<std::pair<std::string, model::RotarySpec>>;

/// Angles that a kernel applied, or should apply.
struct Angles {
  model::RotarySpec rotary = {};
  std::int64_t rows = 0;
  std::vector<TablePair> pairs = {};   ///< the axes and frequencies of its pairs, by place
  std::vector<double> positions = {};  ///< positions[axis * rows + row]
  double sign = 1;                     ///< -1 if the heads are turned backwards
  std::vector<Cause> changes = {};     ///< the changes that lead to these angles

  /// The angle of a row and a pair in radians.
  double operator()(std::int64_t row, std::int64_t place) const noexcept {
    const TablePair& pair = pairs[static_cast<std::size_t>(place)];
    return sign * positions[static_cast<std::size_t>(pair.axis * rows + row)] * pair.frequency;
  }
};

/// The angles that are claimed, without changes.
Angles claimed_angles(const model::RotarySpec& rotary, const model::RowPositions& positions);

/// One angle of the sample from which changes are found.
struct ShownAngle {
  std::int64_t row, place;
  double angle, length;
  double limit;  ///< largest error of a good angle
};

/// The angles of a kernel, as far as the heads show them.
struct Shown {
  std::int64_t channels = 0;            ///< the channels of a head
  std::vector<ShownAngle> angles = {};  ///< angles of some rows and pairs
  /// The angle per position of each pair; NaN if the pair does not turn evenly.
  std::vector<double> frequencies = {};
};

/// Returns the angles after the fewest changes that explain the shown angles and lengths. Empty if
/// no changes explain them better than chance. `others` are embeddings that the kernel may have
/// confused with the claimed one.
std::optional<Angles> find_changes(const Angles& claimed, const model::RowPositions& positions,
                                   const Shown& shown, const NamedRotaries& others);

/// The cause if pairs of one convention turn by the angles of another one: each of the two channels
/// of a pair then has an angle of its own. `unexplained` is the share of the squared elements that
/// turns of the best pairs leave unexplained.
std::optional<Cause> mixed_conventions(const std::vector<HeadsOfRow>& sample, const Angles& claimed,
                                       std::int64_t offset, double unexplained);

}  // namespace internals
}  // namespace posenc::check
