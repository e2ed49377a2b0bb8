// The size of a cache line, the unit of non-temporal stores.
#pragma once

#include <cstdint>

namespace posenc {

inline constexpr std::int64_t cache_line_bytes = 64;
inline constexpr std::int64_t cache_line_floats = cache_line_bytes / sizeof(float);

}  // namespace posenc
