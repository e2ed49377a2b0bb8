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
#include <vector>

namespace posenc::cli {

/// Tables whose rows are encoded as they are written. Only .safetensors holds several.
struct TableFile {
  /// Writes the rows of these positions.
  using Encode =
      std::function<void(const RowPositions& positions, const OutputView& out, int threads)>;
  struct Tensor {
    std::string name;
    std::int64_t columns;
    Encode encode;
  };

  std::string format;
  DataType type = DataType::float32;
  int threads = 1;
  std::optional<int> digits = {};  ///< decimals in csv
  std::vector<Tensor> tensors = {};
  RowPositions positions = RowRange{};
  Json metadata = Json::object();  ///< of .safetensors: texts

  void add(const std::string& name, std::int64_t columns, const Encode& encode) {
    tensors.push_back({name, columns, encode});
  }
  /// Entries of a row of all tensors.
  std::int64_t columns() const noexcept;
};

void write_table(Output& output, const TableFile& file, Progress& progress);

/// Positions of rows, equal on all axes or on each axis.
struct FilePositions {
  std::vector<std::int64_t> positions = {};
  std::int64_t axes = 0;  ///< 0 if they are equal on all axes
  std::int64_t rows = 0;

  RowPositions view() const noexcept { return {positions.data(), axes, rows, rows}; }
};

/// Reads int32 or int64 of shape (rows) or (axes, rows) from a .npy file. Throws std::system_error
/// if the file cannot be read, and InvalidArgument if it holds anything else.
FilePositions read_positions(const std::string& file);

}  // namespace posenc::cli
