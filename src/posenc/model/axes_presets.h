/// @file
/// Conventions of real systems that have positions on several axes.
///
///     const posenc::model::AxesTable flux = posenc::model::axes_table("flux", {{1, 64, 64}});
///     posenc::model::AxesEncoder(flux.spec).encode(flux.row_positions(), table.view());
#pragma once

#include "posenc/model/axes.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace posenc::model {

/// The numbers of cells along time, height and width.
using GridSizes = std::array<std::int64_t, 3>;

/// The convention of one system.
struct AxesPreset {
  std::string_view name;         ///< "flux"
  std::string_view description;  ///< one line, for lists
  GridSizes usual;               ///< sizes of a usual grid
};

/// All presets, in the order in which lists show them.
std::span<const AxesPreset> axes_presets() noexcept;

/// The table that a system computes for a grid: one row per cell, in row-major order.
struct AxesTable {
  AxesSpec spec;                        ///< the pairs of a row
  std::int64_t rows;                    ///< the number of cells
  std::vector<std::int64_t> positions;  ///< positions[axis * rows + row]

  /// The positions as an argument of AxesEncoder::encode(). The table must outlive the result.
  RowPositions row_positions() const noexcept {
    return {positions.data(), spec.axes(), rows, rows};
  }
};

/// The table of a preset for a grid, which is by default the preset's usual grid. The layouts
/// describe the rotated channels, with sines before cosines. Throws InvalidArgument, listing the
/// known names, if there is no such preset. Also throws if the sizes are not allowed.
AxesTable axes_table(std::string_view name, std::optional<GridSizes> sizes = {});

}  // namespace posenc::model
