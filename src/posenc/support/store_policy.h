// The decision whether a table is stored non-temporally.
#pragma once

#include "posenc/cpu.h"
#include "posenc/encode_options.h"

#include <cstdint>

namespace posenc {

/// True if a table of `bytes` bytes is to be stored non-temporally. A table larger than the
/// last-level cache evicts everything else, and is itself evicted before it is read. Plain stores
/// first read each cache line; non-temporal stores do not, and reach the memory's bandwidth
/// (bench_limits shows both).
inline bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept {
  if (policy != StorePolicy::automatic) return policy == StorePolicy::non_temporal;
  return shape_class(bytes) == ShapeClass::memory;
}

}  // namespace posenc
