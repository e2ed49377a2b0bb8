#include "posenc/suite/shape_class.h"

#include "posenc/support/caches.h"
#include "posenc/support/enum_names.h"

namespace posenc::suite {
namespace {

constexpr auto shape_names = enum_names<ShapeClass>("shape class", "l1", "l2", "l3", "memory");

}  // namespace

std::string_view to_string(ShapeClass shape) noexcept { return shape_names[shape]; }

ShapeClass shape_class(std::int64_t table_bytes, const Cpu& machine) {
  int level = 1;
  while (level <= 3 && table_bytes > known_cache_bytes(level, machine)) ++level;
  return static_cast<ShapeClass>(level - 1);
}

}  // namespace posenc::suite
