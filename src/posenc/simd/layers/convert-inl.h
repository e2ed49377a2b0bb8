// Converts 16-bit elements to float32 and back, because sums and rotations compute in float32.
//
// Method  integer operations on bits, and the ISA's instructions for float16 where it has them
// Error   none to widen, as to_double(); narrowing gives the nearest value, ties to even, as
//         nearest()
// Range   all values: infinity if a value overflows, the quiet NaN without payload for NaN
// Cost    operations per vector to widen and to narrow: bfloat16 2 and 6; float16 1 and 2 (in
//         integers about 12 and 20)
#pragma once

#include "posenc/simd/stores-inl.h"

namespace posenc::simd {
namespace {

/// Loads as many elements as a vector of floats has, into the low halves of words.
template <class T>
inline I32 load_words(const T* from) {
  using Elements [[gnu::vector_size(2 * float_lanes)]] = std::uint16_t;
  using Words [[gnu::vector_size(4 * float_lanes)]] = std::int32_t;
  Elements elements;
  std::memcpy(&elements, from, sizeof elements);
  return std::bit_cast<I32>(__builtin_convertvector(elements, Words));
}

/// All bits of the lanes in which a < b, for integers whose difference does not overflow.
inline I32 below(I32 a, I32 b) { return (a - b) >> 31; }
inline I32 select(I32 mask, I32 a, I32 b) { return (a & mask) | (b & ~mask); }

inline F32 widened(I32 words, BFloat16) { return cast_bits<F32>(words << 16); }
inline F32 widened(I32 words, Float16) {
  // The exponent has another bias, and another value for infinity and NaN.
  const I32 bias_difference((127 - 15) << 23), magnitude = words & I32(0x7fff);
  const I32 finite = (magnitude << 13) + bias_difference;
  const I32 subnormal = cast_bits<I32>(xsimd::to_float(magnitude) * F32(0x1p-24f));
  const I32 bits = select(below(magnitude, I32(0x0400)), subnormal, finite);
  const I32 all = select(below(magnitude, I32(0x7c00)), bits, finite + bias_difference);
  return cast_bits<F32>(all | ((words ^ magnitude) << 16));
}

/// The nearest bfloat16, in the upper half of each word, unless the value is NaN.
inline I32 rounded_to_bfloat16(F32 value) {
  const I32 bits = cast_bits<I32>(value);
  return bits + I32(0x7fff) + ((bits >> 16) & I32(1));
}
/// The nearest element, in the low half of each word. The upper half repeats the sign.
inline I32 narrowed(F32 value, BFloat16) {
  const I32 bits = cast_bits<I32>(value), magnitude = bits & I32(0x7fffffff);
  const I32 quiet_nan = (bits ^ magnitude) | I32(0x7fc00000);
  return select(below(I32(0x7f800000), magnitude), quiet_nan, rounded_to_bfloat16(value)) >> 16;
}
inline I32 narrowed(F32 value, Float16) {
  const I32 bits = cast_bits<I32>(value), magnitude = bits & I32(0x7fffffff);
  const I32 large = select(below(I32(0x7f800000), magnitude), I32(0x7e00), I32(0x7c00));
  return select(below(magnitude, I32(0x47800000)), to_float16(value),
                large | ((bits ^ magnitude) >> 16));
}

/// Stores the two halves of a vector, each at its own place.
inline void store_halves(F32 packed, void* first, void* second) {
  constexpr std::size_t count = F32::size / 2;
  const auto low = lanes_of<count>(packed.data, packed.data, [](std::size_t i) { return i; });
  const auto high =
      lanes_of<count>(packed.data, packed.data, [](std::size_t i) { return i + count; });
  std::memcpy(first, &low, sizeof low);
  std::memcpy(second, &high, sizeof high);
}

#ifdef POSENC_HAS_FLOAT16

inline void store_finite(const Both<F32>& values, BFloat16* first, BFloat16* second) {
  const I32 a = rounded_to_bfloat16(values.first), b = rounded_to_bfloat16(values.second);
  if constexpr (has_line_vectors) {
    using Halves [[gnu::vector_size(4 * float_lanes)]] = std::uint16_t;
    const auto upper = lanes_of<2 * F32::size>(std::bit_cast<Halves>(a), std::bit_cast<Halves>(b),
                                               [](std::size_t i) { return 2 * i + 1; });
    store_halves(std::bit_cast<F32>(upper), first, second);
  } else {
    store_halves(pack(a >> 16, b >> 16), first, second);
  }
}
inline void store_finite(const Both<F32>& values, Float16* first, Float16* second) {
  void *to_first = first, *to_second = second;
  const auto a = nearest_float16(values.first), b = nearest_float16(values.second);
  std::memcpy(to_first, &a, sizeof a);
  std::memcpy(to_second, &b, sizeof b);
}

#endif

/// Loads and widens as many elements as a vector of floats has.
template <class T>
inline F32 load_wide(const T* from) {
  if constexpr (std::is_same_v<T, float>) {
    return load(from);
#ifdef POSENC_HAS_FLOAT16
  } else if constexpr (std::is_same_v<T, Float16>) {
    return widened_float16(from);
#endif
  } else {
    return widened(load_words(from), T());
  }
}

/// Stores the elements nearest to two vectors. Vectors with NaN, which are rare, take longer.
template <class T>
inline void store_two(const Both<F32>& values, T* first, T* second) {
  if constexpr (std::is_same_v<T, float>) {
    store_vector<false>(values.first, first);
    store_vector<false>(values.second, second);
  } else {
#ifdef POSENC_HAS_FLOAT16
    if (!has_nan(values.first, values.second)) return store_finite(values, first, second);
#endif
    store_halves(pack(narrowed(values.first, T()), narrowed(values.second, T())), first, second);
  }
}

}  // namespace
}  // namespace posenc::simd
