#include "posenc/support/scratch.h"

#include "posenc/matrix.h"
#include "posenc/support/threads.h"

#include <new>

#include <windows.h>

namespace posenc {

// Not thread_local: GCC for MinGW frees such an object at the end of its thread before the
// destructor runs.
float* scratch(std::int64_t floats) {
  static const DWORD slot = [] {
    keep_loaded();  // ending threads call what follows
    return FlsAlloc([](void* memory) { delete static_cast<Matrix*>(memory); });
  }();
  auto* memory = static_cast<Matrix*>(FlsGetValue(slot));
  if (memory == nullptr) {
    memory = new Matrix;
    if (FlsSetValue(slot, memory) == 0) {
      delete memory;
      throw std::bad_alloc();
    }
  }
  if (memory->rows() < floats) *memory = Matrix(floats, 1);
  return memory->data();
}

}  // namespace posenc
