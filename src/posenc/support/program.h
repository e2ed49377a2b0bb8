// What a program is started with: arguments and standard streams. Text is UTF-8 on
// every system. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <string>
#include <vector>

namespace posenc::detail {

/// The arguments of main(), without the program's name.
std::vector<std::string> program_arguments(int argc, char** argv);

/// Descriptors, as <unistd.h> names them.
inline constexpr int standard_output = 1, standard_error = 2;

bool is_terminal(int descriptor) noexcept;

/// Called once, before the program reads or writes: its streams are bytes on every system, and a
/// write beyond the limit of file sizes fails as any other write does.
void prepare_standard_streams() noexcept;

}  // namespace posenc::detail
