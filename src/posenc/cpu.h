// What this CPU is and can do, found by the library's own detection.
#pragma once

#include "posenc/export.h"
#include "posenc/isa.h"

#include <cstdint>
#include <string>
#include <vector>

namespace POSENC_API posenc {

struct Cpu {
  std::string
      model;  ///< "AMD EPYC 9B14", or the architecture's name where the system does not tell
  std::vector<Isa> isas;      ///< what the CPU and the operating system support, ascending
  std::int64_t l1_bytes = 0;  ///< data cache of one core; 0 where unknown
  std::int64_t l2_bytes = 0;  ///< of one core
  std::int64_t l3_bytes = 0;  ///< shared
  int logical_cores = 1;      ///< that this process may run on
};

/// Detected once, at first use.
const Cpu& cpu();

bool cpu_has(Isa isa) noexcept;

/// Where a table of so many bytes lives on this CPU: the shape classes of picks and benchmarks.
enum class ShapeClass { l1, l2, l3, memory };
std::string_view to_string(ShapeClass shape) noexcept;
ShapeClass parse_shape_class(std::string_view name);  ///< throws InvalidArgument
ShapeClass shape_class(std::int64_t table_bytes);

}  // namespace posenc
