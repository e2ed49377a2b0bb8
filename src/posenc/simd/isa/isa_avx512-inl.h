// The ISA avx512: AVX-512 (F, CD, DQ, BW).
#pragma once

#define POSENC_ISA avx512
#define POSENC_ARCH xsimd::avx512bw
#define POSENC_OWN_DUPLICATES
#define POSENC_OWN_SELECTION
#include "posenc/simd/isa/isa-inl.h"

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = true;

// From the shuffle, GCC makes vpermilps, with which Zen 4 takes up to 1.15 times as long.
inline F32 even_lanes(F32 a) { return F32(_mm512_moveldup_ps(a)); }
inline F32 odd_lanes(F32 a) { return F32(_mm512_movehdup_ps(a)); }
/// Bits of `set` where the mask is 1, and of `clear` where it is 0. The instruction overwrites its
/// first operand. `set` is not used again, but the mask would have to be copied.
inline __m512i select_bits(int mask, __m512i set, __m512i clear) {
  return _mm512_ternarylogic_epi32(set, _mm512_set1_epi32(mask), clear, 0xe2);
}
// GCC merges an AND and an OR of integers by itself, but not of floats.
inline F32 with_sign_of(F32 magnitude, F32 signs) {
  return F32(_mm512_castsi512_ps(
      select_bits(0x7fffffff, _mm512_castps_si512(magnitude), _mm512_castps_si512(signs))));
}
inline F32 narrow(F64 a, F64 b) {
  return F32(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1));
}
inline F32 pack(I32 a, I32 b) {
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return F32(_mm512_castsi512_ps(_mm512_permutexvar_epi64(order, _mm512_packs_epi32(a, b))));
}
inline __m256i nearest_float16(F32 a) {
  return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline F32 pack_float16(F32 a, F32 b) {
  return F32(_mm512_castsi512_ps(
      _mm512_inserti64x4(_mm512_castsi256_si512(nearest_float16(a)), nearest_float16(b), 1)));
}
inline F32 widened_float16(const void* from) {
  return F32(_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(from))));
}
inline bool has_nan(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) != 0; }
inline F32 pack_upper_halves(I32 a, I32 b) {
  return F32(_mm512_castsi512_ps(_mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(a, 16), b)));
}
inline F32 pack_truncated_float16(F32 a, F32 b) {
  // The lowest four bits of the exponent are the exponent of float16, whose fifth bit is 0.
  const __m512i first = _mm512_castps_si512(a), second = _mm512_castps_si512(b);
  const __m512i magnitude =
      select_bits(0xffff, _mm512_srli_epi32(first, 13), _mm512_slli_epi32(second, 3));
  const __m512i sign = select_bits(0xffff, _mm512_srli_epi32(first, 16), second);
  return F32(_mm512_castsi512_ps(select_bits(0x3fff3fff, magnitude, sign)));
}
inline bool any_bits(I32 a, I32 mask) { return _mm512_test_epi32_mask(a, mask) != 0; }
inline std::uint32_t nonzero_lanes(I32 a) { return _mm512_test_epi32_mask(a, a); }
inline F64 fused(F64 a, F64 b, F64 c) { return F64(_mm512_fmadd_pd(a, b, c)); }
inline F64 fused_minus(F64 a, F64 b, F64 c) { return F64(_mm512_fmsub_pd(a, b, c)); }
inline F32 fused(F32 a, F32 b, F32 c) { return F32(_mm512_fmadd_ps(a, b, c)); }
inline F32 fused_minus(F32 a, F32 b, F32 c) { return F32(_mm512_fmsub_ps(a, b, c)); }
inline F32 clamp_to_one(F32 a) {
  constexpr int smaller_magnitude = 2;  // smaller magnitude, sign of the first operand
  return F32(_mm512_range_ps(a, _mm512_set1_ps(1.0f), smaller_magnitude));
}
inline I32 magnitude(I32 a) { return I32(_mm512_abs_epi32(a)); }
inline void fence() noexcept { _mm_sfence(); }
inline void store_non_temporal(F32 from, float* to) { _mm512_stream_ps(to, from); }
inline F32 consecutive_lanes(F32 a, F32 b, std::int64_t first) {
  alignas(64) static constexpr std::int32_t places[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                        11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                        22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  return F32(_mm512_permutex2var_ps(a, _mm512_loadu_si512(places + first), b));
}
inline void store_lanes(F32 from, float* to, std::int64_t begin, std::int64_t end) {
  const unsigned below_end = end < 16 ? (1u << end) - 1 : 0xffff;
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(below_end & ~0u << begin), from);
}

inline U64 multiply_low_halves(U64 a, U64 b) { return U64(_mm512_mul_epu32(a, b)); }

}  // namespace
}  // namespace posenc::simd
