// What a program is started with: arguments, and its own file. Text is UTF-8 on every system.
// Internal: not installed.
#pragma once

#include <string>
#include <vector>

namespace posenc {

/// The arguments of main(), without the program's name.
std::vector<std::string> program_arguments(int argc, char** argv);

/// The program, as start_process() finds it. `name` is that of main(), for systems that do not say.
std::string program_file(const std::string& name);

}  // namespace posenc
