// When a table is stored non-temporally.
#pragma once

#include "posenc/cpu.h"
#include "posenc/encode_options.h"

#include <cstdint>

namespace posenc {

/// A table larger than the last-level cache evicts everything else from it, and is gone from it
/// before it is read. Non-temporal stores then run at the memory's own pace; plain ones first read
/// each line (bench_limits shows both).
inline bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept {
  if (policy != StorePolicy::automatic) return policy == StorePolicy::non_temporal;
  return shape_class(bytes) == ShapeClass::memory;
}

}  // namespace posenc
