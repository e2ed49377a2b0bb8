#include "posenc/output_file.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace posenc {
namespace {

/// Through links, so that the rename replaces the file and not a link to it. A dangling link is taken as it is.
std::filesystem::path resolved(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::path target = std::filesystem::canonical(file, ignored);
  return target.empty() ? file : target;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file) : name_(file.string()), file_(resolved(file)) {
  struct stat existing = {};
  const bool exists = ::stat(file_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) {
    descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  // A rename needs no right to write the file that it replaces: asked for here.
  if (exists && ::access(file_.c_str(), W_OK) != 0) fail(errno);
  open_temporary();
  if (exists) ::fchmod(descriptor_, existing.st_mode & 07777);
}

OutputFile::OutputFile(int descriptor, std::string_view name) : name_(name), descriptor_(descriptor), owned_(false) {}

OutputFile::~OutputFile() {
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open_temporary() {
  static std::atomic<unsigned> serial = 0;
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    const auto name = format_text(".{}.{}-{}.tmp", file_.filename().string(), ::getpid(), serial++);
    temporary_ = file_.parent_path() / name;
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(errno);
  }
}

void OutputFile::write(const void* data, std::size_t bytes) {
  constexpr std::size_t largest_write = std::size_t{1} << 30;  // the kernel takes less than 2 GiB a call
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, std::min(bytes, largest_write));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void OutputFile::commit() {
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail(errno);
  if (owned_) {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail(errno);
  }
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), file_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFile::fail(int error) const {
  throw std::system_error(error, std::generic_category(), format_text("cannot write {}", name_));
}

}  // namespace posenc
