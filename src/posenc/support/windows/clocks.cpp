#include "posenc/support/clocks.h"

#include <chrono>

namespace posenc::detail {

// GetThreadTimes() counts in steps of 16 ms; a sample takes 5 ms.
double thread_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double stolen_seconds() { return 0; }

}  // namespace posenc::detail
