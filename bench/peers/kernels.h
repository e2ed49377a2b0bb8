// The vectorised peers' kernels: plain data in, one table of functions for every ISA out.
#pragma once

#include "posenc/isa.h"
#include "posenc/simd/kernels.h"
#include "posenc/simd/row_task.h"

#include <cstdint>

namespace posenc::peers {

using simd::Columns;
using simd::padding;

/// T is the type of the phases.
template <class T>
struct SincosTables {
  std::int64_t frequencies;
  Columns columns;
  const T* radians;  ///< a position, padded with zeros to a multiple of `padding`
};

template <class T>
using SincosKernel = void (*)(const SincosTables<T>&, const RowTask&);

/// A state is a sine for each frequency, then a cosine for each, both padded as above.
struct DriftTables {
  std::int64_t frequencies;
  std::int64_t padded;
  Columns columns;
  const float* step;  ///< the state of position 1
};

/// Writes the task's rows, the first of which is `skipped` rotations after the state.
using DriftKernel = void (*)(const DriftTables&, const float* state, std::int64_t skipped,
                             const RowTask&);

/// Null if the library was not found.
struct Kernels {
  Isa isa;
  SincosKernel<float> sleef_u10 = nullptr;
  SincosKernel<float> sleef_deterministic = nullptr;
  SincosKernel<float> sleef_u35 = nullptr;
  SincosKernel<double> sleef_f64 = nullptr;
  SincosKernel<float> libmvec_f32 = nullptr;
  SincosKernel<double> libmvec_f64 = nullptr;
  SincosKernel<float> eigen = nullptr;
  DriftKernel drift;
};

extern const Kernels kernels_sse2;
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;

}  // namespace posenc::peers
