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

void* detail::allocate_table(std::int64_t rows, std::int64_t columns, DataType type) {
  std::int64_t bytes = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(type), &bytes)) {
    throw_invalid("matrix shape is {} x {}; allowed: sizes from 0, and at most 2^63 - 1 bytes",
                  rows, columns);
  }
  // A table that spans at least two huge pages requests them. Its first touch then costs one page
  // fault per 2 MiB instead of 512.
  const auto size = static_cast<std::uint64_t>(bytes);
  const std::size_t alignment = size >= 2 * huge_page_bytes ? huge_page_bytes : cache_line_bytes;
  if (size > SIZE_MAX - alignment) throw std::bad_alloc();
  const auto least = std::max<std::size_t>(size, 1);
  void* const memory = allocate_aligned(alignment, (least + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void detail::free_table(void* memory) noexcept { free_aligned(memory); }

}  // namespace posenc
