// Included once by each ISA's file, which sets:
//   POSENC_ISA      its name (sse2)
//   POSENC_ARCH     its name for the vector library (xsimd::sse2)
//   POSENC_VECTORS  the header of that library
//   POSENC_LANES    the file with the ISA's own operations
//
// The file is compiled with that ISA's flags. An inline function that also exists in other files
// could be kept by the linker in this file's version and crash older CPUs; xsimd before 13 has such
// functions. So the standard headers come first, xsimd's namespace gets this ISA's name, and all
// kernels stand in an anonymous namespace: nothing but two functions has external linkage.
#include "posenc/simd/kernels.h"
#include "posenc/simd/layer_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define POSENC_JOIN_(a, b) a##b
#define POSENC_JOIN(a, b) POSENC_JOIN_(a, b)
#define xsimd POSENC_JOIN(xsimd_, POSENC_ISA)
#include POSENC_VECTORS

#include "posenc/simd/lanes-inl.h"

#include "posenc/simd/anchors-inl.h"
#include "posenc/simd/rotation32-inl.h"
#include "posenc/simd/rotation64-inl.h"

#include "posenc/simd/rotation-inl.h"
#ifdef POSENC_HAS_VECTOR_SINCOS
#include "posenc/simd/sincos-inl.h"
#endif

#include "posenc/simd/combine-inl.h"
#include "posenc/simd/rotary-inl.h"

namespace posenc::simd {

const Kernels& POSENC_JOIN(POSENC_ISA, _kernels)() noexcept {
#ifdef POSENC_HAS_VECTOR_SINCOS
  constexpr SincosKernel sincos = sincos_kernel;
#else
  constexpr SincosKernel sincos = nullptr;
#endif
  static constexpr Kernels kernels = {anchor_kernel, rotation_kernel, rotation32_kernel, sincos};
  return kernels;
}

const LayerKernels& POSENC_JOIN(POSENC_ISA, _layer_kernels)() noexcept {
  static constexpr LayerKernels kernels = {combine_kernel, rotate_kernel, fence_kernel};
  return kernels;
}

}  // namespace posenc::simd
