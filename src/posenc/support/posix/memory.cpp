#include "posenc/support/memory.h"

#include <cstdlib>

#include <sys/mman.h>

namespace posenc {

void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
  void* const memory = std::aligned_alloc(alignment, bytes);
#ifdef MADV_HUGEPAGE
  // The system may have no huge pages: failure is ignored.
  if (memory != nullptr && alignment == huge_page_bytes) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_aligned(void* memory) noexcept { std::free(memory); }

}  // namespace posenc
