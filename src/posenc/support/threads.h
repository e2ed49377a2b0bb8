// What helper threads need of the operating system. Internal: not installed.
#pragma once

#include <functional>
#include <thread>

namespace posenc {

/// Makes sure that the code of this library stays loaded, if the system has libraries that are
/// unloaded while their threads run, and says so. A thread need not be joined then.
bool keep_loaded() noexcept;

/// Starts a thread that receives no signals: they are for the threads of the program. Throws
/// std::system_error.
std::thread start_helper_thread(void (*run)(void*), void* argument);

/// Calls these functions in each fork of the process: before it, and after it in the parent and in
/// the child.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

/// Waits while the thread is busy. If the system can, moves the thread meanwhile to the CPU of the
/// caller, so that one that is preempted runs there.
void wait_on_this_cpu(std::thread& thread, const std::function<bool()>& is_busy) noexcept;

}  // namespace posenc
