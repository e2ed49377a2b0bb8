// Sizes of the memory system: a cache line, which is the unit of non-temporal stores, and a page.
#pragma once

#include "posenc/support/detail.h"

#include <cstdint>

namespace posenc::detail {

inline constexpr std::int64_t cache_line_bytes = 64;
inline constexpr std::int64_t cache_line_floats = cache_line_bytes / sizeof(float);
/// Addresses that differ by a multiple of this size compete for the same sets of a cache.
inline constexpr std::int64_t page_bytes = 4096;

}  // namespace posenc::detail
