// The libraries that were found, at one ISA. Included once by each ISA file, which says what they
// call its functions.
#pragma once

#include "kernels.h"

#ifdef POSENC_PEER_SLEEF
#include <sleef.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace posenc::peers {
namespace {

constexpr std::int64_t lanes = POSENC_PEER_LANES;  // of a float32 vector

typedef float F32 __attribute__((vector_size(lanes * sizeof(float))));
typedef float HalfFloats __attribute__((vector_size(lanes / 2 * sizeof(float))));
typedef double F64 __attribute__((vector_size(lanes / 2 * sizeof(double))));

template <class Vector>
struct Both {
  Vector sine;
  Vector cosine;
};

template <class Vector, class T>
inline Vector load(const T* from) noexcept {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

inline void store(float* to, F32 vector) noexcept { std::memcpy(to, &vector, sizeof vector); }

/// Lanes first, first + 1, ... of a and b in turns.
template <int first, std::size_t... lane>
inline F32 interleaved(F32 a, F32 b, std::index_sequence<lane...>) noexcept {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(
      a, b, (first + static_cast<int>(lane) / 2 + (lane % 2 == 0 ? 0 : int{lanes}))...);
#else
  typedef int Indices __attribute__((vector_size(lanes * sizeof(int))));
  return __builtin_shuffle(
      a, b, Indices{(first + static_cast<int>(lane) / 2 + (lane % 2 == 0 ? 0 : int{lanes}))...});
#endif
}

/// Writes the values of frequencies k, k + 1, ... to a row.
inline void store_columns(float* row, const Columns& columns, std::int64_t k,
                          Both<F32> values) noexcept {
  if (columns.interleaved) {
    constexpr std::make_index_sequence<lanes> all;
    store(row + 2 * k, interleaved<0>(values.sine, values.cosine, all));
    store(row + 2 * k + lanes, interleaved<lanes / 2>(values.sine, values.cosine, all));
  } else {
    store(row + columns.sine + k, values.sine);
    store(row + columns.cosine + k, values.cosine);
  }
}

/// The last vector of a row: only the columns that it has. (A lane with a variable index would keep
/// the vector in memory.)
inline void store_tail(float* row, const Columns& columns, std::int64_t k, std::int64_t frequencies,
                       Both<F32> values) noexcept {
  float sines[lanes], cosines[lanes];
  store(sines, values.sine);
  store(cosines, values.cosine);
  const std::int64_t step = columns.interleaved ? 2 : 1;
  for (std::int64_t lane = 0; k + lane < frequencies; ++lane) {
    row[columns.sine + (k + lane) * step] = sines[lane];
    row[columns.cosine + (k + lane) * step] = cosines[lane];
  }
}

/// Both halves rounded once.
inline F32 rounded(F64 low, F64 high) noexcept {
  const HalfFloats halves[2] = {__builtin_convertvector(low, HalfFloats),
                                __builtin_convertvector(high, HalfFloats)};
  return load<F32>(halves);
}

/// Of `lanes` frequencies, in vectors of float32 or in two of double.
template <auto sincos, class T>
inline Both<F32> values_at(const T* radians, T position) {
  if constexpr (std::is_same_v<T, float>) {
    return sincos(load<F32>(radians) * position);
  } else {
    const Both<F64> low = sincos(load<F64>(radians) * position);
    const Both<F64> high = sincos(load<F64>(radians + lanes / 2) * position);
    return {rounded(low.sine, high.sine), rounded(low.cosine, high.cosine)};
  }
}

template <auto sincos, class T>
void write_rows(const SincosTables<T>& tables, const RowTask& task) {
  for (std::int64_t r = 0; r < task.count; ++r) {
    float* const row = static_cast<float*>(task.out) + r * task.stride;
    const T position = static_cast<T>(task.first + r);
    std::int64_t k = 0;
    for (; k + lanes <= tables.frequencies; k += lanes)
      store_columns(row, tables.columns, k, values_at<sincos>(tables.radians + k, position));
    if (k < tables.frequencies) {
      store_tail(row, tables.columns, k, tables.frequencies,
                 values_at<sincos>(tables.radians + k, position));
    }
  }
}

#ifdef POSENC_PEER_SLEEF
template <auto function, class Vector>
inline Both<Vector> sleef(Vector phases) {
  const auto both = function(phases);
  return {both.x, both.y};
}
#endif

#ifdef POSENC_PEER_LIBMVEC
// By the names of the x86 vector ABI. A compiler calls these by itself only under -ffast-math. sin
// and cos are called apart: the vector ABI's sincos scatters its results through a pointer a lane.
extern "C" F32 POSENC_PEER_LIBMVEC_FLOAT(sinf)(F32);
extern "C" F32 POSENC_PEER_LIBMVEC_FLOAT(cosf)(F32);
extern "C" F64 POSENC_PEER_LIBMVEC_DOUBLE(sin)(F64);
extern "C" F64 POSENC_PEER_LIBMVEC_DOUBLE(cos)(F64);

inline Both<F32> libmvec_float(F32 phases) {
  return {POSENC_PEER_LIBMVEC_FLOAT(sinf)(phases), POSENC_PEER_LIBMVEC_FLOAT(cosf)(phases)};
}
inline Both<F64> libmvec_double(F64 phases) {
  return {POSENC_PEER_LIBMVEC_DOUBLE(sin)(phases), POSENC_PEER_LIBMVEC_DOUBLE(cos)(phases)};
}
#endif

constexpr LibraryKernel libraries[] = {
#ifdef POSENC_PEER_SLEEF
    {"sleef_u10", "SLEEF's sincos within 1.0 ulp, float32 phases", 1.0,
     write_rows<sleef<POSENC_PEER_SLEEF_FLOAT(_u10), F32>, float>, nullptr},
    {"sleef_u35", "SLEEF's sincos within 3.5 ulp, float32 phases", 3.5,
     write_rows<sleef<POSENC_PEER_SLEEF_FLOAT(_u35), F32>, float>, nullptr},
    {"sleef_f64", "SLEEF's sincos within 3.5 ulp, double phases, rounded once", 3.5, nullptr,
     write_rows<sleef<POSENC_PEER_SLEEF_DOUBLE, F64>, double>},
#endif
#ifdef POSENC_PEER_LIBMVEC
    {"libmvec_f32", "glibc's vectorised sinf and cosf, float32 phases", 4.0,
     write_rows<libmvec_float, float>, nullptr},
    {"libmvec_f64", "glibc's vectorised sin and cos, double phases, rounded once", 4.0, nullptr,
     write_rows<libmvec_double, double>},
#endif
    {}};

}  // namespace

const Kernels POSENC_PEER_KERNELS = {Isa::POSENC_PEER_ISA, libraries};

}  // namespace posenc::peers
