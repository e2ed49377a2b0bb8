#include "posenc/check/arrangement.h"

#include "posenc/support/enum_names.h"

#include <iterator>

namespace posenc::check {

namespace {

constexpr auto arrangement_names = enum_names<Arrangement>(
    "arrangement", "interleaved", "halves", "halves_cos_first", "interleaved_cos_first", "cosines",
    "sines", "cosines_twice", "sines_twice", "cosines_repeated", "sines_repeated", "alternating");
static_assert(arrangement_names.names.size() == std::size(all_arrangements));
static_assert(static_cast<int>(Layout::halves_cos_first) ==
              static_cast<int>(Arrangement::halves_cos_first));

}  // namespace

std::string_view to_string(Arrangement arrangement) noexcept {
  return arrangement_names[arrangement];
}

Arrangement arrangement_of(Layout layout) noexcept { return static_cast<Arrangement>(layout); }

Arrangement parse_arrangement(std::string_view name) { return arrangement_names.parse(name); }

}  // namespace posenc::check
