// Included once by each ISA's file, which has set POSENC_ISA (sse2) and POSENC_ARCH (xsimd::sse2).
//
// The file is compiled with that ISA's flags. An inline function that also exists in other files could be kept by the linker in this
// file's version and crash older CPUs; xsimd before 13 has such functions. So the standard headers come first, xsimd's namespace gets
// this ISA's name, and all kernels stand in an anonymous namespace: nothing but one function has external linkage.
#include "posenc/simd/kernels.h"

#include <algorithm>
#include <array>
#include <bit>
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

#include "posenc/simd/anchor_kernel.h"
#include "posenc/simd/rotation32_kernel.h"
#include "posenc/simd/rotation64_kernel.h"
#include "posenc/simd/rotation_kernel.h"
#include "posenc/simd/sincos_kernel.h"

namespace posenc::simd {

const Kernels& POSENC_JOIN(POSENC_ISA, _kernels)() noexcept {
  static constexpr Kernels kernels = {anchor_kernel, rotation_kernel, rotation32_kernel, sincos_kernel};
  return kernels;
}

}  // namespace posenc::simd
