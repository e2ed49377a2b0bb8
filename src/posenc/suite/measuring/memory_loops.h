// What the memory system allows: the limit that speeds are compared with. Internal: not installed.
#pragma once

#include <cstdint>

namespace posenc::suite {

// Each function touches `bytes` bytes once. Destination and source are 64-byte aligned and do not
// overlap.

/// Plain vector stores of a constant.
void store_loop(void* destination, std::int64_t bytes) noexcept;

/// Non-temporal stores of a constant, then a fence.
void non_temporal_store_loop(void* destination, std::int64_t bytes) noexcept;

/// std::memcpy.
void copy_loop(void* destination, const void* source, std::int64_t bytes) noexcept;

}  // namespace posenc::suite
