// All kernels of the model for one ISA. The source file of the ISA includes this file after the
// header of the ISA.
#pragma once

#include "posenc/model/simd/kernels.h"

#include "posenc/model/simd/convert-inl.h"
#include "posenc/model/simd/join-inl.h"
#include "posenc/model/simd/rotary-inl.h"

namespace posenc::simd {

const ModelKernels& POSENC_JOIN(POSENC_ISA, _model_kernels)() noexcept {
  static constexpr ModelKernels kernels = {.join = join_kernel,
                                           .extent = extent_kernel,
                                           .rotate = rotate_kernel,
                                           .widen = widen_kernel,
                                           .narrow = narrow_kernel};
  return kernels;
}

}  // namespace posenc::simd
