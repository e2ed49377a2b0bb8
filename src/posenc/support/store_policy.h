// The decision whether a table is stored non-temporally.
#pragma once

#include "posenc/encode_options.h"

#include <cstdint>

namespace posenc {

/// Sets most_cached_bytes() for the whole process; 0 means that it was not measured. Results of
/// encoding do not depend on it.
void set_most_cached_bytes(std::int64_t measured) noexcept;

/// True if a table of `bytes` bytes is to be stored non-temporally. A table that the caches do not
/// hold evicts what else is there, and is itself evicted before it is read. Plain stores first read
/// each cache line; non-temporal stores do not, and reach the memory's bandwidth (bench_limits
/// shows both).
inline bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept {
  if (policy != StorePolicy::automatic) return policy == StorePolicy::non_temporal;
  return bytes > most_cached_bytes();
}

}  // namespace posenc
