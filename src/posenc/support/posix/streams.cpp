#include "posenc/support/streams.h"

#include <csignal>

#include <unistd.h>

namespace posenc {

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

void prepare_standard_streams() noexcept { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace posenc
