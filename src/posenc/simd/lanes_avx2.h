// The operations that lanes.h declares, on AVX2 with FMA and F16C.
#pragma once

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = true;
constexpr bool has_word_minimum = true;

inline Floats narrow(Doubles a, Doubles b) {
  return Floats(_mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a)));
}
inline Both<Floats> interleave(Floats a, Floats b) {
  const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
  return {Floats(_mm256_permute2f128_ps(low, high, 0x20)),
          Floats(_mm256_permute2f128_ps(low, high, 0x31))};
}
inline Both<Doubles> deal(Doubles a, Doubles b) {
  return {Doubles(_mm256_permute2f128_pd(a, b, 0x20)), Doubles(_mm256_permute2f128_pd(a, b, 0x31))};
}
inline Both<Doubles> deal_pairs(Doubles a, Doubles b) {
  return {Doubles(_mm256_unpacklo_pd(a, b)), Doubles(_mm256_unpackhi_pd(a, b))};
}
inline Floats low_words(Quads a, Quads b) {
  return Floats(
      _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
inline Floats high_words(Quads a, Quads b) {
  return Floats(
      _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(3, 1, 3, 1)));
}
inline Floats pack(Words a, Words b) {
  return Floats(_mm256_castsi256_ps(
      _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), _MM_SHUFFLE(3, 1, 2, 0))));
}
inline Floats pack_float16(Floats a, Floats b) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT;
  return Floats(_mm256_castsi256_ps(
      _mm256_set_m128i(_mm256_cvtps_ph(b, nearest), _mm256_cvtps_ph(a, nearest))));
}
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return Doubles(_mm256_fmadd_pd(a, b, c)); }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) {
  return Doubles(_mm256_fmsub_pd(a, b, c));
}
inline Floats fused(Floats a, Floats b, Floats c) { return Floats(_mm256_fmadd_ps(a, b, c)); }
inline void fence() { _mm_sfence(); }
inline void stream(Floats from, float* to) { _mm256_stream_ps(to, from); }

inline Quads multiply_low_words(Quads a, Quads b) { return Quads(_mm256_mul_epu32(a, b)); }
inline Floats wide_mask(const std::uint8_t* keep) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(keep));
  return Floats(_mm256_castsi256_ps(_mm256_cvtepi8_epi32(bytes)));
}
constexpr std::int64_t byte_lanes = 32, flag_step = 1;
inline std::uint64_t compare_bytes(const std::uint8_t* from, std::uint8_t threshold,
                                   std::uint8_t* at_least) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m256i level = _mm256_set1_epi8(static_cast<char>(threshold));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at_least),
                      _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, level), bytes));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, level)));
}

}  // namespace
}  // namespace posenc::simd
