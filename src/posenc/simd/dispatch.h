// The ISAs that this build has kernels for, and the kernels of the best ISA for this CPU.
#pragma once

#include "posenc/isa.h"
#include "posenc/simd/kernels.h"

#include <span>

namespace posenc::simd {

struct IsaKernels {
  Isa isa;
  const Kernels& kernels;
};

/// The kernels of every ISA of this build, in ascending order. The first one runs everywhere.
std::span<const IsaKernels> compiled_kernels();

/// The kernels of the best ISA that this CPU has.
const Kernels& best_kernels();

}  // namespace posenc::simd
