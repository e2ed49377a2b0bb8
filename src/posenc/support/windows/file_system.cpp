#include "posenc/support/file_system.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

namespace posenc::file_system {
namespace {

constexpr int always = _O_BINARY | _O_NOINHERIT;
constexpr int owner_may_write = _S_IREAD | _S_IWRITE;

/// The calls of the C library take an unsigned number of bytes.
unsigned at_once(std::size_t bytes) noexcept {
  return static_cast<unsigned>(std::min<std::size_t>(bytes, INT_MAX));
}

bool is_folder(const std::filesystem::path& file) noexcept {
  std::error_code ignored;
  return std::filesystem::is_directory(file, ignored);
}

/// Repeats a call that fails because somebody else has the file open, for half a second: another
/// thread that reads it, or a scanner.
template <class Call>
bool with_patience(const Call& call) noexcept {
  constexpr int attempts = 50;
  constexpr DWORD pause_in_ms = 10;
  for (int attempt = 1; !call(); ++attempt) {
    if (errno != EACCES || attempt == attempts) return false;
    Sleep(pause_in_ms);
  }
  return true;
}

/// What the C library reports of a folder is that permission is denied.
int opened(const std::filesystem::path& file, int flags) noexcept {
  if (is_folder(file)) {
    errno = EISDIR;
    return -1;
  }
  int descriptor = -1;
  with_patience([&] {
    descriptor = _wopen(file.c_str(), flags | always, owner_may_write);
    return descriptor >= 0;
  });
  return descriptor;
}

/// errno for an error of the system.
int errno_of(DWORD error) noexcept {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return ENOENT;
    case ERROR_DISK_FULL: return ENOSPC;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION: return EACCES;
    default: return EIO;
  }
}

}  // namespace

int open_to_read(const std::filesystem::path& file) noexcept { return opened(file, _O_RDONLY); }

int open_to_read_at_once(const std::filesystem::path& file) noexcept { return open_to_read(file); }

int open_to_write(const std::filesystem::path& file) noexcept { return opened(file, _O_WRONLY); }

int open_new(const std::filesystem::path& file) noexcept {
  return opened(file, _O_WRONLY | _O_CREAT | _O_EXCL);
}

std::ptrdiff_t read(int descriptor, void* data, std::size_t bytes) noexcept {
  return _read(descriptor, data, at_once(bytes));
}

std::ptrdiff_t read_at(int descriptor, std::int64_t offset, void* data,
                       std::size_t bytes) noexcept {
  if (_lseeki64(descriptor, offset, SEEK_SET) < 0) return -1;
  return read(descriptor, data, bytes);
}

std::ptrdiff_t write(int descriptor, const void* data, std::size_t bytes) noexcept {
  return _write(descriptor, data, at_once(bytes));
}

std::int64_t regular_bytes(int descriptor) noexcept {
  struct _stat64 status = {};
  if (_fstat64(descriptor, &status) != 0) return -1;
  if ((status.st_mode & _S_IFMT) == _S_IFREG) return status.st_size;
  errno = 0;
  return -1;
}

bool sync(int descriptor) noexcept { return _commit(descriptor) == 0; }

bool close(int descriptor) noexcept { return _close(descriptor) == 0; }

// A new file inherits those of its folder.
void copy_permissions(const std::filesystem::path&, int) noexcept {}

bool may_write(const std::filesystem::path& file) noexcept {
  constexpr int to_write = 2;
  return _waccess(file.c_str(), to_write) == 0;
}

// Whether the user may create a file is known only to the attempt.
bool may_create_in(const std::filesystem::path& folder) noexcept {
  if (is_folder(folder)) return true;
  std::error_code ignored;
  errno = std::filesystem::exists(folder, ignored) ? ENOTDIR : ENOENT;
  return false;
}

bool replace(const std::filesystem::path& from, const std::filesystem::path& to) noexcept {
  return with_patience([&] {
    constexpr DWORD flags = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
    if (MoveFileExW(from.c_str(), to.c_str(), flags) != 0) return true;
    errno = errno_of(GetLastError());
    return false;
  });
}

}  // namespace posenc::file_system
