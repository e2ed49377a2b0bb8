#include "posenc/support/threads.h"

namespace posenc {

// Windows has neither signals nor forks.
std::thread start_helper_thread(void (*run)(void*), void* argument) {
  return std::thread(run, argument);
}

void at_fork(void (*)(), void (*)(), void (*)()) noexcept {}

// A preempted helper is not moved, as on macOS.
void wait_on_this_cpu(std::thread&, const std::function<bool()>& is_busy) noexcept {
  while (is_busy()) std::this_thread::yield();
}

}  // namespace posenc
