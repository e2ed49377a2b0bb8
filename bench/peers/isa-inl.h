// The libraries that were found, at one ISA. Each ISA file includes the ISA's vectors, defines the
// names of the libraries' functions, and then includes this file once.
#pragma once

#include "kernels.h"

#ifdef POSENC_PEER_SLEEF
#include <sleef.h>
#endif

namespace posenc::peers {
namespace {

using namespace simd;

/// Writes sines and cosines to the columns of the frequencies k, k + 1, ...
inline void store(const Both<F32>& values, const Columns& columns, std::int64_t k, float* row) {
  if (columns.interleaved) {
    const Both<F32> pairs = interleave(values.first, values.second);
    pairs.first.store_unaligned(row + 2 * k);
    pairs.second.store_unaligned(row + 2 * k + float_lanes);
  } else {
    values.first.store_unaligned(row + columns.sine + k);
    values.second.store_unaligned(row + columns.cosine + k);
  }
}

/// The sines, then the cosines of float_lanes frequencies. They are computed in vectors of float32,
/// or in two vectors of double, which are rounded once.
template <auto sincos, class T>
inline Both<F32> values_at(const T* radians, T position) {
  if constexpr (std::is_same_v<T, float>) {
    return sincos(load(radians) * F32(position));
  } else {
    const Both<F64> low = sincos(load(radians) * F64(position));
    const Both<F64> high = sincos(load(radians + double_lanes) * F64(position));
    return {narrow(low.first, high.first), narrow(low.second, high.second)};
  }
}

template <auto sincos, class T>
void write_rows(const Tables& tables, const RowTask& task) {
  const T* const radians = static_cast<const T*>(tables.radians);
  const Columns& columns = tables.columns;
  for (std::int64_t r = 0; r < task.count; ++r) {
    auto* const row = task.row<float>(r);
    const T position = static_cast<T>(task.first + r);
    std::int64_t k = 0;
    for (; k + float_lanes <= tables.frequencies; k += float_lanes)
      store(values_at<sincos>(radians + k, position), columns, k, row);
    const std::int64_t left = tables.frequencies - k;
    if (left == 0) continue;
    float part[2 * float_lanes];
    store(values_at<sincos>(radians + k, position), {columns.interleaved, 0, float_lanes}, 0, part);
    if (columns.interleaved) {
      copy(part, 2 * left, row + 2 * k);
    } else {
      copy(part, left, row + columns.sine + k);
      copy(part + float_lanes, left, row + columns.cosine + k);
    }
  }
}

#ifdef POSENC_PEER_SLEEF
template <auto function, class Vector>
inline Both<Vector> sleef(Vector phases) {
  const auto both = function(phases);
  return {Vector(both.x), Vector(both.y)};
}
#endif

#ifdef POSENC_PEER_LIBMVEC
// These are names of the x86 vector ABI. A compiler calls the functions by itself only under
// -ffast-math. sin and cos are called separately, because sincos of the vector ABI scatters its
// results through one pointer per lane.
extern "C" F32::register_type POSENC_PEER_LIBMVEC_FLOAT(sinf)(F32::register_type);
extern "C" F32::register_type POSENC_PEER_LIBMVEC_FLOAT(cosf)(F32::register_type);
extern "C" F64::register_type POSENC_PEER_LIBMVEC_DOUBLE(sin)(F64::register_type);
extern "C" F64::register_type POSENC_PEER_LIBMVEC_DOUBLE(cos)(F64::register_type);

inline Both<F32> libmvec_float(F32 phases) {
  return {F32(POSENC_PEER_LIBMVEC_FLOAT(sinf)(phases)),
          F32(POSENC_PEER_LIBMVEC_FLOAT(cosf)(phases))};
}
inline Both<F64> libmvec_double(F64 phases) {
  return {F64(POSENC_PEER_LIBMVEC_DOUBLE(sin)(phases)),
          F64(POSENC_PEER_LIBMVEC_DOUBLE(cos)(phases))};
}
#endif

}  // namespace

const LibraryKernel POSENC_JOIN(POSENC_ISA, _libraries)[] = {
#ifdef POSENC_PEER_SLEEF
    {"sleef_u10", "SLEEF's sincos within 1.0 ulp, float32 phases", 1.0, "float32",
     write_rows<sleef<POSENC_PEER_SLEEF_FLOAT(_u10), F32>, float>},
    {"sleef_u35", "SLEEF's sincos within 3.5 ulp, float32 phases", 3.5, "float32",
     write_rows<sleef<POSENC_PEER_SLEEF_FLOAT(_u35), F32>, float>},
    {"sleef_f64", "SLEEF's sincos within 3.5 ulp, double phases, rounded once", 3.5, "double",
     write_rows<sleef<POSENC_PEER_SLEEF_DOUBLE, F64>, double>},
#endif
#ifdef POSENC_PEER_LIBMVEC
    {"libmvec_f32", "glibc's vectorised sinf and cosf, float32 phases", 4.0, "float32",
     write_rows<libmvec_float, float>},
    {"libmvec_f64", "glibc's vectorised sin and cos, double phases, rounded once", 4.0, "double",
     write_rows<libmvec_double, double>},
#endif
    {}};

}  // namespace posenc::peers
