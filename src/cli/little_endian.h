// The byte order of files. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace posenc::detail {

/// Puts the bytes of each element in little-endian order. Does nothing on a little-endian machine.
template <class T>
void to_little_endian(std::span<T> elements) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    const std::span<std::byte> bytes = std::as_writable_bytes(elements);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(T))
      std::ranges::reverse(bytes.subspan(i, sizeof(T)));
  }
}

}  // namespace posenc::detail
