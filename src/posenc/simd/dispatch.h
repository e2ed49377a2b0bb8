// Which ISAs this build has kernels for, and which of them this CPU runs best.
#pragma once

#include "posenc/cpu.h"
#include "posenc/isa.h"
#include "posenc/simd/kernels.h"

#include <span>

namespace posenc::simd {

/// The table of kernels of one ISA.
template <class Table>
struct IsaTable {
  Isa isa;
  const Table& kernels;
};
using IsaKernels = IsaTable<Kernels>;

/// The kernels of the best ISA that this CPU has. `all` ascends, and the CPU has the first ISA.
template <class Table>
const Table& best_of(std::span<const IsaTable<Table>> all) {
  const IsaTable<Table>* best = &all.front();
  for (const IsaTable<Table>& each : all)
    if (cpu_has(each.isa)) best = &each;
  return best->kernels;
}

/// The kernels of every ISA of this build, in ascending order. The first one runs everywhere.
std::span<const IsaKernels> compiled_kernels();

/// The kernels of the best ISA that this CPU has.
const Kernels& best_kernels();

}  // namespace posenc::simd
