// The vectorised peers' kernels: plain data in, one table of functions for every ISA out.
#pragma once

#include "posenc/isa.h"
#include "posenc/simd/row_task.h"

#include <cstdint>

namespace posenc::peers {

/// Frequencies and float32 rows are padded to whole vectors of the widest ISA.
inline constexpr std::int64_t most_lanes = 16;

/// Where a row's sines and cosines stand.
struct Columns {
  bool interleaved;
  std::int64_t sine;    ///< the first one's channel
  std::int64_t cosine;  ///< the first one's channel
};

/// T is the type of the phases; rows are float32.
template <class T>
struct SincosTables {
  std::int64_t frequencies;
  Columns columns;
  const T* radians;  ///< a position, padded with zeros to a multiple of most_lanes
};

template <class T>
using SincosKernel = void (*)(const SincosTables<T>&, const RowTask&);

struct DriftTables {
  std::int64_t frequencies;
  Columns columns;
  const float* sin_step;  ///< of one position, padded as above
  const float* cos_step;
};

/// Rotates `rows` times without writing; sine and cosine are read and replaced.
using DriftKernel = void (*)(const DriftTables&, std::int64_t rows, float* sine, float* cosine);
/// Writes the task's rows; the first is `skipped` rotations away from the sine and cosine given.
using DriftRowsKernel = void (*)(const DriftTables&, std::int64_t skipped, const float* sine,
                                 const float* cosine, const RowTask&);

/// Null where the library was not found.
struct Kernels {
  Isa isa;
  SincosKernel<float> sleef_u10, sleef_u35;
  SincosKernel<double> sleef_f64;
  SincosKernel<float> libmvec_f32;
  SincosKernel<double> libmvec_f64;
  SincosKernel<float> eigen;
  DriftKernel drift;
  DriftRowsKernel drift_rows;
};

extern const Kernels kernels_sse2;
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;

}  // namespace posenc::peers
