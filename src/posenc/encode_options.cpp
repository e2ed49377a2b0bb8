#include "posenc/encode_options.h"

#include "posenc/support/enum_names.h"

namespace posenc {
namespace {

constexpr auto store_names =
    enum_names<StorePolicy>("stores", "automatic", "cached", "non_temporal");

}  // namespace

std::string_view to_string(StorePolicy policy) noexcept { return store_names[policy]; }

StorePolicy parse_store_policy(std::string_view name) { return store_names.parse(name); }

}  // namespace posenc
