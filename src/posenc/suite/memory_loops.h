// The limit of the memory system that speeds are compared with. Internal: not installed.
#pragma once

#include <cstdint>

namespace posenc::suite {
inline namespace internals {

// Each function touches `bytes` bytes once. The destination is 64-byte aligned.

/// Plain vector stores of a constant.
void store_loop(void* destination, std::int64_t bytes) noexcept;

/// Non-temporal stores of a constant, then a fence.
void non_temporal_store_loop(void* destination, std::int64_t bytes) noexcept;

}  // namespace internals
}  // namespace posenc::suite
