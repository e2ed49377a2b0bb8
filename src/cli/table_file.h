// The files of posenc generate: tables as .npy, .safetensors, raw or csv, which are written in
// constant memory, and positions of rows.
#pragma once

#include "cli/output.h"

#include "posenc/data_type.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posenc::cli {

/// A table whose rows are encoded as they are written.
struct Tensor {
  std::string name;
  std::int64_t columns;
  /// Writes the rows of these positions.
  std::function<void(const RowPositions& positions, const OutputView& out)> encode;
};

/// Only .safetensors holds several tensors.
struct TableFile {
  std::string format;
  DataType type;
  std::vector<Tensor> tensors;
  RowPositions positions;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< of .safetensors
  std::optional<int> digits;                                  ///< decimals in csv

  /// Entries of a row of all tensors.
  std::int64_t columns() const noexcept;
};

void write_table(Output& output, const TableFile& file, Progress& progress);

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
