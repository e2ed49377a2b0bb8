// The decision whether a table is stored non-temporally.
#pragma once

#include "posenc/cpu.h"
#include "posenc/encode_options.h"

#include <algorithm>
#include <cstdint>

namespace posenc {

/// The largest table that is stored by plain stores: half the last-level cache, of which other data
/// needs a part, but at most 16 MiB: large caches are shared by many cores, and a virtual machine
/// reports the whole cache although it owns a part.
inline std::int64_t most_cached_bytes() noexcept {
  constexpr std::int64_t most = std::int64_t{16} << 20;
  const std::int64_t last_level = cpu().l3_bytes > 0 ? cpu().l3_bytes : 2 * most;
  return std::min(last_level / 2, most);
}

/// True if a table of `bytes` bytes is to be stored non-temporally. A table that the caches do not
/// hold evicts what else is there, and is itself evicted before it is read. Plain stores first read
/// each cache line; non-temporal stores do not, and reach the memory's bandwidth (bench_limits
/// shows both).
inline bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept {
  if (policy != StorePolicy::automatic) return policy == StorePolicy::non_temporal;
  return bytes > most_cached_bytes();
}

}  // namespace posenc
