// Tables in files: .npy, .safetensors and raw elements. Internal: not installed.
//
// No length that a file states is used before it is held against the size of the file.
#pragma once

#include "posenc/check/heads.h"
#include "posenc/check/table_view.h"
#include "posenc/support/limits.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::check {

/// Where the elements of a table stand in a file, and how.
struct StoredTable {
  DataType type = DataType::float32;
  bool is_big_endian = false;
  bool is_column_major = false;
  std::int64_t rows = 0;
  std::int64_t heads = 1;  ///< of a row; a table has one
  std::int64_t columns = 0;
  std::int64_t offset = 0;  ///< of the first byte
};

/// A header is within so many bytes, or the file is refused.
inline constexpr std::int64_t safetensors_prefix_bytes = 8;
inline constexpr std::int64_t table_header_bytes =
    safetensors_prefix_bytes + max_safetensors_header_bytes;

/// True if a file that begins so is one of NumPy's.
bool is_npy(std::string_view start) noexcept;

/// What the header of a .npy file says.
struct NpyHeader {
  std::string descr = {};  ///< the type: "<f4"
  bool is_column_major = false;
  std::vector<std::int64_t> shape = {};
  std::int64_t bytes = 0;  ///< before the elements
};

/// The header of NumPy's format, versions 1 to 3. `start`: at least the first table_header_bytes,
/// or the whole file. Throws InvalidArgument unless numpy.load() would read it.
NpyHeader parse_npy_header(std::string_view start, std::int64_t file_bytes);

/// The same of a table, or of heads: (rows, heads, columns). Dimensions of size 1 are left out.
/// Throws InvalidArgument if the file has another type, or fewer or more bytes than its header
/// says.
StoredTable parse_npy(std::string_view start, std::int64_t file_bytes, bool holds_heads = false);

/// The tensor of that name; if it is empty, the only one that may be a table. Throws
/// InvalidArgument, listing the names, if there is no such tensor.
StoredTable parse_safetensors(std::string_view start, std::int64_t file_bytes,
                              const std::string& tensor, bool holds_heads = false);

struct TableFileOptions {
  std::string tensor = {};  ///< of a .safetensors file
  /// Of raw elements, little-endian.
  DataType type = DataType::float32;
  std::optional<std::int64_t> columns = {};
  bool holds_heads = false;  ///< queries or keys, of up to three dimensions
};

/// A table that was read, in the byte order of this machine.
struct TableInMemory {
  StoredTable stored;
  std::unique_ptr<std::byte[]> elements;

  TableView view() const noexcept;
  HeadsTable heads() const noexcept;
};

/// Throws InvalidArgument if the file holds no table, and std::system_error if it cannot be read.
TableInMemory read_table(const std::filesystem::path& file, const TableFileOptions& options);

}  // namespace posenc::check
