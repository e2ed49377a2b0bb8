#include "posenc/support/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

namespace posenc::detail {

// Here, threads can be joined when a library is unloaded.
bool keep_loaded() noexcept { return false; }

SignalsBlocked::SignalsBlocked() noexcept {
  static_assert(sizeof before_ >= sizeof(sigset_t));
  sigset_t all, before;
  sigfillset(&all);
  for (const int raised : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    sigdelset(&all, raised);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::memcpy(before_, &before, sizeof before);
}

SignalsBlocked::~SignalsBlocked() {
  sigset_t before;
  std::memcpy(&before, before_, sizeof before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  pthread_atfork(before, in_parent, in_child);
}

}  // namespace posenc::detail
