#include "posenc/suite/files.h"

#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/limits.h"

#include <cerrno>
#include <chrono>
#include <random>
#include <system_error>
#include <thread>

namespace posenc::detail {
namespace {

/// Throws a std::system_error. `done` is "write" or "read". The streams of the standard library
/// leave the reason in errno.
[[noreturn]] void fail(std::string_view done, std::string_view name, int reason = errno) {
  throw std::system_error(reason != 0 ? reason : EIO, std::generic_category(),
                          format_text("cannot {} {}", done, name));
}

/// Resolves symbolic links, also to a file that does not exist yet, so that the rename makes or
/// replaces the file and not a link to it. A loop of links is returned as a link.
std::filesystem::path resolved(std::filesystem::path file) {
  constexpr int most_links = 40;  // as in Linux
  std::error_code error;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(file, error); ++links) {
    const auto target = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / target;  // an absolute target replaces the folder
  }
  return file;
}

/// Calls `call`, which returns true or leaves the reason in errno. On Windows, a file that another
/// thread or a scanner has open may deny access, so the call is repeated for half a second.
template <class Call>
bool succeeds(const Call& call) {
#ifdef _WIN32
  for (int attempt = 1; attempt < 50; ++attempt) {
    errno = 0;
    if (call()) return true;
    if (errno != EACCES) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
#endif
  errno = 0;
  return call();
}

bool opens(auto& stream, const std::filesystem::path& file, std::ios::openmode mode) {
  return succeeds([&] {
    stream.clear();
    stream.open(file, std::ios::binary | mode);
    return stream.is_open();
  });
}

std::ifstream opened(const std::filesystem::path& file) {
  std::ifstream stream;
  if (!opens(stream, file, std::ios::in)) fail("read", file.string());
  return stream;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file,
                       void (*named)(const std::filesystem::path& temporary))
    : name_(file.string()), file_(resolved(file)) {
  std::error_code error;
  if (std::filesystem::is_symlink(file_, error)) fail("write", name_, ELOOP);
  const auto existing = std::filesystem::status(file_, error);
  if (std::filesystem::is_directory(existing)) fail("write", name_, EISDIR);
  const bool exists = std::filesystem::exists(existing);
  if (exists) {
    // A rename needs no permission to write the file that it replaces. So check the permission
    // here.
    if (!opens(own_, file_, std::ios::app)) fail("write", name_);
    if (!std::filesystem::is_regular_file(existing)) return;
    own_.close();
  }
  std::random_device random;
  constexpr std::size_t most_bytes = 220;  // the whole name may have 255
  temporary_ = file_.parent_path() / format_text(".{}.{}{}.tmp",
                                                 file_.filename().string().substr(0, most_bytes),
                                                 random(), random());
  if (named != nullptr) named(temporary_);
  if (!opens(own_, temporary_, std::ios::out)) fail("write", name_);
  if (exists) std::filesystem::permissions(temporary_, existing.permissions(), error);
}

OutputFile::~OutputFile() {
  own_.close();
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void OutputFile::write(const void* data, std::size_t bytes) {
  errno = 0;
  if (!stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes)))
    fail("write", name_);
}

void OutputFile::commit() {
  errno = 0;
  if (!stream_.flush()) fail("write", name_);
  if (own_.is_open()) own_.close();
  if (!own_) fail("write", name_);
  if (temporary_.empty()) return;
  const bool is_renamed = succeeds([&] {
    std::error_code error;
    std::filesystem::rename(temporary_, file_, error);
    errno = error.default_error_condition().value();
    return !error;
  });
  if (!is_renamed) fail("write", name_);
  temporary_.clear();
}

InputFile::InputFile(const std::filesystem::path& file) : file_(file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error) fail("read", file.string(), error.value());
  if (!std::filesystem::is_regular_file(status))
    throw_invalid("'{}' is {}; allowed: a regular file", file.string(),
                  std::filesystem::is_directory(status) ? "a directory" : "a device or a pipe");
  stream_ = opened(file);
  bytes_ = static_cast<std::int64_t>(std::filesystem::file_size(file));
}

void InputFile::read(std::int64_t offset, void* to, std::int64_t count) const {
  errno = 0;
  stream_.seekg(offset).read(static_cast<char*>(to), count);
  if (stream_.bad()) fail("read", file_.string());
  if (!stream_) throw InvalidArgument("the file became shorter while it was read");
}

std::string InputFile::text(std::int64_t offset, std::int64_t count) const {
  std::string result(static_cast<std::size_t>(count), '\0');
  read(offset, result.data(), count);
  return result;
}

std::string read_document(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) fail("read", file.string(), EISDIR);
  std::ifstream stream = opened(file);
  std::string content;
  char buffer[1 << 14];
  while (stream.read(buffer, sizeof buffer) || stream.gcount() > 0) {
    content.append(buffer, static_cast<std::size_t>(stream.gcount()));
    if (content.size() > max_document_bytes) fail("read", file.string(), EFBIG);
  }
  if (stream.bad()) fail("read", file.string());
  return content;
}

}  // namespace posenc::detail
