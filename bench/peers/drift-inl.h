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

inline SineAndCosine load_state(const float* state, std::int64_t padded, std::int64_t k) noexcept {
  return {load<F32>(state + k), load<F32>(state + padded + k)};
}

inline SineAndCosine rotated(SineAndCosine at, SineAndCosine by) noexcept {
  return {multiply_add(at.sine, by.cosine, at.cosine * by.sine),
          multiply_add(-at.sine, by.sine, at.cosine * by.cosine)};
}

/// Several vectors of frequencies stay in registers from row to row.
template <int vectors, bool is_tail>
void drift_columns(const DriftTables& tables, const float* state, std::int64_t skipped,
                   const RowTask& task, std::int64_t k) {
  SineAndCosine at[vectors], by[vectors];
  for (int v = 0; v < vectors; ++v) {
    at[v] = load_state(state, tables.padded, k + v * lanes);
    by[v] = load_state(tables.step, tables.padded, k + v * lanes);
  }
  const auto rotate = [&] {
    for (int v = 0; v < vectors; ++v) at[v] = rotated(at[v], by[v]);
  };
  for (std::int64_t r = 0; r < skipped; ++r) rotate();
  for (std::int64_t r = 0; r < task.count; ++r) {
    float* const row = static_cast<float*>(task.out) + r * task.stride;
    for (int v = 0; v < vectors; ++v) {
      if constexpr (is_tail) {
        store_tail(row, tables.columns, k, tables.frequencies - k, at[v]);
      } else {
        store_columns(row, tables.columns, k + v * lanes, at[v]);
      }
    }
    rotate();
  }
}

void drift_rows(const DriftTables& tables, const float* state, std::int64_t skipped,
                const RowTask& task) {
  constexpr int vectors = 4;
  std::int64_t k = 0;
  for (; k + vectors * lanes <= tables.frequencies; k += vectors * lanes)
    drift_columns<vectors, false>(tables, state, skipped, task, k);
  for (; k + lanes <= tables.frequencies; k += lanes)
    drift_columns<1, false>(tables, state, skipped, task, k);
  if (k < tables.frequencies) drift_columns<1, true>(tables, state, skipped, task, k);
}

}  // namespace
}  // namespace posenc::peers
