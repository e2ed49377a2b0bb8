// Operations of the ISAs that have neither fused operations nor 16-bit floats: sse2 and portable.
// Included by their headers, which define pack() before.
#pragma once

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = false;
constexpr bool has_word_minimum = false;

inline F64 fused(F64 a, F64 b, F64 c) { return a * b + c; }
inline F64 fused_minus(F64 a, F64 b, F64 c) { return a * b - c; }
inline F32 fused(F32 a, F32 b, F32 c) { return a * b + c; }
inline F32 fused_minus(F32 a, F32 b, F32 c) { return a * b - c; }
inline F32 clamp_to_one(F32 a) { return xsimd::min(xsimd::max(a, F32(-1.0f)), F32(1.0f)); }
inline I32 magnitude(I32 a) { return (a ^ (a >> 31)) - (a >> 31); }

inline F32 pack_upper_halves(I32 a, I32 b) {
  // In memory, the half of `a` precedes that of `b`.
  const U32 of_a = cast_bits<U32>(a), of_b = cast_bits<U32>(b);
  const U32 low = upper_word == 1 ? of_a : of_b, high = upper_word == 1 ? of_b : of_a;
  return cast_bits<F32>((low >> 16) | (high & U32(0xffff0000)));
}

inline F32 pack_float16(F32 a, F32 b) { return pack(to_float16(a), to_float16(b)); }
inline F32 pack_truncated_float16(F32 a, F32 b) {
  const auto truncated = [](F32 x) {
    return to_float16(cast_bits<F32>(cast_bits<I32>(x) & I32(-1 << 13))) << 16;
  };
  return pack_upper_halves(truncated(a), truncated(b));
}

}  // namespace
}  // namespace posenc::simd
