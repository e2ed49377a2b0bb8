// Included once by each ISA's file, as posenc/simd/isa_file.h is, and for the reasons given there.
#include "posenc/layers/simd/layer_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
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
#include <xsimd/xsimd.hpp>

#include "posenc/simd/lanes.h"

#include "posenc/layers/simd/combine_kernel.h"
#include "posenc/layers/simd/rotate_kernel.h"

namespace posenc::simd {

const LayerKernels& POSENC_JOIN(POSENC_ISA, _layer_kernels)() noexcept {
  static constexpr LayerKernels kernels = {combine_kernel, rotate_kernel, fence_kernel};
  return kernels;
}

}  // namespace posenc::simd
