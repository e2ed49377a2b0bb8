// The few moves between vector shapes that xsimd has no name for, and short names for the vectors of this ISA.
#pragma once

namespace posenc::simd {
namespace {

using Arch = POSENC_ARCH;
using Doubles = xsimd::batch<double, Arch>;
using Floats = xsimd::batch<float, Arch>;
using Words = xsimd::batch<std::int32_t, Arch>;
using UnsignedWords = xsimd::batch<std::uint32_t, Arch>;

constexpr std::int64_t double_lanes = static_cast<std::int64_t>(Doubles::size);
constexpr std::int64_t float_lanes = static_cast<std::int64_t>(Floats::size);

inline Doubles load(const double* from) { return Doubles::load_unaligned(from); }
inline Floats load(const float* from) { return Floats::load_unaligned(from); }

// narrow:    two vectors of doubles rounded to one of floats, in order.
// low_words: the low 32 bits of two vectors of doubles, in order.
// interleave: a0 b0 a1 b1 ... in two vectors.
// fused, fused_minus: a b + c and a b - c, rounded once where the ISA can (SSE2 cannot, and xsimd 8 does not on AVX-512).
template <class Batch>
struct Interleaved {
  Batch first;
  Batch second;
};

#if defined(__AVX512F__)

inline Floats narrow(Doubles a, Doubles b) {
  return Floats(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1));
}
inline Words low_words(Doubles a, Doubles b) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return Words(_mm512_permutex2var_epi32(_mm512_castpd_si512(a), even, _mm512_castpd_si512(b)));
}
inline Interleaved<Floats> interleave(Floats a, Floats b) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  return {Floats(_mm512_permutex2var_ps(a, low, b)), Floats(_mm512_permutex2var_ps(a, high, b))};
}

inline Interleaved<Doubles> interleave(Doubles a, Doubles b) {
  const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
  const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  return {Doubles(_mm512_permutex2var_pd(a, low, b)), Doubles(_mm512_permutex2var_pd(a, high, b))};
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return Doubles(_mm512_fmadd_pd(a, b, c)); }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return Doubles(_mm512_fmsub_pd(a, b, c)); }
inline Floats fused(Floats a, Floats b, Floats c) { return Floats(_mm512_fmadd_ps(a, b, c)); }

#elif defined(__AVX2__)

inline Floats narrow(Doubles a, Doubles b) { return Floats(_mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a))); }
inline Words low_words(Doubles a, Doubles b) {
  const __m256 even = _mm256_shuffle_ps(_mm256_castpd_ps(a), _mm256_castpd_ps(b), _MM_SHUFFLE(2, 0, 2, 0));
  return Words(_mm256_permute4x64_epi64(_mm256_castps_si256(even), _MM_SHUFFLE(3, 1, 2, 0)));
}
inline Interleaved<Floats> interleave(Floats a, Floats b) {
  const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
  return {Floats(_mm256_permute2f128_ps(low, high, 0x20)), Floats(_mm256_permute2f128_ps(low, high, 0x31))};
}

inline Interleaved<Doubles> interleave(Doubles a, Doubles b) {
  const __m256d low = _mm256_unpacklo_pd(a, b), high = _mm256_unpackhi_pd(a, b);
  return {Doubles(_mm256_permute2f128_pd(low, high, 0x20)), Doubles(_mm256_permute2f128_pd(low, high, 0x31))};
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return Doubles(_mm256_fmadd_pd(a, b, c)); }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return Doubles(_mm256_fmsub_pd(a, b, c)); }
inline Floats fused(Floats a, Floats b, Floats c) { return Floats(_mm256_fmadd_ps(a, b, c)); }

#elif defined(__SSE2__)

inline Floats narrow(Doubles a, Doubles b) { return Floats(_mm_movelh_ps(_mm_cvtpd_ps(a), _mm_cvtpd_ps(b))); }
inline Words low_words(Doubles a, Doubles b) {
  return Words(_mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(a), _mm_castpd_ps(b), _MM_SHUFFLE(2, 0, 2, 0))));
}
inline Interleaved<Floats> interleave(Floats a, Floats b) {
  return {Floats(_mm_unpacklo_ps(a, b)), Floats(_mm_unpackhi_ps(a, b))};
}

inline Interleaved<Doubles> interleave(Doubles a, Doubles b) {
  return {Doubles(_mm_unpacklo_pd(a, b)), Doubles(_mm_unpackhi_pd(a, b))};
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return a * b + c; }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return a * b - c; }

#elif defined(__aarch64__)

inline Floats narrow(Doubles a, Doubles b) { return Floats(vcvt_high_f32_f64(vcvt_f32_f64(a), b)); }
inline Words low_words(Doubles a, Doubles b) {
  return Words(vuzp1q_s32(vreinterpretq_s32_f64(a), vreinterpretq_s32_f64(b)));
}
inline Interleaved<Floats> interleave(Floats a, Floats b) {
  return {Floats(vzip1q_f32(a, b)), Floats(vzip2q_f32(a, b))};
}

inline Interleaved<Doubles> interleave(Doubles a, Doubles b) {
  return {Doubles(vzip1q_f64(a, b)), Doubles(vzip2q_f64(a, b))};
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return Doubles(vfmaq_f64(c, a, b)); }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return Doubles(vfmaq_f64(vnegq_f64(c), a, b)); }
inline Floats fused(Floats a, Floats b, Floats c) { return Floats(vfmaq_f32(c, a, b)); }

#endif

}  // namespace
}  // namespace posenc::simd
