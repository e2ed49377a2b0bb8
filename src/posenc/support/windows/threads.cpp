#include "posenc/support/threads.h"

#include <windows.h>

namespace posenc {

// A DLL is told of its end under a lock that ending threads need: none can be joined there.
bool keep_loaded() noexcept {
  HMODULE module = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            reinterpret_cast<LPCWSTR>(&keep_loaded), &module) != 0;
}

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
