// The decision whether a table is stored non-temporally.
#pragma once

#include "posenc/cpu.h"
#include "posenc/encode_options.h"

#include <cstdint>

namespace posenc {

/// True if a table of `bytes` bytes is to be stored non-temporally: if it is larger than half the
/// last-level cache. Such a table evicts most of what else is there, and if others use the cache
/// too, it is itself evicted before it is read. Plain stores first read each cache line;
/// non-temporal stores do not, and reach the memory's bandwidth (bench_limits shows both).
inline bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept {
  if (policy != StorePolicy::automatic) return policy == StorePolicy::non_temporal;
  return shape_class(2 * bytes) == ShapeClass::memory;
}

}  // namespace posenc
