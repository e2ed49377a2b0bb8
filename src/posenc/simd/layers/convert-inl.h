// Elements of 16 bits as float32 and back, since sums and rotations compute in float32.
//
// Method  instructions of the ISA for float16 where it has them, else integer operations on bits
// Error   none to widen; to narrow, the nearest, ties to even (the bits of to_double(), nearest())
// Range   all values: infinity if a value overflows, the quiet NaN without payload for NaN
// Cost    operations a vector, to widen and to narrow: bfloat16 2 and 6; float16 1 and 2 with
//         instructions, about 10 and 15 without
#pragma once

namespace posenc::simd {
namespace {

inline std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// condition ? a : b. With a conditional expression, GCC moves the floating-point operations of `a`
/// into a branch, and does not vectorise the loop.
inline std::uint32_t select(bool condition, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = std::uint32_t{0} - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

inline float widened(float element) { return element; }

inline float widened(BFloat16 element) {
  return float_of(static_cast<std::uint32_t>(element.bits) << 16);
}

/// The exponent of float16 has another bias, and another value for infinity and NaN.
constexpr std::uint32_t float16_bias_difference = (127 - 15) << 23;

inline float widened(Float16 element) {
  const std::uint32_t sign = static_cast<std::uint32_t>(element.bits & 0x8000) << 16;
  const std::uint32_t magnitude = element.bits & 0x7fff;
  const std::uint32_t finite = (magnitude << 13) + float16_bias_difference;
  const std::uint32_t subnormal =
      bits_of(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  const std::uint32_t bits = select(magnitude < 0x0400, subnormal, finite);
  return float_of(select(magnitude >= 0x7c00, finite + float16_bias_difference, bits) | sign);
}

inline void narrow_to(float value, float& to) { to = value; }

inline void narrow_to(float value, BFloat16& to) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  to.bits = static_cast<std::uint16_t>(select(is_nan, ((bits >> 16) & 0x8000) | 0x7fc0, rounded));
}

inline void narrow_to(float value, Float16& to) {
  const std::uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
  const std::uint32_t finite =
      (magnitude - float16_bias_difference + 0x0fff + ((magnitude >> 13) & 1)) >> 13;
  // Adding 1/2 rounds a value below 2^-14 to a multiple of 2^-24, in the low bits of the sum.
  const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  std::uint32_t element = select(magnitude < 0x38800000, subnormal, finite);
  element = select(magnitude >= 0x47800000, 0x7c00, element);
  element = select(magnitude > 0x7f800000, 0x7e00, element);
  to.bits = static_cast<std::uint16_t>(element | ((bits >> 16) & 0x8000));
}

// Plain loops, which the compiler vectorises.

template <class T>
inline void widen_all(const T* __restrict from, std::int64_t count, float* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = widened(from[i]);
}

template <class T>
inline void narrow_all(const float* __restrict from, std::int64_t count, T* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) narrow_to(from[i], to[i]);
}

void widen_kernel(const std::uint16_t* from, std::int64_t count, bool is_bfloat16,
                  float* to) noexcept {
  if (is_bfloat16) return widen_all(reinterpret_cast<const BFloat16*>(from), count, to);
  widen_all(reinterpret_cast<const Float16*>(from), count, to);
}

void narrow_kernel(const float* from, std::int64_t count, bool is_bfloat16,
                   std::uint16_t* to) noexcept {
  if (is_bfloat16) return narrow_all(from, count, reinterpret_cast<BFloat16*>(to));
  narrow_all(from, count, reinterpret_cast<Float16*>(to));
}

// Vectors on their way through arithmetic: load_wide() reads as many elements as a vector of floats
// has, and store_two() writes the nearest to two vectors of results.

inline F32 load_wide(const float* from) { return load(from); }
inline void store_two(const Both<F32>& values, float* first, float* second) {
  values.first.store_unaligned(first);
  values.second.store_unaligned(second);
}

#if defined(__AVX512F__)

/// True if a vector of T is converted by a few instructions.
template <class T>
constexpr bool has_vector_conversion = true;

inline __m256i load_16_bits(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline void store_16_bits(__m256i bits, void* to) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), bits);
}
inline F32 load_wide(const Float16* from) { return F32(_mm512_cvtph_ps(load_16_bits(from))); }
inline F32 load_wide(const BFloat16* from) {
  const __m512i words = _mm512_cvtepu16_epi32(load_16_bits(from));
  return F32(_mm512_castsi512_ps(_mm512_slli_epi32(words, 16)));
}
/// True if a lane of either is NaN.
inline bool has_nan(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) != 0; }
inline __m256i nearest_float16(F32 value) {
  return _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// The upper 16 bits are those of the nearest bfloat16.
inline __m512i rounded_to_bfloat16(F32 value) {
  const __m512i bits = _mm512_castps_si512(value),
                sum = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
  const __mmask16 is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
  return _mm512_mask_add_epi32(sum, is_odd, sum, _mm512_set1_epi32(1));
}
inline void store_finite(const Both<F32>& values, BFloat16* first, BFloat16* second) {
  alignas(64) static constexpr std::uint16_t upper_halves[] = {
      1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
      33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  const __m512i packed =
      _mm512_permutex2var_epi16(rounded_to_bfloat16(values.first), _mm512_load_si512(upper_halves),
                                rounded_to_bfloat16(values.second));
  store_16_bits(_mm512_castsi512_si256(packed), first);
  store_16_bits(_mm512_extracti64x4_epi64(packed, 1), second);
}

#elif defined(__F16C__)

/// True if a vector of T is converted by a few instructions.
template <class T>
constexpr bool has_vector_conversion = true;

inline __m128i load_16_bits(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
inline void store_16_bits(__m128i bits, void* to) {
  _mm_storeu_si128(static_cast<__m128i*>(to), bits);
}
inline F32 load_wide(const Float16* from) { return F32(_mm256_cvtph_ps(load_16_bits(from))); }
inline F32 load_wide(const BFloat16* from) {
  const __m256i words = _mm256_cvtepu16_epi32(load_16_bits(from));
  return F32(_mm256_castsi256_ps(_mm256_slli_epi32(words, 16)));
}
/// True if a lane of either is NaN.
inline bool has_nan(F32 a, F32 b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0;
}
inline __m128i nearest_float16(F32 value) {
  return _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
}
/// The upper 16 bits are those of the nearest bfloat16.
inline __m256i rounded_to_bfloat16(F32 value) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}
inline void store_finite(const Both<F32>& values, BFloat16* first, BFloat16* second) {
  const __m256i pairs =
      _mm256_packus_epi32(_mm256_srli_epi32(rounded_to_bfloat16(values.first), 16),
                          _mm256_srli_epi32(rounded_to_bfloat16(values.second), 16));
  const __m256i packed = _mm256_permute4x64_epi64(pairs, _MM_SHUFFLE(3, 1, 2, 0));
  store_16_bits(_mm256_castsi256_si128(packed), first);
  store_16_bits(_mm256_extracti128_si256(packed, 1), second);
}

#else

template <class T>
constexpr bool has_vector_conversion = std::is_same_v<T, float>;

#endif

#if defined(__F16C__)

inline void store_finite(const Both<F32>& values, Float16* first, Float16* second) {
  store_16_bits(nearest_float16(values.first), first);
  store_16_bits(nearest_float16(values.second), second);
}

/// A vector with NaN, which is rare, is converted an element at a time.
template <class T>
inline void store_two(const Both<F32>& values, T* first, T* second) {
  if (!has_nan(values.first, values.second)) return store_finite(values, first, second);
  float floats[2 * float_lanes];
  store_two(values, floats, floats + float_lanes);
  narrow_all(floats, float_lanes, first);
  narrow_all(floats + float_lanes, float_lanes, second);
}

#endif

}  // namespace
}  // namespace posenc::simd
