#include "posenc/support/file_system.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace posenc::file_system {
namespace {

/// Repeats a call that a signal interrupts.
template <class Call>
std::ptrdiff_t uninterrupted(const Call& call) noexcept {
  for (;;) {
    const std::ptrdiff_t done = call();
    if (done >= 0 || errno != EINTR) return done;
  }
}

}  // namespace

int open_to_read(const std::filesystem::path& file) noexcept {
  return ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
}

int open_to_read_at_once(const std::filesystem::path& file) noexcept {
  return ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int open_to_write(const std::filesystem::path& file) noexcept {
  return ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
}

int open_new(const std::filesystem::path& file) noexcept {
  return ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

std::ptrdiff_t read(int descriptor, void* data, std::size_t bytes) noexcept {
  return uninterrupted([&] { return ::read(descriptor, data, bytes); });
}

std::ptrdiff_t read_at(int descriptor, std::int64_t offset, void* data,
                       std::size_t bytes) noexcept {
  return uninterrupted([&] { return ::pread(descriptor, data, bytes, offset); });
}

std::ptrdiff_t write(int descriptor, const void* data, std::size_t bytes) noexcept {
  return uninterrupted([&] { return ::write(descriptor, data, bytes); });
}

std::int64_t regular_bytes(int descriptor) noexcept {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return -1;
  if (S_ISREG(status.st_mode)) return status.st_size;
  errno = 0;
  return -1;
}

bool sync(int descriptor) noexcept { return ::fsync(descriptor) == 0; }

bool close(int descriptor) noexcept { return ::close(descriptor) == 0; }

void copy_permissions(const std::filesystem::path& from, int descriptor) noexcept {
  struct stat existing = {};
  if (::stat(from.c_str(), &existing) == 0) ::fchmod(descriptor, existing.st_mode & 07777);
}

bool may_write(const std::filesystem::path& file) noexcept {
  return ::access(file.c_str(), W_OK) == 0;
}

bool may_create_in(const std::filesystem::path& folder) noexcept {
  // The dot fails if it is a file.
  return ::access((folder / ".").c_str(), W_OK | X_OK) == 0;
}

bool replace(const std::filesystem::path& from, const std::filesystem::path& to) noexcept {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

}  // namespace posenc::file_system
