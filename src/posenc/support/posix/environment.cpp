#include "posenc/support/environment.h"

#include <cstdlib>
#include <system_error>

namespace posenc {

const std::string_view settings_variables = ", XDG_CONFIG_HOME and HOME";

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

std::filesystem::path path_from_environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::filesystem::path settings_folder() {
  // The XDG specification says that a relative folder is ignored.
  if (auto folder = path_from_environment("XDG_CONFIG_HOME"); folder.is_absolute()) return folder;
  const auto home = path_from_environment("HOME");
  return home.empty() ? home : home / ".config";
}

}  // namespace posenc
