// All kernels of one ISA. The source file of the ISA includes this file after the header of the
// ISA.
#pragma once

#include "posenc/simd/kernels.h"

#include "posenc/simd/anchors-inl.h"
#include "posenc/simd/join-inl.h"
#include "posenc/simd/layers/combine-inl.h"
#include "posenc/simd/layers/rotary-inl.h"
#include "posenc/simd/rotation/rotation-inl.h"
#include "posenc/simd/rotation/rotation_to_float64-inl.h"
#include "posenc/simd/rotation32/rotation32-inl.h"
#ifndef POSENC_PORTABLE_VECTORS
#include "posenc/simd/sincos-inl.h"
#endif

namespace posenc::simd {

const Kernels& POSENC_JOIN(POSENC_ISA, _kernels)() noexcept {
  static constexpr Kernels kernels = {.has_fused_operations = fused_rounds_once,
                                      .float_lanes = float_lanes,
                                      .anchors = anchor_kernel,
                                      .angles = angle_kernel,
                                      .rotation = rotation_kernel,
                                      .rotation32 = rotation32_kernel,
                                      .sincos = sincos_kernel,
                                      .combine = combine_kernel,
                                      .join = join_kernel,
                                      .extent = extent_kernel,
                                      .rotate = rotate_kernel,
                                      .widen = widen_kernel,
                                      .narrow = narrow_kernel,
                                      .fence = fence};
  return kernels;
}

}  // namespace posenc::simd
