// The operations that lanes.h declares, on SSE2, the x86-64 baseline.
#pragma once

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = false;
constexpr bool has_word_minimum = false;

inline Floats narrow(Doubles a, Doubles b) {
  return Floats(_mm_movelh_ps(_mm_cvtpd_ps(a), _mm_cvtpd_ps(b)));
}
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
inline Floats pack_float16(Floats a, Floats b) { return pack(to_float16(a), to_float16(b)); }
inline Doubles fused(Doubles a, Doubles b, Doubles c) { return a * b + c; }
inline Doubles fused_minus(Doubles a, Doubles b, Doubles c) { return a * b - c; }
inline Floats fused(Floats a, Floats b, Floats c) { return a * b + c; }
inline void fence() { _mm_sfence(); }
inline void stream(Floats from, float* to) { _mm_stream_ps(to, from); }

inline Quads multiply_low_words(Quads a, Quads b) { return Quads(_mm_mul_epu32(a, b)); }
inline Floats wide_mask(const std::uint8_t* keep) {
  std::uint32_t four = 0;
  std::memcpy(&four, keep, sizeof four);
  __m128i bytes = _mm_cvtsi32_si128(static_cast<int>(four));
  bytes = _mm_unpacklo_epi8(bytes, bytes);
  return Floats(_mm_castsi128_ps(_mm_unpacklo_epi16(bytes, bytes)));
}
constexpr std::int64_t byte_lanes = 16, flag_step = 1;
inline std::uint64_t compare_bytes(const std::uint8_t* from, std::uint8_t threshold,
                                   std::uint8_t* at_least) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m128i level = _mm_set1_epi8(static_cast<char>(threshold));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at_least),
                   _mm_cmpeq_epi8(_mm_max_epu8(bytes, level), bytes));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, level)));
}

}  // namespace
}  // namespace posenc::simd
