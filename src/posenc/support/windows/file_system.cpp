#include "posenc/support/file_system.h"

#include <fcntl.h>
#include <io.h>

namespace posenc::file_system {

bool make_pipe(int (&ends)[2]) noexcept {
  constexpr unsigned buffer_bytes = 1 << 16;
  return _pipe(ends, buffer_bytes, _O_BINARY | _O_NOINHERIT) == 0;
}

std::ptrdiff_t read(int descriptor, void* data, std::size_t bytes) noexcept {
  return _read(descriptor, data, static_cast<unsigned>(bytes));
}

std::ptrdiff_t write(int descriptor, const void* data, std::size_t bytes) noexcept {
  return _write(descriptor, data, static_cast<unsigned>(bytes));
}

bool close(int descriptor) noexcept { return _close(descriptor) == 0; }

}  // namespace posenc::file_system
