// The lock of the interpreter, while the library computes. At the end of a program, Python ends
// daemon threads that ask for it: before version 3.14 by unwinding their stacks, through functions
// that may not throw and destructors that need the lock.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>

namespace posenc::python {

/// Releases the lock as long as it lives. A thread that wants it back after the interpreter has
/// begun to end sleeps instead, as in Python 3.14, and ends with the process.
class ReleasedGil {
 public:
  ReleasedGil() noexcept : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() {
#if PY_VERSION_HEX >= 0x030D0000
    const bool is_ending = Py_IsFinalizing() != 0;
#else
    const bool is_ending = _Py_IsFinalizing() != 0;
#endif
    if (is_ending) sleep_for_ever();
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      // The interpreter began to end while this thread waited for the lock, and unwinds its stack,
      // which aborts the program if this handler is left.
      sleep_for_ever();
    }
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  [[noreturn]] static void sleep_for_ever() noexcept {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }

  PyThreadState* state_;
};

}  // namespace posenc::python
