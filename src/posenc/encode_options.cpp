#include "posenc/encode_options.h"

#include "posenc/cpu.h"
#include "posenc/support/enum_names.h"

#include <algorithm>

namespace posenc {
namespace {

constexpr auto store_names =
    enum_names<StorePolicy>("stores", "automatic", "cached", "non_temporal");

}  // namespace

std::string_view to_string(StorePolicy policy) noexcept { return store_names[policy]; }
StorePolicy parse_store_policy(std::string_view name) { return store_names.parse(name); }

std::int64_t most_cached_bytes() noexcept {
  // Other data needs part of the cache, and many cores and virtual machines share large caches.
  constexpr std::int64_t most = std::int64_t{16} << 20;
  const std::int64_t last_level = cpu().l3_bytes > 0 ? cpu().l3_bytes : 2 * most;
  return std::min(last_level / 2, most);
}

bool is_non_temporal(StorePolicy policy, std::int64_t bytes) noexcept {
  if (policy != StorePolicy::automatic) return policy == StorePolicy::non_temporal;
  return bytes > most_cached_bytes();
}

}  // namespace posenc
