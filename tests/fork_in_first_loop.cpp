// A process forks while another of its threads is in the first loop with threads, and makes the
// pool of helpers. The child must not wait for that thread, which it does not have.
#include "posenc/registry.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::atomic<bool> is_in_pool = false;

}  // namespace

/// Replaces the function that the pool asks for the number of CPUs. It is slow, so that the fork
/// happens meanwhile.
extern "C" int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* set) noexcept {
  is_in_pool = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return syscall(SYS_sched_getaffinity, process, bytes, set) < 0 ? -1 : 0;
}

int main() {
  using namespace posenc;
  Matrix table(4096, 64);
  const auto encoder = backend("rotation").plan({.d_model = 64});
  is_in_pool = false;  // planning may have asked
  std::thread first([&] { encoder->encode(RowRange{0, 4096}, table.view(), {2}); });
  while (!is_in_pool) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    Matrix own(4096, 64);  // with a pool of the child's own
    encoder->encode(RowRange{0, 4096}, own.view(), {2});
    _exit(own(1, 0) == encoder->spec().base ? 1 : 0);
  }
  first.join();
  for (int i = 0; i < 1000; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status == 0 ? 0 : 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  std::puts("the child hangs");
  return 1;
}
