// The ISA avx2: AVX2 with FMA and F16C.
#pragma once

#define POSENC_ISA avx2
#define POSENC_ARCH xsimd::fma3<xsimd::avx2>
#define POSENC_OWN_DUPLICATES
#include "posenc/simd/isa/isa-inl.h"

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = true;

// From the shuffle, GCC makes vpermilps, with which Zen 4 takes up to 1.15 times as long.
inline F32 even_lanes(F32 a) { return F32(_mm256_moveldup_ps(a)); }
inline F32 odd_lanes(F32 a) { return F32(_mm256_movehdup_ps(a)); }
inline F32 narrow(F64 a, F64 b) {
  return F32(_mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a)));
}
inline F32 pack(I32 a, I32 b) {
  return F32(_mm256_castsi256_ps(
      _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), _MM_SHUFFLE(3, 1, 2, 0))));
}
inline __m128i nearest_float16(F32 a) { return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT); }
inline F32 pack_float16(F32 a, F32 b) {
  return F32(_mm256_castsi256_ps(_mm256_set_m128i(nearest_float16(b), nearest_float16(a))));
}
inline F32 widened_float16(const void* from) {
  return F32(_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from))));
}
inline bool has_nan(F32 a, F32 b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0;
}
inline F32 pack_upper_halves(I32 a, I32 b) {
  return F32(_mm256_castsi256_ps(_mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa)));
}
inline F32 pack_truncated_float16(F32 a, F32 b) {
  constexpr int down = _MM_FROUND_TO_ZERO;
  const __m128i first = _mm256_cvtps_ph(a, down), second = _mm256_cvtps_ph(b, down);
  return F32(_mm256_castsi256_ps(
      _mm256_set_m128i(_mm_unpackhi_epi16(first, second), _mm_unpacklo_epi16(first, second))));
}
inline bool any_bits(I32 a, I32 mask) { return _mm256_testz_si256(a, mask) == 0; }
inline std::uint32_t nonzero_lanes(I32 a) {
  const __m256i is_zero = _mm256_cmpeq_epi32(a, _mm256_setzero_si256());
  return static_cast<std::uint32_t>(~_mm256_movemask_ps(_mm256_castsi256_ps(is_zero))) & 0xff;
}
inline F64 fused(F64 a, F64 b, F64 c) { return F64(_mm256_fmadd_pd(a, b, c)); }
inline F64 fused_minus(F64 a, F64 b, F64 c) { return F64(_mm256_fmsub_pd(a, b, c)); }
inline F32 fused(F32 a, F32 b, F32 c) { return F32(_mm256_fmadd_ps(a, b, c)); }
inline F32 fused_minus(F32 a, F32 b, F32 c) { return F32(_mm256_fmsub_ps(a, b, c)); }
inline F32 clamp_to_one(F32 a) { return xsimd::min(xsimd::max(a, F32(-1.0f)), F32(1.0f)); }
inline I32 magnitude(I32 a) { return I32(_mm256_abs_epi32(a)); }
inline void fence() noexcept { _mm_sfence(); }
inline void store_non_temporal(F32 from, float* to) { _mm256_stream_ps(to, from); }

inline U64 multiply_low_halves(U64 a, U64 b) { return U64(_mm256_mul_epu32(a, b)); }

}  // namespace
}  // namespace posenc::simd
