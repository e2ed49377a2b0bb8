#include "posenc/encode_options.h"

#include "posenc/support/caches.h"
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
  return std::min(known_cache_bytes(3) / 2, most);
}

}  // namespace posenc
