// Positions from a file.
#pragma once

#include "posenc/model/axes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace posenc::cli {

/// Positions of rows, equal on all axes or on each axis.
struct FilePositions {
  std::vector<std::int64_t> positions;
  std::int64_t axes;  ///< 0 if they are equal on all axes
  std::int64_t rows;

  RowPositions view() const noexcept { return {positions.data(), axes, rows, rows}; }
};

/// Reads int32 or int64 of shape (rows) or (axes, rows) from a .npy file. Throws std::system_error
/// if the file cannot be read, and InvalidArgument if it holds anything else.
FilePositions read_positions(const std::string& file);

}  // namespace posenc::cli
