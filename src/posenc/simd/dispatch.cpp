#include "posenc/simd/dispatch.h"

#include "posenc/cpu.h"

#include <vector>

namespace posenc::simd {

std::span<const IsaKernels> compiled_kernels() {
  static const std::vector<IsaKernels> all = {
      {Isa::scalar, scalar_kernels()},
#ifdef POSENC_HAVE_SSE2
      {Isa::sse2, sse2_kernels()},
#endif
#ifdef POSENC_HAVE_AVX2
      {Isa::avx2, avx2_kernels()},
#endif
#ifdef POSENC_HAVE_AVX512
      {Isa::avx512, avx512_kernels()},
#endif
#ifdef POSENC_HAVE_NEON64
      {Isa::neon64, neon64_kernels()},
#endif
  };
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

}  // namespace posenc::simd
