#include "posenc/support/threads.h"

#include <windows.h>

namespace posenc::detail {

// A DLL is told of its end under a lock that ending threads need: none can be joined there.
bool keep_loaded() noexcept {
  HMODULE module = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            reinterpret_cast<LPCWSTR>(&keep_loaded), &module) != 0;
}

// Windows has neither signals nor forks, and threads begin with the CPUs of the process.
SignalsBlocked::SignalsBlocked() noexcept = default;
SignalsBlocked::~SignalsBlocked() = default;
void take_affinity_of_process() noexcept {}
void at_fork(void (*)(), void (*)(), void (*)()) noexcept {}

}  // namespace posenc::detail
