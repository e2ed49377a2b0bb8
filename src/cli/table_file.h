// The files that posenc generate writes: tables as .npy, .safetensors, raw or csv, in constant
// memory.
#pragma once

#include "cli/output.h"
#include "cli/progress.h"

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

/// A lower bound of the file's size. It is low for csv, whose numbers differ in length. Throws
/// InvalidArgument if 64 bits do not hold it.
std::int64_t least_bytes(const TableFile& file);

void write_table(Output& output, const TableFile& file, Progress& progress);

}  // namespace posenc::cli
