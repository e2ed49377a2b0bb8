#include "posenc/support/file_system.h"

#include <cerrno>

#include <fcntl.h>
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

bool make_pipe(int (&ends)[2]) noexcept {
  if (::pipe(ends) != 0) return false;
  for (const int each : ends) ::fcntl(each, F_SETFD, FD_CLOEXEC);
  return true;
}

std::ptrdiff_t read(int descriptor, void* data, std::size_t bytes) noexcept {
  return uninterrupted([&] { return ::read(descriptor, data, bytes); });
}

std::ptrdiff_t write(int descriptor, const void* data, std::size_t bytes) noexcept {
  return uninterrupted([&] { return ::write(descriptor, data, bytes); });
}

bool close(int descriptor) noexcept { return ::close(descriptor) == 0; }

}  // namespace posenc::file_system
