// Writing a file atomically: it appears whole or not at all. Internal: not installed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace posenc {

/// Writes to a temporary file in the folder of `file`, which commit() syncs and renames. Without a
/// commit, the temporary is removed and an existing file stays unchanged; a killed process leaves
/// its temporary behind. Symbolic links are followed, also to a file that does not exist yet. A
/// device or a pipe is written to directly, because a rename would replace it. Every failure throws
/// std::system_error, which names the path.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& file);
  /// Writes to an open descriptor, which is not closed. `name` is used in messages.
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
  [[noreturn]] void fail(int error) const;

  std::string name_;
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  bool owned_ = true;
};

/// A folder and those that it is in, unless they exist. Throws std::system_error.
void make_folders(const std::filesystem::path& folder);

/// Whether missing folders are an error, or will be made when the file is written.
enum class Folders { must_exist, are_made };

/// Checks before long work that a file can be written after it. Creates nothing. Throws
/// std::system_error if it cannot.
void check_writable(const std::filesystem::path& file, Folders folders);

}  // namespace posenc
