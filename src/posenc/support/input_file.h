// Reading files, with the reason if one cannot be read: streams of the standard library give none.
// Internal: not installed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace posenc {

/// A regular file that is open for reading.
class InputFile {
 public:
  /// Throws std::system_error, which names the file, and InvalidArgument if it is not regular.
  explicit InputFile(const std::filesystem::path& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::int64_t bytes() const noexcept { return bytes_; }

  /// Those bytes, which the file has. Throws std::system_error.
  void read(std::int64_t offset, void* to, std::int64_t count) const;
  std::string text(std::int64_t offset, std::int64_t count) const;

 private:
  std::filesystem::path file_;
  int descriptor_;
  std::int64_t bytes_ = -1;
};

/// A whole file or pipe of at most max_document_bytes as text. Throws std::system_error, whose code
/// is the reason.
std::string read_document(const std::filesystem::path& file);

}  // namespace posenc
