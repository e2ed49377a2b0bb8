#include "posenc/matrix.h"

#include "posenc/error.h"
#include "posenc/support/cache_line.h"
#include "posenc/support/format.h"
#include "posenc/support/system.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

namespace posenc {
namespace {

/// Uninitialised memory. A table of at least two huge pages is aligned to them and requests them:
/// its first touch then costs one page fault for 2 MiB instead of 512. bench_encode shows the
/// difference between fresh and warm memory. Smaller tables are aligned to a cache line.
void* allocate(std::uint64_t size) {
  const auto bytes = static_cast<std::size_t>(size);
  const std::size_t alignment = bytes >= 2 * huge_page_bytes ? huge_page_bytes : cache_line_bytes;
  if (size > SIZE_MAX - alignment) throw std::bad_alloc();
  const std::size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  void* const memory = allocate_aligned(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* detail::allocate_table(std::int64_t rows, std::int64_t columns, DataType type) {
  std::int64_t bytes = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(type), &bytes)) {
    throw_invalid("matrix shape is {} x {}; allowed: non-negative, at most 2^63 - 1 bytes", rows,
                  columns);
  }
  return allocate(static_cast<std::uint64_t>(bytes));
}

void detail::free_table(void* memory) noexcept { free_aligned(memory); }

}  // namespace posenc
