/// @file
/// This CPU: its name, instruction sets, caches and cores.
#pragma once

#include "posenc/isa.h"

#include <cstdint>
#include <string>
#include <vector>

namespace posenc {

/// A CPU, as programs see it.
struct Cpu {
  /// For example "AMD EPYC 9B14"; the architecture's name if the system gives no model.
  std::string model;
  /// The instruction sets that both the CPU and the operating system support, ascending.
  std::vector<Isa> isas;
  std::int64_t l1_bytes = 0;  ///< data cache of one core; 0 if unknown
  std::int64_t l2_bytes = 0;  ///< L2 cache of one core; 0 if unknown
  std::int64_t l3_bytes = 0;  ///< shared L3 cache; 0 if unknown
  int logical_cores = 1;      ///< cores that this process may run on

  bool operator==(const Cpu&) const = default;
};

/// This CPU, detected once, at first use.
const Cpu& cpu();

/// True if this CPU and its operating system support the instruction set.
bool cpu_has(Isa isa) noexcept;

}  // namespace posenc
