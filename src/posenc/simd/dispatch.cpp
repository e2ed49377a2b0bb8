#include "posenc/simd/dispatch.h"

#include "posenc/simd/compiled_isas.h"

#include <vector>

namespace posenc::simd {

#define POSENC_DECLARE_KERNELS(isa) const Kernels& isa##_kernels() noexcept;
POSENC_FOR_EACH_ISA(POSENC_DECLARE_KERNELS)

std::span<const IsaKernels> compiled_kernels() {
#define POSENC_ISA_KERNELS(isa) {Isa::isa, isa##_kernels()},
  // Never freed, so that it is valid while the process exits.
  static const auto& all = *new std::vector<IsaKernels>{POSENC_FOR_EACH_ISA(POSENC_ISA_KERNELS)};
  return all;
}

const Kernels& best_kernels() {
  static const Kernels& best = best_of(compiled_kernels());
  return best;
}

}  // namespace posenc::simd
