// What this CPU is and can do, found by the library's own detection.
#pragma once

#include "posenc/export.h"
#include "posenc/isa.h"

#include <cstdint>
#include <string>
#include <vector>

namespace POSENC_API posenc {

struct Cpu {
  std::string model;          ///< "AMD EPYC 9B14"; the architecture's name if the system gives none
  std::vector<Isa> isas;      ///< what the CPU and the operating system support, ascending
  std::int64_t l1_bytes = 0;  ///< data cache of one core; 0 if unknown
  std::int64_t l2_bytes = 0;  ///< of one core
  std::int64_t l3_bytes = 0;  ///< shared
  int logical_cores = 1;      ///< on which this process may run
};

/// Detected once, at first use.
const Cpu& cpu();

bool cpu_has(Isa isa) noexcept;

/// The smallest memory that a table fits in, on this CPU. Speeds are measured by class.
enum class ShapeClass { l1, l2, l3, memory };
ShapeClass shape_class(std::int64_t table_bytes);

std::string_view to_string(ShapeClass shape) noexcept;
/// Throws InvalidArgument, listing the allowed names.
ShapeClass parse_shape_class(std::string_view name);

}  // namespace posenc
