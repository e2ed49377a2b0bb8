#include "posenc/support/environment.h"

#include <filesystem>
#include <system_error>

namespace posenc {

std::vector<std::string> program_arguments(int argc, char** argv) {
  return argc > 0 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

std::string program_file(const std::string& name) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error && std::filesystem::exists(here, error)) return here.string();
  // Its file was replaced since the start, or there is no /proc.
  return std::filesystem::exists("/proc/self/exe", error) ? "/proc/self/exe" : name;
}

}  // namespace posenc
