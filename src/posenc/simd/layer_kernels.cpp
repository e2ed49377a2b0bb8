#include "posenc/simd/layer_kernels.h"
#include "posenc/cpu.h"

namespace posenc::simd {
namespace {

const LayerKernels& best_kernels() noexcept {
#ifdef POSENC_HAVE_AVX512
  if (cpu_has(Isa::avx512)) return avx512_layer_kernels();
#endif
#ifdef POSENC_HAVE_AVX2
  if (cpu_has(Isa::avx2)) return avx2_layer_kernels();
#endif
#ifdef POSENC_HAVE_SSE2
  if (cpu_has(Isa::sse2)) return sse2_layer_kernels();
#endif
#ifdef POSENC_HAVE_NEON64
  if (cpu_has(Isa::neon64)) return neon64_layer_kernels();
#endif
  return scalar_layer_kernels();
}

}  // namespace

const LayerKernels& layer_kernels() noexcept {
  static const LayerKernels& best = best_kernels();
  return best;
}

}  // namespace posenc::simd
