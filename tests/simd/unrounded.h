// The rotation of every ISA without the rounding to float32, so that tests can measure its error in
// double.
#pragma once

#include "posenc/isa.h"
#include "posenc/simd/kernels.h"

#include <cstdint>
#include <vector>

namespace posenc::simd {

struct UnroundedKernels {
  /// True if the ISA has fused operations.
  bool fused_rounds_once;
  /// Like RotationKernel, but stores as float64 the values that it would round to float32. The
  /// tables need no exact_entry.
  void (*rows)(const RotationTables& tables, const RowTask& task) noexcept;
  /// Rotates the sines and cosines of `frequencies` frequencies (a multiple of the padding) by one
  /// block.
  void (*rotate)(const RotationTables& tables, std::int64_t frequencies, double* sine,
                 double* cosine) noexcept;
};

struct IsaUnroundedKernels {
  Isa isa;
  const UnroundedKernels& kernels;
};

/// The kernels of every ISA that runs here.
std::vector<IsaUnroundedKernels> unrounded_kernels();

}  // namespace posenc::simd
