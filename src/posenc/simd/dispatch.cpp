#include "posenc/simd/dispatch.h"

#include "posenc/cpu.h"

#include <vector>

namespace posenc::simd {

std::span<const IsaKernels> compiled_kernels() {
#define POSENC_ISA_KERNELS(isa) {Isa::isa, isa##_kernels()},
  static const std::vector<IsaKernels> all = {POSENC_FOR_EACH_ISA(POSENC_ISA_KERNELS)};
#undef POSENC_ISA_KERNELS
  return all;
}

const Kernels& best_kernels() {
  static const Kernels* const best = [] {
    const Kernels* found = &scalar_kernels();
    for (const IsaKernels& each : compiled_kernels()) {
      if (cpu_has(each.isa)) found = &each.kernels;
    }
    return found;
  }();
  return *best;
}

bool prefers_narrow_panels() noexcept {
#if defined(__x86_64__)
  // Measured on Sapphire Rapids: beyond L2, narrow panels are half as fast as wide ones. On
  // Zen 4, constants beyond 8 KiB cost a quarter of the speed according to a report; not measured
  // here.
  static const bool is_amd = [] {
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") != 0;
  }();
  return is_amd;
#else
  return false;
#endif
}

}  // namespace posenc::simd
