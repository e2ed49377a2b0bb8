#include "posenc/support/scratch.h"

#include "posenc/matrix.h"

namespace posenc {

float* scratch(std::int64_t floats) {
  static thread_local Matrix memory;
  if (memory.rows() < floats) memory = Matrix(floats, 1);
  return memory.data();
}

}  // namespace posenc
