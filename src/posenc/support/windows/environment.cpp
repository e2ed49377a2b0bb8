#include "posenc/support/environment.h"

#include <filesystem>

#include <windows.h>
// After <windows.h>, which defines what it uses.
#include <shellapi.h>

namespace posenc {

std::vector<std::string> program_arguments(int, char**) {
  // Those of main() are in the code page of the machine, and lose other characters.
  int count = 0;
  wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(std::filesystem::path(wide[i]).string());
  LocalFree(wide);
  return arguments;
}

}  // namespace posenc
