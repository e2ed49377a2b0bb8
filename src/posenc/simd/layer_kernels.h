// What the kernels of the layers take and give: plain data, as in posenc/simd/kernels.h.
#pragma once

#include <cstdint>

namespace posenc::simd {

/// Which elements dropout keeps: dropout.h says how an element's random bits come from the
/// generator.
struct DropoutRule {
  std::uint64_t seed;
  std::uint8_t threshold;  ///< an element whose byte is below is dropped, one above is kept
  std::uint32_t
      fine_threshold;  ///< where the byte is equal, a word of its own decides in the same way
  float scale;         ///< of what is kept
};

/// out[i] = dropout(scale * x[i] + encoding[i]), each operation rounded by itself.
struct CombineTask {
  const float* x;
  const float* encoding;  ///< null: none is added
  float* out;             ///< may be x
  std::int64_t count;
  float scale;
  const DropoutRule* dropout;   ///< null: all are kept, as they are
  std::uint64_t first_element;  ///< of dropout: the index of out[0]
  bool non_temporal;            ///< store past the caches; a fence must follow
};

using CombineKernel = void (*)(const CombineTask& task) noexcept;

/// Turns the pairs of channels of one head in place: (a, b) -> (a cos - b sin, b cos + a sin). Pair
/// k is (x[2k], x[2k + 1]) where interleaved, else (x[k], x[pairs + k]).
using RotateKernel = void (*)(const float* cosine, const float* sine, std::int64_t pairs,
                              bool interleaved, float* x) noexcept;

/// After the last non_temporal task: stores past the caches are not ordered with others before it.
using FenceKernel = void (*)() noexcept;

struct LayerKernels {
  CombineKernel combine;
  RotateKernel rotate;
  FenceKernel fence;
};

const LayerKernels& scalar_layer_kernels() noexcept;
#ifdef POSENC_HAVE_SSE2
const LayerKernels& sse2_layer_kernels() noexcept;
#endif
#ifdef POSENC_HAVE_AVX2
const LayerKernels& avx2_layer_kernels() noexcept;
#endif
#ifdef POSENC_HAVE_AVX512
const LayerKernels& avx512_layer_kernels() noexcept;
#endif
#ifdef POSENC_HAVE_NEON64
const LayerKernels& neon64_layer_kernels() noexcept;
#endif

/// Of the best ISA that this CPU has.
const LayerKernels& layer_kernels() noexcept;

}  // namespace posenc::simd
