// One float32 rotation for each position, never re-anchored. For ISA files only.
#pragma once

#include "vectors-inl.h"

#include <cstdint>

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

namespace posenc::peers {
namespace {

/// a * b + c, fused if the ISA has fused operations. Writing and skipping rows use the same one, so
/// that a row has the same bits whether those before it are written or skipped.
inline F32 multiply_add(F32 a, F32 b, F32 c) noexcept {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

inline SineAndCosine rotated(SineAndCosine at, SineAndCosine by) noexcept {
  return {multiply_add(at.sine, by.cosine, at.cosine * by.sine),
          multiply_add(-at.sine, by.sine, at.cosine * by.cosine)};
}

/// Several vectors of frequencies stay in registers from row to row.
template <int vectors>
struct Drift {
  SineAndCosine at[vectors];
  SineAndCosine by[vectors];

  Drift(const DriftTables& tables, const float* sine, const float* cosine,
        std::int64_t k) noexcept {
    for (int v = 0; v < vectors; ++v) {
      const std::int64_t from = k + v * lanes;
      at[v] = {load<F32>(sine + from), load<F32>(cosine + from)};
      by[v] = {load<F32>(tables.sin_step + from), load<F32>(tables.cos_step + from)};
    }
  }

  void rotate() noexcept {
    for (int v = 0; v < vectors; ++v) at[v] = rotated(at[v], by[v]);
  }
};

void drift(const DriftTables& tables, std::int64_t rows, float* sine, float* cosine) {
  for (std::int64_t k = 0; k < tables.frequencies; k += lanes) {
    Drift<1> state(tables, sine, cosine, k);
    for (std::int64_t r = 0; r < rows; ++r) state.rotate();
    store(sine + k, state.at[0].sine);
    store(cosine + k, state.at[0].cosine);
  }
}

template <int vectors, bool is_tail>
void drift_columns(const DriftTables& tables, std::int64_t skipped, const float* sine,
                   const float* cosine, const RowTask& task, std::int64_t k) {
  Drift<vectors> state(tables, sine, cosine, k);
  for (std::int64_t r = 0; r < skipped; ++r) state.rotate();
  for (std::int64_t r = 0; r < task.count; ++r) {
    float* const row = static_cast<float*>(task.out) + r * task.stride;
    for (int v = 0; v < vectors; ++v) {
      if constexpr (is_tail) {
        store_tail(row, tables.columns, k, tables.frequencies - k, state.at[v]);
      } else {
        store_columns(row, tables.columns, k + v * lanes, state.at[v]);
      }
    }
    state.rotate();
  }
}

void drift_rows(const DriftTables& tables, std::int64_t skipped, const float* sine,
                const float* cosine, const RowTask& task) {
  constexpr int vectors = 4;
  std::int64_t k = 0;
  for (; k + vectors * lanes <= tables.frequencies; k += vectors * lanes) {
    drift_columns<vectors, false>(tables, skipped, sine, cosine, task, k);
  }
  for (; k + lanes <= tables.frequencies; k += lanes) {
    drift_columns<1, false>(tables, skipped, sine, cosine, task, k);
  }
  if (k < tables.frequencies) drift_columns<1, true>(tables, skipped, sine, cosine, task, k);
}

}  // namespace
}  // namespace posenc::peers
