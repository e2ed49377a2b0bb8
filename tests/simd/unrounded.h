// Parts of the kernels of every ISA whose errors tests measure: the rotation without the rounding
// to float32, and the polynomial of rotation32.
#pragma once

#include "posenc/exact/sincos.h"
#include "posenc/simd/kernels.h"

#include <cstdint>

namespace posenc::simd {

struct UnroundedKernels {
  /// Like Kernels::rotation, but stores as float64 the values that it would round to float32. The
  /// tables need no exact_entry.
  void (*rows)(const RotationTables& tables, const RowTask& task) noexcept;
  /// The same for 16-bit types: stores as float32 the values between the bounds of entries.
  void (*rows_to_16_bits)(const RotationTables& tables, const RowTask& task) noexcept;
  /// The same for float64: a value is the sum of two doubles, one of them stored in the table of
  /// the task, the other one in `low` at the same place.
  void (*rows_to_float64)(const RotationTables& tables, const RowTask& task, double* low) noexcept;
  /// Rotates the sines and cosines of `frequencies` frequencies (a multiple of the padding) by one
  /// block.
  void (*rotate)(const RotationTables& tables, std::int64_t frequencies, double* sine,
                 double* cosine) noexcept;
  /// folded_sine() of `count` values (a multiple of the padding) of rotation32-inl.h.
  void (*folded_sines)(const std::int32_t* shifted, std::int64_t count, float* sines) noexcept;
  /// Rounds a value as rotation does in a column of bound 1; to 16-bit types, as an anchor.
  Rounded (*round)(double value, DataType type) noexcept;
};

}  // namespace posenc::simd
