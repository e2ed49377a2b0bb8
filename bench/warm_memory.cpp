#include "warm_memory.h"

#include "posenc/tuning/internal/memory_loops.h"

#include "posenc/matrix.h"

namespace posenc::bench {

float* warm_memory(std::int64_t bytes) {
  static Matrix memory;
  const std::int64_t floats = (bytes + 3) / 4;
  if (memory.rows() < floats) memory = Matrix(floats, 1);
  store_loop(memory.data(), bytes);
  return memory.data();
}

}  // namespace posenc::bench
