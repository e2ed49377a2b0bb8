// What the memory system allows for the same bytes: the limit that throughput is compared with.
#pragma once

#include <cstdint>
#include <span>

namespace posenc::bench {

/// Each touches `bytes` bytes once; destination and source are 64-byte aligned and do not overlap.
void store_loop(void* destination,
                std::int64_t bytes) noexcept;  ///< plain vector stores of a constant
void non_temporal_store_loop(
    void* destination, std::int64_t bytes) noexcept;  ///< stores past the caches, then a fence
void copy_loop(void* destination, const void* source,
               std::int64_t bytes) noexcept;  ///< std::memcpy

}  // namespace posenc::bench
