// What a program is started with. Text is UTF-8 on every system. Internal: not installed.
#pragma once

#include <string>
#include <vector>

namespace posenc {

/// The arguments of main(), without the program's name.
std::vector<std::string> program_arguments(int argc, char** argv);

}  // namespace posenc
