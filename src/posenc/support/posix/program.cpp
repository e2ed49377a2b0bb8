#include "posenc/support/program.h"

#include <csignal>
#include <initializer_list>

#include <fcntl.h>
#include <unistd.h>

namespace posenc::detail {

std::vector<std::string> program_arguments(int argc, char** argv) {
  return argc > 0 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

void prepare_standard_streams() noexcept {
  std::signal(SIGXFSZ, SIG_IGN);
  // A file that is opened would take the place of a closed stream, and be written to by what is
  // meant for the stream. Each is replaced by one on which every read or write fails.
  for (const int descriptor : {0, standard_output, standard_error}) {
    if (::fcntl(descriptor, F_GETFD) == -1)
      ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);  // takes the least free number
  }
}

}  // namespace posenc::detail
