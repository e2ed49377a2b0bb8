// What helper threads need of the operating system. Internal: not installed.
#pragma once

namespace posenc::detail {

/// Makes sure that the code of this library stays loaded, if the system has libraries that are
/// unloaded while their threads run, and says so. A thread need not be joined then.
bool keep_loaded() noexcept;

/// While an object lives, threads are started that receive no signals but those that their own
/// instructions raise: others are for the threads of the program.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  alignas(8) char before_[128];
};

/// Gives the calling thread the CPUs and the priority of the process, that is of its first thread,
/// not those of the thread that started it.
void take_affinity_of_process() noexcept;

/// Calls these functions in each fork of the process: before it, and after it in the parent and in
/// the child.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

}  // namespace posenc::detail
