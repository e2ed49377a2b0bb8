#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace posenc::bench {

void show_progress(std::string_view name) {
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  if (!is_terminal) return;
  constexpr std::string_view clear_line = "\r\x1b[K";
  fmt::print(stderr, "{}{}{:.70}", clear_line, name.empty() ? "" : "timing ", name);
  std::fflush(stderr);
}

}  // namespace posenc::bench
