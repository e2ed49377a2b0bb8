#include "posenc/encode_options.h"

#include "posenc/cpu.h"
#include "posenc/support/store_policy.h"

#include <algorithm>
#include <atomic>

namespace posenc {
namespace {

/// 0 if not measured.
std::atomic<std::int64_t> measured_most = 0;

/// Half the last-level cache, of which other data needs a part. Large caches are shared by many
/// cores, and a virtual machine reports the whole cache although it owns a part.
std::int64_t derived_most() noexcept {
  constexpr std::int64_t most = std::int64_t{16} << 20;
  const std::int64_t last_level = cpu().l3_bytes > 0 ? cpu().l3_bytes : 2 * most;
  return std::min(last_level / 2, most);
}

}  // namespace

std::int64_t most_cached_bytes() noexcept {
  const std::int64_t measured = measured_most.load(std::memory_order_relaxed);
  return measured > 0 ? measured : derived_most();
}

void set_most_cached_bytes(std::int64_t measured) noexcept {
  measured_most.store(measured, std::memory_order_relaxed);
}

}  // namespace posenc
