// All kernels of one ISA. The source file of the ISA includes this file after the header of the
// ISA.
#pragma once

#include "posenc/simd/kernels.h"

#include "posenc/simd/anchors-inl.h"
#include "posenc/simd/layers/combine-inl.h"
#include "posenc/simd/rotation/rotation-inl.h"
#include "posenc/simd/rotation/rotation_to_float64-inl.h"
#include "posenc/simd/rotation32/rotation32-inl.h"
#if !defined(POSENC_NO_COMPARISON_BACKENDS) && !defined(POSENC_PORTABLE_VECTORS)
#include "posenc/simd/sincos-inl.h"
#define POSENC_SINCOS_KERNEL sincos_kernel
#else
#define POSENC_SINCOS_KERNEL nullptr
#endif

namespace posenc::simd {

const Kernels& POSENC_JOIN(POSENC_ISA, _kernels)() noexcept {
  static constexpr Kernels kernels = {.has_fused_operations = fused_rounds_once,
                                      .float_lanes = float_lanes,
                                      .anchors = anchor_kernel,
                                      .angles = angle_kernel,
                                      .rotation = rotation_kernel,
                                      .rotation32 = rotation32_kernel,
                                      .sincos = POSENC_SINCOS_KERNEL,
                                      .combine = combine_kernel,
                                      .fence = fence};
  return kernels;
}

}  // namespace posenc::simd
