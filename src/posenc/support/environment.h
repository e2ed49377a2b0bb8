// What a program is started with: arguments, environment variables, its own file. Text is UTF-8 on
// every system. Internal: not installed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {

/// The arguments of main(), without the program's name.
std::vector<std::string> program_arguments(int argc, char** argv);

/// The program, as start_process() finds it. `name` is that of main(), for systems that do not say.
std::string program_file(const std::string& name);

/// The value of a variable; empty if it is not set.
std::filesystem::path path_from_environment(const char* variable);

/// The user's folder for settings of programs; empty if no variable names it.
std::filesystem::path settings_folder();
/// The variables that may name it, as the end of a list.
extern const std::string_view settings_variables;

}  // namespace posenc
