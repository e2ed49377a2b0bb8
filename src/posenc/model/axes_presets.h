/// @file
/// Conventions of real systems whose positions are on several axes.
///
///     const posenc::AxesTable flux = posenc::axes_table("flux", {{1, 64, 64}});
///     posenc::AxesEncoder(flux.spec).encode(flux.row_positions(), table.view());
#pragma once

#include "posenc/model/axes.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace posenc {

/// Cells along time, height and width.
using GridSizes = std::array<std::int64_t, 3>;

/// The convention of one system.
struct AxesPreset {
  std::string_view name;         ///< "flux"
  std::string_view description;  ///< one line, for lists
  GridSizes usual;               ///< sizes of a usual grid
};

/// All of them, in the order of lists.
std::span<const AxesPreset> axes_presets() noexcept;

/// What a system encodes for a grid: a row for each cell, in row-major order.
struct AxesTable {
  AxesSpec spec;                        ///< the pairs of a row
  std::int64_t rows;                    ///< cells
  std::vector<std::int64_t> positions;  ///< positions[axis * rows + row]

  /// The positions as an argument of AxesEncoder::encode(). The table must outlive it.
  RowPositions row_positions() const noexcept {
    return {positions.data(), spec.axes(), rows, rows};
  }
};

/// The table of the preset of that name for a grid, by default its usual one. The layouts are those
/// of the channels that are turned, sines before cosines. Throws InvalidArgument, listing the known
/// names, if there is no such preset, or if the sizes are not allowed.
AxesTable axes_table(std::string_view name, std::optional<GridSizes> sizes = {});

}  // namespace posenc
