// The operations that lanes.h declares, on AVX-512 (F, CD, DQ, BW).
#pragma once

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = true;
constexpr bool has_word_minimum = true;

inline Floats narrow(Doubles a, Doubles b) {
  return Floats(
      _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1));
}
inline Both<Floats> interleave(Floats a, Floats b) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
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
  return Floats(
      _mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
inline Floats high_words(Quads a, Quads b) {
  return Floats(
      _mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _MM_SHUFFLE(3, 1, 3, 1)));
}
inline Floats pack(Words a, Words b) {
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return Floats(_mm512_castsi512_ps(_mm512_permutexvar_epi64(order, _mm512_packs_epi32(a, b))));
}
inline Floats pack_float16(Floats a, Floats b) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return Floats(_mm512_castsi512_ps(_mm512_inserti64x4(
      _mm512_castsi256_si512(_mm512_cvtps_ph(a, nearest)), _mm512_cvtps_ph(b, nearest), 1)));
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return Doubles(_mm512_fmadd_pd(a, b, c)); }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) {
  return Doubles(_mm512_fmsub_pd(a, b, c));
}
inline Floats fused(Floats a, Floats b, Floats c) { return Floats(_mm512_fmadd_ps(a, b, c)); }
inline void fence() { _mm_sfence(); }
inline void stream(Floats from, float* to) { _mm512_stream_ps(to, from); }

inline Quads multiply_low_words(Quads a, Quads b) { return Quads(_mm512_mul_epu32(a, b)); }
inline Floats wide_mask(const std::uint8_t* keep) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(keep));
  return Floats(_mm512_castsi512_ps(_mm512_cvtepi8_epi32(bytes)));
}
constexpr std::int64_t byte_lanes = 64, flag_step = 1;
inline std::uint64_t compare_bytes(const std::uint8_t* from, std::uint8_t threshold,
                                   std::uint8_t* at_least) {
  const __m512i bytes = _mm512_loadu_si512(from),
                level = _mm512_set1_epi8(static_cast<char>(threshold));
  _mm512_storeu_si512(at_least, _mm512_movm_epi8(_mm512_cmpge_epu8_mask(bytes, level)));
  return _mm512_cmpeq_epu8_mask(bytes, level);
}

}  // namespace
}  // namespace posenc::simd
