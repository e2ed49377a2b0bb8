// The ISA sse2: SSE2, the baseline of x86-64.
#pragma once

#define POSENC_ISA sse2
#define POSENC_UNFUSED
#define POSENC_ARCH xsimd::sse2
#include "posenc/simd/isa/isa-inl.h"

namespace posenc::simd {
namespace {

inline F32 narrow(F64 a, F64 b) { return F32(_mm_movelh_ps(_mm_cvtpd_ps(a), _mm_cvtpd_ps(b))); }
inline F32 pack(I32 a, I32 b) { return F32(_mm_castsi128_ps(_mm_packs_epi32(a, b))); }
inline bool any_bits(I32 a, I32 mask) {
  const __m128i is_zero = _mm_cmpeq_epi32(_mm_and_si128(a, mask), _mm_setzero_si128());
  return _mm_movemask_epi8(is_zero) != 0xffff;
}
inline std::uint32_t nonzero_lanes(I32 a) {
  const __m128i is_zero = _mm_cmpeq_epi32(a, _mm_setzero_si128());
  return static_cast<std::uint32_t>(~_mm_movemask_ps(_mm_castsi128_ps(is_zero))) & 0xf;
}
inline void fence() noexcept { _mm_sfence(); }
inline void store_non_temporal(F32 from, float* to) { _mm_stream_ps(to, from); }
inline U64 multiply_low_halves(U64 a, U64 b) { return U64(_mm_mul_epu32(a, b)); }

}  // namespace
}  // namespace posenc::simd
