#include "posenc/support/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

namespace posenc {

// Here, threads can be joined when a library is unloaded.
bool keep_loaded() noexcept { return false; }
namespace {

class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::thread start_helper_thread(void (*run)(void*), void* argument) {
  const SignalsBlocked blocked;  // a thread begins with the mask of its creator
  return std::thread(run, argument);
}

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  pthread_atfork(before, in_parent, in_child);
}

void wait_on_this_cpu(std::thread& thread, const std::function<bool()>& is_busy) noexcept {
#ifdef __linux__
  cpu_set_t allowed, here;
  const int cpu = sched_getcpu();
  const pthread_t handle = thread.native_handle();
  if (cpu >= 0 && cpu < CPU_SETSIZE &&
      pthread_getaffinity_np(handle, sizeof allowed, &allowed) == 0) {
    CPU_ZERO(&here);
    CPU_SET(static_cast<unsigned>(cpu), &here);
    pthread_setaffinity_np(handle, sizeof here, &here);
    while (is_busy()) std::this_thread::yield();
    pthread_setaffinity_np(handle, sizeof allowed, &allowed);
  }
#endif
  while (is_busy()) std::this_thread::yield();
}

}  // namespace posenc
