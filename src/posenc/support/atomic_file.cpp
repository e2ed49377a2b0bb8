#include "posenc/support/atomic_file.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace posenc {
namespace {

/// The file behind symbolic links, so that the rename replaces the file and not a link to it. A
/// dangling link is returned unchanged.
std::filesystem::path resolved(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::path target = std::filesystem::canonical(file, ignored);
  return target.empty() ? file : target;
}

constexpr std::string_view temporary_suffix = ".tmp";

/// The prefix of the names of a file's temporaries. The process and a serial number follow it.
std::string temporary_prefix(const std::filesystem::path& file) {
  return format_text(".{}.", file.filename().string());
}

/// The process that created the temporary; 0 if the name is not one of a temporary of this file.
pid_t process_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(temporary_suffix)) return 0;
  if (name.size() < prefix.size() + temporary_suffix.size()) return 0;
  name.remove_prefix(prefix.size());
  name.remove_suffix(temporary_suffix.size());
  const char* const end = name.data() + name.size();
  pid_t process = 0;
  unsigned serial = 0;
  const auto first = std::from_chars(name.data(), end, process);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-' || process <= 0) return 0;
  const auto second = std::from_chars(first.ptr + 1, end, serial);
  return second.ec == std::errc() && second.ptr == end ? process : 0;
}

/// True if another process may hold the lock of a temporary. The number of a process is not enough:
/// a process in another container cannot be seen.
bool is_locked(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return true;
  const bool is_free = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return !is_free;
}

/// Removes the temporaries of processes that no longer exist: a killed process leaves its own
/// behind.
void remove_stale_temporaries(const std::filesystem::path& file) {
  const std::string prefix = temporary_prefix(file);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const pid_t process = process_of(entry->path().filename().string(), prefix);
    const bool is_gone = process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
    if (is_gone && !is_locked(entry->path())) ::unlink(entry->path().c_str());
  }
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file)
    : name_(file.string()), file_(resolved(file)) {
  struct stat existing = {};
  const bool exists = ::stat(file_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) {
    descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  // A rename needs no permission to write the file that it replaces, so it is checked here.
  if (exists && ::access(file_.c_str(), W_OK) != 0) fail(errno);
  open_temporary();
  if (exists) ::fchmod(descriptor_, existing.st_mode & 07777);
}

OutputFile::OutputFile(int descriptor, std::string_view name)
    : name_(name), descriptor_(descriptor), owned_(false) {}

OutputFile::~OutputFile() {
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open_temporary() {
  remove_stale_temporaries(file_);
  static std::atomic<unsigned> serial = 0;
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    const auto name =
        format_text("{}{}-{}{}", temporary_prefix(file_), ::getpid(), serial++, temporary_suffix);
    temporary_ = file_.parent_path() / name;
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(errno);
  }
  ::flock(descriptor_, LOCK_EX | LOCK_NB);  // see is_locked(); some file systems have no locks
}

void OutputFile::write(const void* data, std::size_t bytes) {
  // Linux writes less than 2 GiB in one call.
  constexpr std::size_t largest_write = std::size_t{1} << 30;
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

void check_writable(const std::filesystem::path& file, Folders folders) {
  std::error_code ignored;
  const auto must_allow = [&](const std::filesystem::path& place, int mode) {
    if (::access(place.c_str(), mode) == 0) return;
    throw std::system_error(errno, std::generic_category(),
                            format_text("cannot write {}", file.string()));
  };
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) {
    throw std::system_error(EISDIR, std::generic_category(),
                            format_text("cannot write {}", file.string()));
  }
  if (std::filesystem::exists(status)) must_allow(file, W_OK);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return;
  std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (folders == Folders::are_made) {
    while (!std::filesystem::exists(folder, ignored) && folder.has_relative_path())
      folder = folder.parent_path();
  }
  must_allow(folder / ".", W_OK | X_OK);  // the dot fails if `folder` is a file
}

}  // namespace posenc
