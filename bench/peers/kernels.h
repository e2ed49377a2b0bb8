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

/// A library's sines and cosines. One of the kernels is null.
struct LibraryKernel {
  const char* name;  ///< null: the end of a list
  const char* description;
  double ulps;  ///< documented error, of a value below 1
  SincosKernel<float> of_floats;
  SincosKernel<double> of_doubles;
};

struct Kernels {
  Isa isa;
  const LibraryKernel* libraries;  ///< those that were found
};

extern const Kernels kernels_sse2, kernels_avx2, kernels_avx512;

}  // namespace posenc::peers
