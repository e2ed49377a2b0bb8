// The few moves between vector shapes that xsimd has no name for, and short names for the vectors of this ISA.
#pragma once

namespace posenc::simd {
namespace {

using Arch = POSENC_ARCH;
using Doubles = xsimd::batch<double, Arch>;
using Quads = xsimd::batch<std::uint64_t, Arch>;
using Floats = xsimd::batch<float, Arch>;
using Words = xsimd::batch<std::int32_t, Arch>;
using UnsignedWords = xsimd::batch<std::uint32_t, Arch>;

constexpr std::int64_t double_lanes = static_cast<std::int64_t>(Doubles::size);
constexpr std::int64_t float_lanes = static_cast<std::int64_t>(Floats::size);

inline Doubles load(const double* from) { return Doubles::load_unaligned(from); }
inline Floats load(const float* from) { return Floats::load_unaligned(from); }

template <class Batch>
struct Both {
  Batch first;
  Batch second;
};

// narrow        two vectors of doubles rounded to one of floats, in order
// interleave    a0 b0 a1 b1 ...
// fused, fused_minus   a b + c and a b - c, rounded once where the ISA can (SSE2 cannot, and xsimd 8 does not on AVX-512)
// stream        a store past the caches, to an address aligned to the vector; other threads see it after a fence
//
// Two vectors of doubles are the columns of one vector of floats. The rotation holds them dealt out: of each 128 bits of floats the first
// two columns stand in the first vector and the others in the second, so that their halves meet within 128 bits, which is cheap.
// deal          consecutive columns, dealt
// deal_pairs    a0 b0 a1 b1 ..., dealt
// low_words, high_words   the halves of dealt 64-bit lanes, in the order of the columns
// pack_float16  two vectors of floats as the nearest 16-bit ones, in order
// pack          the low 16 bits of two vectors of words (which are what int16 can hold), in order

#if defined(__AVX512F__)

inline Floats narrow(Doubles a, Doubles b) {
  return Floats(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1));
}
inline Both<Floats> interleave(Floats a, Floats b) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  return {Floats(_mm512_permutex2var_ps(a, low, b)), Floats(_mm512_permutex2var_ps(a, high, b))};
}
inline Both<Doubles> deal(Doubles a, Doubles b) {
  return {Doubles(_mm512_shuffle_f64x2(a, b, _MM_SHUFFLE(2, 0, 2, 0))),
          Doubles(_mm512_shuffle_f64x2(a, b, _MM_SHUFFLE(3, 1, 3, 1)))};
}
inline Both<Doubles> deal_pairs(Doubles a, Doubles b) {
  return {Doubles(_mm512_unpacklo_pd(a, b)), Doubles(_mm512_unpackhi_pd(a, b))};
}
inline Floats low_words(Quads a, Quads b) {
  return Floats(_mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
inline Floats high_words(Quads a, Quads b) {
  return Floats(_mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _MM_SHUFFLE(3, 1, 3, 1)));
}
inline Floats pack(Words a, Words b) {
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return Floats(_mm512_castsi512_ps(_mm512_permutexvar_epi64(order, _mm512_packs_epi32(a, b))));
}
inline Floats pack_float16(Floats a, Floats b) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return Floats(_mm512_castsi512_ps(
      _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(a, nearest)), _mm512_cvtps_ph(b, nearest), 1)));
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return Doubles(_mm512_fmadd_pd(a, b, c)); }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return Doubles(_mm512_fmsub_pd(a, b, c)); }
inline Floats fused(Floats a, Floats b, Floats c) { return Floats(_mm512_fmadd_ps(a, b, c)); }
inline void fence() { _mm_sfence(); }
inline void stream(Floats from, float* to) { _mm512_stream_ps(to, from); }

#elif defined(__AVX2__)

inline Floats narrow(Doubles a, Doubles b) { return Floats(_mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a))); }
inline Both<Floats> interleave(Floats a, Floats b) {
  const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
  return {Floats(_mm256_permute2f128_ps(low, high, 0x20)), Floats(_mm256_permute2f128_ps(low, high, 0x31))};
}
inline Both<Doubles> deal(Doubles a, Doubles b) {
  return {Doubles(_mm256_permute2f128_pd(a, b, 0x20)), Doubles(_mm256_permute2f128_pd(a, b, 0x31))};
}
inline Both<Doubles> deal_pairs(Doubles a, Doubles b) {
  return {Doubles(_mm256_unpacklo_pd(a, b)), Doubles(_mm256_unpackhi_pd(a, b))};
}
inline Floats low_words(Quads a, Quads b) {
  return Floats(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
inline Floats high_words(Quads a, Quads b) {
  return Floats(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(3, 1, 3, 1)));
}
inline Floats pack(Words a, Words b) {
  return Floats(_mm256_castsi256_ps(_mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), _MM_SHUFFLE(3, 1, 2, 0))));
}
inline Floats pack_float16(Floats a, Floats b) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT;
  return Floats(_mm256_castsi256_ps(_mm256_set_m128i(_mm256_cvtps_ph(b, nearest), _mm256_cvtps_ph(a, nearest))));
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return Doubles(_mm256_fmadd_pd(a, b, c)); }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return Doubles(_mm256_fmsub_pd(a, b, c)); }
inline Floats fused(Floats a, Floats b, Floats c) { return Floats(_mm256_fmadd_ps(a, b, c)); }
inline void fence() { _mm_sfence(); }
inline void stream(Floats from, float* to) { _mm256_stream_ps(to, from); }

#elif defined(__SSE2__)

inline Floats narrow(Doubles a, Doubles b) { return Floats(_mm_movelh_ps(_mm_cvtpd_ps(a), _mm_cvtpd_ps(b))); }
inline Both<Floats> interleave(Floats a, Floats b) {
  return {Floats(_mm_unpacklo_ps(a, b)), Floats(_mm_unpackhi_ps(a, b))};
}
inline Both<Doubles> deal(Doubles a, Doubles b) { return {a, b}; }
inline Both<Doubles> deal_pairs(Doubles a, Doubles b) {
  return {Doubles(_mm_unpacklo_pd(a, b)), Doubles(_mm_unpackhi_pd(a, b))};
}
inline Floats low_words(Quads a, Quads b) {
  return Floats(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
inline Floats high_words(Quads a, Quads b) {
  return Floats(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _MM_SHUFFLE(3, 1, 3, 1)));
}
inline Floats pack(Words a, Words b) { return Floats(_mm_castsi128_ps(_mm_packs_epi32(a, b))); }
/// Below 2^-14 the 16-bit floats are multiples of 2^-24, which adding 1/2 rounds to.
inline Words to_float16(Floats value) {
  const Words bits = xsimd::bitwise_cast<Words>(value);
  const Words magnitude = bits & Words(0x7fffffff);
  const Words odd = (magnitude >> 13) & Words(1);
  const Words normal = ((magnitude + Words(0xfff) + odd) >> 13) - Words((127 - 15) << 10);
  const Floats shifted = xsimd::bitwise_cast<Floats>(magnitude) + Floats(0.5f);
  const Words subnormal = xsimd::bitwise_cast<Words>(shifted) - Words(0x3f000000);
  const Words is_small = (magnitude - Words(0x38800000)) >> 31;
  return (normal & ~is_small) | (subnormal & is_small) | ((bits ^ magnitude) >> 16);
}
inline Floats pack_float16(Floats a, Floats b) { return pack(to_float16(a), to_float16(b)); }
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return a * b + c; }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return a * b - c; }
inline Floats fused(Floats a, Floats b, Floats c) { return a * b + c; }
inline void fence() { _mm_sfence(); }
inline void stream(Floats from, float* to) { _mm_stream_ps(to, from); }

#elif defined(__aarch64__)

inline Floats narrow(Doubles a, Doubles b) { return Floats(vcvt_high_f32_f64(vcvt_f32_f64(a), b)); }
inline Both<Floats> interleave(Floats a, Floats b) { return {Floats(vzip1q_f32(a, b)), Floats(vzip2q_f32(a, b))}; }
inline Both<Doubles> deal(Doubles a, Doubles b) { return {a, b}; }
inline Both<Doubles> deal_pairs(Doubles a, Doubles b) { return {Doubles(vzip1q_f64(a, b)), Doubles(vzip2q_f64(a, b))}; }
inline Floats low_words(Quads a, Quads b) {
  return Floats(vuzp1q_f32(vreinterpretq_f32_u64(a), vreinterpretq_f32_u64(b)));
}
inline Floats high_words(Quads a, Quads b) {
  return Floats(vuzp2q_f32(vreinterpretq_f32_u64(a), vreinterpretq_f32_u64(b)));
}
inline Floats pack(Words a, Words b) { return Floats(vreinterpretq_f32_s16(vcombine_s16(vmovn_s32(a), vmovn_s32(b)))); }
inline Floats pack_float16(Floats a, Floats b) {
  return Floats(vreinterpretq_f32_u16(
      vcombine_u16(vreinterpret_u16_f16(vcvt_f16_f32(a)), vreinterpret_u16_f16(vcvt_f16_f32(b)))));
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return Doubles(vfmaq_f64(c, a, b)); }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return Doubles(vfmaq_f64(vnegq_f64(c), a, b)); }
inline Floats fused(Floats a, Floats b, Floats c) { return Floats(vfmaq_f32(c, a, b)); }
inline void fence() {}
inline void stream(Floats from, float* to) { from.store_unaligned(to); }  // AArch64 decides by itself

#endif

}  // namespace
}  // namespace posenc::simd
