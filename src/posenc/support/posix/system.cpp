#include "posenc/support/system.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace posenc::detail {

int usable_cpus() noexcept {
#if defined(__linux__)
  // The CPUs of the process are the CPUs of its first thread. Another thread may be pinned to a CPU
  // of its own.
  cpu_set_t allowed;
  if (sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::int64_t cache_bytes(int level) {
#if defined(__APPLE__)
  const std::string name = format_text("l{}{}cachesize", level, level == 1 ? "d" : "");
  for (const char* const cores : {"hw.perflevel0.", "hw."}) {  // the fast cores first
    std::int64_t value = 0;
    std::size_t bytes = sizeof value;
    if (sysctlbyname((cores + name).c_str(), &value, &bytes, nullptr, 0) == 0 && value > 0)
      return value;
  }
#else
  for (int index = 0; index < 8; ++index) {
    const auto cache = format_text("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    int its_level = 0;
    std::string type;
    std::int64_t kibibytes = 0;
    std::ifstream(cache + "level") >> its_level;
    std::ifstream(cache + "type") >> type;
    std::ifstream(cache + "size") >> kibibytes;
    if (its_level == level && type != "Instruction" && kibibytes > 0) return kibibytes * 1024;
  }
#endif
  return 0;
}

std::int64_t memory_bytes() noexcept {
  return std::max<std::int64_t>(0, sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
  void* const memory = std::aligned_alloc(alignment, bytes);
#ifdef MADV_HUGEPAGE
  // The system may have no huge pages, so failure is ignored.
  if (memory != nullptr && alignment == huge_page_bytes) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_aligned(void* memory) noexcept { std::free(memory); }

std::thread start_helper(const std::function<void()>& work) {
  struct Blocked {
    sigset_t all, before;
    Blocked() noexcept {
      sigfillset(&all);
      for (const int raised : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
        sigdelset(&all, raised);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  } const inherited;
  return std::thread(work);
}

void take_affinity_of_process() noexcept {
#ifdef __linux__
  const pid_t first_thread = getpid();
  cpu_set_t allowed;
  if (sched_getaffinity(first_thread, sizeof allowed, &allowed) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
  sched_param parameters = {};
  const int policy = sched_getscheduler(first_thread);
  if (policy >= 0 && sched_getparam(first_thread, &parameters) == 0)
    sched_setscheduler(0, policy, &parameters);
#endif
}

#ifdef PTHREAD_CANCEL_DISABLE  // Android cancels no threads.
CancellationWaits::CancellationWaits() noexcept {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
}
CancellationWaits::~CancellationWaits() { pthread_setcancelstate(before_, nullptr); }
#else
CancellationWaits::CancellationWaits() noexcept = default;
CancellationWaits::~CancellationWaits() = default;
#endif

// On POSIX systems, threads can be joined when a library is unloaded.
bool keep_loaded() noexcept { return false; }

void after_fork(void (*in_child)()) noexcept { pthread_atfork(nullptr, nullptr, in_child); }

}  // namespace posenc::detail
