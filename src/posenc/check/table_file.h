// Tables in files: .npy, .safetensors and raw elements. Internal: not installed.
//
// A length that a file states is compared with the size of the file before it is used.
#pragma once

#include "posenc/check/heads.h"
#include "posenc/check/report.h"
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
inline namespace internals {

/// The contents of a file: a table, heads of up to three dimensions, or frequencies of one
/// dimension, which are read as a row.
enum class Holds { table, heads, frequencies };

/// The type, the shape and the place of a table in a file.
struct StoredTable {
  DataType type = DataType::float32;
  bool is_big_endian = false;
  bool is_column_major = false;
  std::int64_t rows = 0;
  std::int64_t heads = 1;  ///< heads in each row; a table has one
  std::int64_t columns = 0;
  std::int64_t offset = 0;  ///< offset of the first element in bytes
};

/// A .safetensors file begins with this many bytes for the length of its header.
inline constexpr std::int64_t safetensors_prefix_bytes = 8;
/// A header must end within this many bytes. Otherwise the file is refused.
inline constexpr std::int64_t table_header_bytes =
    safetensors_prefix_bytes + max_safetensors_header_bytes;

/// True if a file that begins with `start` is in NumPy's format.
bool is_npy(std::string_view start) noexcept;

/// The fields of a .npy header.
struct NpyHeader {
  std::string descr = {};  ///< the type: "<f4"
  bool is_column_major = false;
  std::vector<std::int64_t> shape = {};
  std::int64_t bytes = 0;  ///< bytes before the elements
};

/// Parses a header of NumPy's format, versions 1 to 3. `start` holds at least the first
/// table_header_bytes, or the whole file. Throws InvalidArgument unless numpy.load() would read it.
NpyHeader parse_npy_header(std::string_view start, std::int64_t file_bytes);

/// Finds a table, or heads of shape (rows, heads, columns), in a .npy file. Dimensions of size 1
/// are left out. Throws InvalidArgument if the type is not supported, or if the file has fewer or
/// more bytes than its header says.
StoredTable parse_npy(std::string_view start, std::int64_t file_bytes, Holds holds = Holds::table);

/// Finds the tensor of this name in a .safetensors file. If the name is empty, it finds the only
/// tensor that may be a table. Throws InvalidArgument, which lists the names, if there is no such
/// tensor.
StoredTable parse_safetensors(std::string_view start, std::int64_t file_bytes,
                              const std::string& tensor, Holds holds = Holds::table);

/// How a file of a table is read.
struct TableFileOptions {
  std::string tensor = {};  ///< name of a tensor in a .safetensors file; may be empty
  /// The type of raw elements, which are little-endian.
  DataType type = DataType::float32;
  std::optional<std::int64_t> columns = {};  ///< columns of a table of raw elements
  Holds holds = Holds::table;
};

/// A table that was read into memory, in the byte order of this machine.
struct TableInMemory {
  StoredTable stored;
  std::unique_ptr<std::byte[]> elements;

  TableView view() const noexcept;
  HeadsTable heads() const noexcept;
};

/// Reads a table. Throws InvalidArgument if the file holds no table, and std::system_error if it
/// cannot be read.
TableInMemory read_table(const std::filesystem::path& file, const TableFileOptions& options);

/// The names of the tensors in a .safetensors file. Throws as read_table() does.
std::vector<std::string> tensor_names(const std::filesystem::path& file);

}  // namespace internals
}  // namespace posenc::check
