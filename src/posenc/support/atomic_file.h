// A file that appears whole or not at all. Internal: not installed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace posenc {

/// Writes to a temporary file in the folder of `file`, which commit() syncs and renames. Without a
/// commit the temporary is removed and an existing file stays as it was. A device or a pipe is
/// written to directly, as a rename would replace it. Every failure throws std::system_error naming
/// the path.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& file);
  /// An open descriptor, which is not closed, under a name for messages.
  OutputFile(int descriptor, std::string_view name);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

  /// True if an interrupted program would leave a temporary file behind.
  bool is_temporary() const noexcept { return !temporary_.empty(); }

 private:
  void open_temporary();
  [[noreturn]] void fail(int error) const;

  std::string name_;
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  bool owned_ = true;
};

/// Whether missing folders are an error, or are made in the end.
enum class Folders { must_exist, are_made };

/// Finds out before long work, not after it, whether a file can be written in the end; makes
/// nothing. Throws std::system_error.
void check_writable(const std::filesystem::path& file, Folders folders);

}  // namespace posenc
