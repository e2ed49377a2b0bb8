#include "posenc/suite/memory_loops.h"

#include "posenc/cpu.h"

#include <cstddef>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace posenc::suite {
inline namespace internals {
namespace {

constexpr float stored_value = 0.84147098f;

// Bytes of one unrolled step. A step has enough stores to hide the instructions of the loop itself.
constexpr std::int64_t step = 512;

/// Writes whole steps, and returns the number of bytes written.
using StoreSteps = std::int64_t (*)(float* destination, std::int64_t bytes) noexcept;

struct StoreLoops {
  StoreSteps plain;
  StoreSteps non_temporal;
};

#if defined(__x86_64__)

// The empty asm hides the value from the optimiser, so that no loop becomes a memset.
#define POSENC_STORE_STEPS(NAME, TARGET, VECTOR, SET, STORE)                                   \
  [[gnu::target(TARGET)]] std::int64_t NAME(float* to, std::int64_t bytes) noexcept {          \
    VECTOR value = SET(stored_value);                                                          \
    asm("" : "+x"(value));                                                                     \
    constexpr auto lanes = static_cast<std::int64_t>(sizeof(VECTOR) / sizeof(float));          \
    std::int64_t done = 0;                                                                     \
    for (; bytes - done >= step; done += step, to += step / 4) {                               \
      _Pragma("GCC unroll 32") for (int i = 0; i < step / 4; i += lanes) STORE(to + i, value); \
    }                                                                                          \
    return done;                                                                               \
  }
POSENC_STORE_STEPS(store_sse2, "sse2", __m128, _mm_set1_ps, _mm_store_ps)
POSENC_STORE_STEPS(store_avx2, "avx2", __m256, _mm256_set1_ps, _mm256_store_ps)
POSENC_STORE_STEPS(store_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_store_ps)
POSENC_STORE_STEPS(non_temporal_sse2, "sse2", __m128, _mm_set1_ps, _mm_stream_ps)
POSENC_STORE_STEPS(non_temporal_avx2, "avx2", __m256, _mm256_set1_ps, _mm256_stream_ps)
POSENC_STORE_STEPS(non_temporal_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_stream_ps)
#undef POSENC_STORE_STEPS

StoreLoops best_stores() noexcept {
  if (cpu_has(Isa::avx512)) return {store_avx512, non_temporal_avx512};
  if (cpu_has(Isa::avx2)) return {store_avx2, non_temporal_avx2};
  return {store_sse2, non_temporal_sse2};
}

#else

using Vector [[gnu::vector_size(16)]] = float;

std::int64_t store_vectors(float* destination, std::int64_t bytes) noexcept {
  Vector value = Vector{} + stored_value;
#if defined(__aarch64__)
  asm("" : "+w"(value));  // Hides the value from the optimiser, so that this is no memset.
#endif
  auto* to = reinterpret_cast<Vector*>(destination);
  std::int64_t done = 0;
  for (; bytes - done >= step; done += step, to += step / 16) {
#pragma GCC unroll 32
    for (int i = 0; i < step / 16; ++i) to[i] = value;
  }
  return done;
}

/// There are no portable non-temporal stores, so both limits use the same loop.
StoreLoops best_stores() noexcept { return {store_vectors, store_vectors}; }

#endif

/// Writes all bytes: whole steps by the loop, and the shorter rest by memcpy().
void store_all(StoreSteps StoreLoops::*steps, void* destination, std::int64_t bytes) noexcept {
  static const StoreLoops best = best_stores();
  static const auto& rest = *new std::vector<float>(step / sizeof(float), stored_value);
  const std::int64_t done = (best.*steps)(static_cast<float*>(destination), bytes);
  std::memcpy(static_cast<char*>(destination) + done, rest.data(),
              static_cast<std::size_t>(bytes - done));
}

}  // namespace

void store_loop(void* destination, std::int64_t bytes) noexcept {
  store_all(&StoreLoops::plain, destination, bytes);
}

void non_temporal_store_loop(void* destination, std::int64_t bytes) noexcept {
  store_all(&StoreLoops::non_temporal, destination, bytes);
#if defined(__x86_64__)
  _mm_sfence();  // Non-temporal stores are not ordered with others, and complete only after it.
#endif
}

}  // namespace internals
}  // namespace posenc::suite
