// What is being timed, for those who wait at a terminal.
#pragma once

#include <string_view>

namespace posenc::bench {

/// Shows the name on stderr if that is a terminal. An empty name clears the line.
void show_progress(std::string_view name);

}  // namespace posenc::bench
