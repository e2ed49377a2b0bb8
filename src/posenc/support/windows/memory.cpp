#include "posenc/support/memory.h"

#include <malloc.h>

namespace posenc {

// Windows has huge pages for privileged processes only.
void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
  return _aligned_malloc(bytes, alignment);
}

void free_aligned(void* memory) noexcept { _aligned_free(memory); }

}  // namespace posenc
