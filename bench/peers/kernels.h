// The vectorised peers' kernels: plain data in, one table of functions for every ISA out.
#pragma once

#include "posenc/simd/kernels.h"

namespace posenc::peers {

struct Tables {
  std::int64_t frequencies;
  simd::Columns columns;
  const void* radians;  ///< per position, in the type of the phases; padded to simd::padding
};

/// A library's sines and cosines.
struct LibraryKernel {
  const char* name;  ///< null at the end of a list
  const char* description;
  double ulps;         ///< documented error of a value below 1, in ulp
  const char* phases;  ///< type of the phases: "float32" or "double"
  void (*write)(const Tables&, const simd::RowTask&);
};

/// The libraries that were found, for each ISA.
extern const LibraryKernel sse2_libraries[], avx2_libraries[], avx512_libraries[];

}  // namespace posenc::peers
