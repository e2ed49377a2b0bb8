#include "posenc/support/processors.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace posenc {

int usable_cpus() noexcept {
#if defined(__linux__)
  // Of the process, that is of its first thread. Another one may be pinned to a CPU of its own.
  cpu_set_t allowed;
  if (sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

#if defined(__APPLE__)

namespace {

/// The system's value of that name, or 0.
std::int64_t system_value(const char* name) {
  std::int64_t value = 0;
  std::size_t bytes = sizeof value;
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 ? value : 0;
}

}  // namespace

std::int64_t cache_bytes(int level) {
  constexpr const char* names[][2] = {{"hw.perflevel0.l1dcachesize", "hw.l1dcachesize"},
                                      {"hw.perflevel0.l2cachesize", "hw.l2cachesize"},
                                      {"hw.perflevel0.l3cachesize", "hw.l3cachesize"}};
  const auto& of_level = names[level - 1];
  const std::int64_t of_fast_core = system_value(of_level[0]);
  return of_fast_core > 0 ? of_fast_core : system_value(of_level[1]);
}

#else

std::int64_t cache_bytes(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = format_text("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    int found_level = 0;
    std::int64_t kibibytes = 0;
    std::string type;
    std::ifstream(folder + "level") >> found_level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> kibibytes;
    if (found_level == level && type != "Instruction" && kibibytes > 0) return kibibytes * 1024;
  }
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  constexpr std::array names = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
  return std::max(0L, sysconf(names[static_cast<std::size_t>(level - 1)]));
#else
  return 0;  // musl and the BSDs do not define these names
#endif
}

#endif

}  // namespace posenc
