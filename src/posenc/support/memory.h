// Aligned memory. Internal: not installed.
#pragma once

#include <cstddef>

namespace posenc {

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Uninitialised memory, or null. `bytes` is a multiple of the alignment. If that is a huge page,
/// the memory is in such pages where the system has them.
void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept;
void free_aligned(void* memory) noexcept;

}  // namespace posenc
