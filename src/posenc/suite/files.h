// Files that are written completely or not at all, and files that are read with the reason for a
// failure. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>

namespace posenc::detail {

/// Writes to a temporary file in the folder of `file`, which commit() renames. Without a commit,
/// the temporary file is removed and an existing file stays unchanged. A killed process leaves its
/// temporary file behind. Symbolic links are followed, also to a file that does not exist yet. A
/// device or a pipe is written to directly, because a rename would replace it. Every failure throws
/// std::system_error, whose message names the path.
class OutputFile {
 public:
  /// Calls `named` with the name of the temporary file before it creates the file.
  explicit OutputFile(const std::filesystem::path& file,
                      void (*named)(const std::filesystem::path& temporary) = nullptr);
  /// Writes to a stream, such as std::cout. `name` is used in messages.
  OutputFile(std::ostream& stream, std::string_view name) : name_(name), stream_(stream) {}
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  std::string name_;
  std::filesystem::path file_, temporary_;
  std::ofstream own_;
  std::ostream& stream_ = own_;
};

/// A regular file that is open for reading.
class InputFile {
 public:
  /// Opens a file. Throws InvalidArgument if the file is not regular. Throws std::system_error,
  /// whose message names the file, if it cannot be opened.
  explicit InputFile(const std::filesystem::path& file);

  std::int64_t bytes() const noexcept { return bytes_; }

  /// Reads `count` bytes from `offset` on. Throws InvalidArgument if the file has become shorter,
  /// and std::system_error if it cannot be read.
  void read(std::int64_t offset, void* to, std::int64_t count) const;
  std::string text(std::int64_t offset, std::int64_t count) const;

 private:
  std::filesystem::path file_;
  std::int64_t bytes_ = 0;
  mutable std::ifstream stream_;
};

/// Reads a whole file or pipe of at most max_document_bytes as text. Throws std::system_error,
/// whose code is the reason.
std::string read_document(const std::filesystem::path& file);

}  // namespace posenc::detail
