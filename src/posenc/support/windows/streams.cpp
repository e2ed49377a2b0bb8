#include "posenc/support/streams.h"

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <initializer_list>

namespace posenc {

// _isatty() is also true of the device NUL.
bool is_terminal(int descriptor) noexcept {
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  DWORD mode = 0;
  return GetConsoleMode(handle, &mode) != 0;
}

void prepare_standard_streams() noexcept {
  for (const int descriptor : {0, standard_output, standard_error}) _setmode(descriptor, _O_BINARY);
}

}  // namespace posenc
