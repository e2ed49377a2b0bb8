#include "posenc/support/program.h"

#include <filesystem>
#include <initializer_list>

#include <fcntl.h>
#include <io.h>
#include <windows.h>
// Must follow <windows.h>, which defines names that this header uses.
#include <shellapi.h>

namespace posenc::detail {

std::vector<std::string> program_arguments(int, char**) {
  // The arguments of main() are in the code page of the machine and lose other characters.
  int count = 0;
  wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(std::filesystem::path(wide[i]).string());
  LocalFree(wide);
  return arguments;
}

// _isatty() is also true for the device NUL.
bool is_terminal(int descriptor) noexcept {
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  DWORD mode = 0;
  return GetConsoleMode(handle, &mode) != 0;
}

void prepare_standard_streams() noexcept {
  for (const int descriptor : {0, standard_output, standard_error}) _setmode(descriptor, _O_BINARY);
}

}  // namespace posenc::detail
