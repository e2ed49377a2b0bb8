// Files: written whole or not at all, and read with the reason if that fails. Internal: not
// installed.
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
/// the temporary is removed and an existing file stays unchanged; a killed process leaves its
/// temporary behind. Symbolic links are followed, also to a file that does not exist yet. A device
/// or a pipe is written to directly, because a rename would replace it. Every failure throws
/// std::system_error, which names the path.
class OutputFile {
 public:
  /// `named` is called with the name of the temporary file before that is made.
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
  /// Throws std::system_error, which names the file, and InvalidArgument if it is not regular.
  explicit InputFile(const std::filesystem::path& file);

  std::int64_t bytes() const noexcept { return bytes_; }

  /// Those bytes, which the file has. Throws std::system_error.
  void read(std::int64_t offset, void* to, std::int64_t count) const;
  std::string text(std::int64_t offset, std::int64_t count) const;

 private:
  std::filesystem::path file_;
  std::int64_t bytes_ = 0;
  mutable std::ifstream stream_;
};

/// A whole file or pipe of at most max_document_bytes as text. Throws std::system_error, whose code
/// is the reason.
std::string read_document(const std::filesystem::path& file);

}  // namespace posenc::detail
