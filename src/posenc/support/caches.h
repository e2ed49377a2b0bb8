// Sizes of the caches, for decisions about speed. Internal: not installed.
#pragma once

#include "posenc/cpu.h"
#include "posenc/support/detail.h"

#include <cstdint>

namespace posenc::detail {

/// Bytes of the cache of this level, 1 to 3. If the system does not report the size, the size of a
/// common CPU.
inline std::int64_t known_cache_bytes(int level, const Cpu& machine = cpu()) {
  const std::int64_t bytes = level == 1   ? machine.l1_bytes
                             : level == 2 ? machine.l2_bytes
                                          : machine.l3_bytes;
  constexpr std::int64_t usual_bytes[] = {32 << 10, 1 << 20, 32 << 20};
  return bytes > 0 ? bytes : usual_bytes[level - 1];
}

}  // namespace posenc::detail
