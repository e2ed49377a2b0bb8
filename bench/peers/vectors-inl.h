// What the kernels of one ISA share: vectors of the compiler's own kind, and rows written from
// sines and cosines. For ISA files only.
#pragma once

#include "kernels.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace posenc::peers {
namespace {

constexpr std::int64_t lanes = POSENC_PEER_FLOATS;  // of a float32 vector

typedef float F32 __attribute__((vector_size(lanes * sizeof(float))));
typedef float HalfFloats __attribute__((vector_size(lanes / 2 * sizeof(float))));
typedef double F64 __attribute__((vector_size(lanes / 2 * sizeof(double))));

struct SineAndCosine {
  F32 sine;
  F32 cosine;
};

template <class Vector, class T>
inline Vector load(const T* from) noexcept {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Vector>
inline void store(float* to, Vector vector) noexcept {
  std::memcpy(to, &vector, sizeof vector);
}

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

/// Both halves rounded once.
inline F32 rounded(F64 low, F64 high) noexcept {
  const HalfFloats halves[2] = {__builtin_convertvector(low, HalfFloats),
                                __builtin_convertvector(high, HalfFloats)};
  F32 both;
  std::memcpy(&both, halves, sizeof both);
  return both;
}

inline void store_columns(float* row, const Columns& columns, std::int64_t k,
                          SineAndCosine values) noexcept {
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
inline void store_tail(float* row, const Columns& columns, std::int64_t k, std::int64_t count,
                       SineAndCosine values) noexcept {
  float sines[lanes], cosines[lanes];
  store(sines, values.sine);
  store(cosines, values.cosine);
  const std::int64_t step = columns.interleaved ? 2 : 1;
  for (std::int64_t lane = 0; lane < count; ++lane) {
    row[columns.sine + (k + lane) * step] = sines[lane];
    row[columns.cosine + (k + lane) * step] = cosines[lane];
  }
}

/// Calls sincos(radians, position) for the sines and cosines of `lanes` frequencies at a time.
template <class T, SineAndCosine (*sincos)(const T*, T)>
void write_rows(const SincosTables<T>& tables, const RowTask& task) {
  for (std::int64_t r = 0; r < task.count; ++r) {
    float* const row = static_cast<float*>(task.out) + r * task.stride;
    const T position = static_cast<T>(task.first + r);
    std::int64_t k = 0;
    for (; k + lanes <= tables.frequencies; k += lanes)
      store_columns(row, tables.columns, k, sincos(tables.radians + k, position));
    if (k < tables.frequencies) {
      store_tail(row, tables.columns, k, tables.frequencies - k,
                 sincos(tables.radians + k, position));
    }
  }
}

/// From sines and cosines of half as many doubles.
template <class Math>
inline SineAndCosine from_doubles(const double* radians, double position) noexcept {
  const auto low = Math::sincos(load<F64>(radians) * position);
  const auto high = Math::sincos(load<F64>(radians + lanes / 2) * position);
  return {rounded(low.sine, high.sine), rounded(low.cosine, high.cosine)};
}

}  // namespace
}  // namespace posenc::peers
