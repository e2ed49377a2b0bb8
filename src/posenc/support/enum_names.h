// The names of an enumeration's values: one table for to_string(), parsing and listing.
#pragma once

#include "posenc/error.h"
#include "posenc/support/format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace posenc::detail {

/// Names of the values 0, 1, ... of Enum.
template <class Enum, std::size_t count>
struct EnumNames {
  std::string_view argument;  ///< name of the argument in messages: "layout"
  std::array<std::string_view, count> names;

  constexpr bool contains(Enum value) const noexcept {
    return static_cast<std::size_t>(value) < count;
  }
  /// A value without a name, which only a cast can make, is "unknown".
  constexpr std::string_view operator[](Enum value) const noexcept {
    return contains(value) ? names[static_cast<std::size_t>(value)] : "unknown";
  }
  /// Throws InvalidArgument if the value has no name.
  void check(Enum value) const {
    if (contains(value)) return;
    throw_invalid("{} is {}; allowed: 0 to {}", argument, static_cast<std::int64_t>(value),
                  count - 1);
  }
  /// The value of that name. Throws InvalidArgument, listing the allowed names.
  Enum parse(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (names[i] == name) return static_cast<Enum>(i);
    }
    throw_invalid("{} is '{}'; allowed: {}", argument, name, join(names, ", "));
  }
};

template <class Enum, class... Names>
constexpr EnumNames<Enum, sizeof...(Names)> enum_names(std::string_view argument, Names... names) {
  return {argument, {names...}};
}

}  // namespace posenc::detail
