/// @file
/// Classes of table sizes: the cache that a table fits in.
#pragma once

#include "posenc/cpu.h"

#include <cstdint>
#include <string_view>

namespace posenc::suite {

/// The smallest cache of the CPU that a table fits in, or memory if it fits in none.
enum class ShapeClass { l1, l2, l3, memory };

/// The class of a table of `table_bytes` bytes. If the system does not report the size of a cache,
/// the size of a common CPU is used.
ShapeClass shape_class(std::int64_t table_bytes, const Cpu& machine = cpu());

/// "l1", "l2", "l3" or "memory".
std::string_view to_string(ShapeClass shape) noexcept;

}  // namespace posenc::suite
