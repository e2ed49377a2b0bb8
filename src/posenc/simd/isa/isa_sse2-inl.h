// The ISA sse2: SSE2, the baseline of x86-64.
#pragma once

#define POSENC_ISA sse2
#define POSENC_ARCH xsimd::sse2
#define POSENC_VECTORS "posenc/simd/isa/xsimd_vectors-inl.h"
#define POSENC_HAS_VECTOR_SINCOS
#include "posenc/simd/isa/isa-inl.h"

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = false;
constexpr bool has_word_minimum = false;

inline F32 narrow(F64 a, F64 b) { return F32(_mm_movelh_ps(_mm_cvtpd_ps(a), _mm_cvtpd_ps(b))); }
inline Both<F32> interleave(F32 a, F32 b) {
  return {F32(_mm_unpacklo_ps(a, b)), F32(_mm_unpackhi_ps(a, b))};
}
inline F32 even_lanes(F32 a) { return F32(_mm_shuffle_ps(a, a, _MM_SHUFFLE(2, 2, 0, 0))); }
inline F32 odd_lanes(F32 a) { return F32(_mm_shuffle_ps(a, a, _MM_SHUFFLE(3, 3, 1, 1))); }
inline F32 swap_neighbours(F32 a) { return F32(_mm_shuffle_ps(a, a, _MM_SHUFFLE(2, 3, 0, 1))); }
inline Both<F64> deinterleave(F64 a, F64 b) { return {a, b}; }
inline Both<F64> deinterleave_pairs(F64 a, F64 b) {
  return {F64(_mm_unpacklo_pd(a, b)), F64(_mm_unpackhi_pd(a, b))};
}
inline F32 low_halves(U64 a, U64 b) {
  return F32(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
inline F32 high_halves(U64 a, U64 b) {
  return F32(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _MM_SHUFFLE(3, 1, 3, 1)));
}
inline F32 high_halves_twice(U64 a) { return odd_lanes(F32(_mm_castsi128_ps(a))); }
inline F32 pack(I32 a, I32 b) { return F32(_mm_castsi128_ps(_mm_packs_epi32(a, b))); }
inline F32 pack_float16(F32 a, F32 b) { return pack(to_float16(a), to_float16(b)); }
inline F32 pack_upper_halves(I32 a, I32 b) {
  const __m128i low = _mm_srli_epi32(a, 16), high = _mm_and_si128(b, _mm_set1_epi32(-1 << 16));
  return F32(_mm_castsi128_ps(_mm_or_si128(low, high)));
}
inline F32 pack_truncated_float16(F32 a, F32 b) {
  const auto truncated = [](F32 x) {
    return to_float16(cast_bits<F32>(cast_bits<I32>(x) & I32(-1 << 13))) << 16;
  };
  return pack_upper_halves(truncated(a), truncated(b));
}
inline bool any_bits(I32 a, I32 mask) {
  const __m128i is_zero = _mm_cmpeq_epi32(_mm_and_si128(a, mask), _mm_setzero_si128());
  return _mm_movemask_epi8(is_zero) != 0xffff;
}
inline std::uint32_t nonzero_lanes(I32 a) {
  const __m128i is_zero = _mm_cmpeq_epi32(a, _mm_setzero_si128());
  return static_cast<std::uint32_t>(~_mm_movemask_ps(_mm_castsi128_ps(is_zero))) & 0xf;
}
inline F64 fused(F64 a, F64 b, F64 c) { return a * b + c; }
inline F64 fused_minus(F64 a, F64 b, F64 c) { return a * b - c; }
inline F32 fused(F32 a, F32 b, F32 c) { return a * b + c; }
inline F32 fused_minus(F32 a, F32 b, F32 c) { return a * b - c; }
inline F32 clamp_to_one(F32 a) { return xsimd::min(xsimd::max(a, F32(-1.0f)), F32(1.0f)); }
inline I32 magnitude(I32 a) { return (a ^ (a >> 31)) - (a >> 31); }
inline void fence() { _mm_sfence(); }
inline void store_non_temporal(F32 from, float* to) { _mm_stream_ps(to, from); }

inline U64 multiply_low_halves(U64 a, U64 b) { return U64(_mm_mul_epu32(a, b)); }

}  // namespace
}  // namespace posenc::simd
