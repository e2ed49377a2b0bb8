// The ISA scalar: plain C++, for every 64-bit processor.
#pragma once

#define POSENC_ISA scalar
#define POSENC_ARCH void
#define POSENC_VECTORS "posenc/simd/isa/portable_batch-inl.h"
#include "posenc/simd/isa/isa-inl.h"

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = false;
constexpr bool has_word_minimum = false;

inline F32 narrow(F64 a, F64 b) {
  F32 result;
  for (std::size_t i = 0; i < 2; ++i) {
    result.lanes[i] = static_cast<float>(a.lanes[i]);
    result.lanes[i + 2] = static_cast<float>(b.lanes[i]);
  }
  return result;
}
inline Both<F32> interleave(F32 a, F32 b) {
  const float first[] = {a.lanes[0], b.lanes[0], a.lanes[1], b.lanes[1]};
  const float second[] = {a.lanes[2], b.lanes[2], a.lanes[3], b.lanes[3]};
  return {load(first), load(second)};
}
/// Lane i of the result is lane source(i).
template <class Source>
inline F32 shuffled(F32 a, const Source& source) {
  F32 result;
  for (std::size_t i = 0; i < F32::size; ++i) result.lanes[i] = a.lanes[source(i)];
  return result;
}
inline F32 even_lanes(F32 a) {
  return shuffled(a, [](std::size_t i) { return i / 2 * 2; });
}
inline F32 odd_lanes(F32 a) {
  return shuffled(a, [](std::size_t i) { return i / 2 * 2 + 1; });
}
inline F32 swap_neighbours(F32 a) {
  return shuffled(a, [](std::size_t i) { return i ^ 1; });
}
inline Both<F64> deinterleave(F64 a, F64 b) { return {a, b}; }
inline Both<F64> deinterleave_pairs(F64 a, F64 b) {
  const double first[] = {a.lanes[0], b.lanes[0]}, second[] = {a.lanes[1], b.lanes[1]};
  return {load(first), load(second)};
}

/// 32 bits of each of four 64-bit lanes, from bit `shift` upwards.
inline F32 words_of(U64 a, U64 b, int shift) {
  const auto word = [shift](std::uint64_t lane) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(lane >> shift));
  };
  F32 result;
  for (std::size_t i = 0; i < 2; ++i) {
    result.lanes[i] = word(a.lanes[i]);
    result.lanes[i + 2] = word(b.lanes[i]);
  }
  return result;
}
inline F32 low_halves(U64 a, U64 b) { return words_of(a, b, 0); }
inline F32 high_halves(U64 a, U64 b) { return words_of(a, b, 32); }

inline F32 high_halves_twice(U64 a) {
  return shuffled(high_halves(a, a), [](std::size_t i) { return i / 2; });
}

inline F32 pack(I32 a, I32 b) {
  std::uint16_t halves[8];
  for (std::size_t i = 0; i < 4; ++i) {
    halves[i] = static_cast<std::uint16_t>(a.lanes[i]);
    halves[i + 4] = static_cast<std::uint16_t>(b.lanes[i]);
  }
  F32 result;
  std::memcpy(result.lanes, halves, sizeof halves);
  return result;
}
inline F32 pack_float16(F32 a, F32 b) { return pack(to_float16(a), to_float16(b)); }
inline F32 pack_upper_halves(I32 a, I32 b) {
  // In memory, the half of `a` precedes that of `b`.
  constexpr bool is_big_endian = std::endian::native == std::endian::big;
  const I32 low = is_big_endian ? b : a, high = is_big_endian ? a : b;
  return cast_bits<F32>(((low >> 16) & I32(0xffff)) | (high & I32(-1 << 16)));
}
inline F32 pack_truncated_float16(F32 a, F32 b) {
  const auto truncated = [](F32 x) {
    return to_float16(cast_bits<F32>(cast_bits<I32>(x) & I32(-1 << 13))) << 16;
  };
  return pack_upper_halves(truncated(a), truncated(b));
}
inline bool any_bits(I32 a, I32 mask) { return xsimd::any((a & mask) != I32(0)); }
inline std::uint32_t nonzero_lanes(I32 a) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < a.size; ++i) found |= std::uint32_t{a.lanes[i] != 0} << i;
  return found;
}

inline F64 fused(F64 a, F64 b, F64 c) { return a * b + c; }
inline F64 fused_minus(F64 a, F64 b, F64 c) { return a * b - c; }
inline F32 fused(F32 a, F32 b, F32 c) { return a * b + c; }
inline F32 fused_minus(F32 a, F32 b, F32 c) { return a * b - c; }
inline F32 clamp_to_one(F32 a) { return xsimd::min(xsimd::max(a, F32(-1.0f)), F32(1.0f)); }
inline I32 magnitude(I32 a) { return (a ^ (a >> 31)) - (a >> 31); }
inline void fence() {}
inline void store_non_temporal(F32 from, float* to) { from.store_unaligned(to); }

inline U64 multiply_low_halves(U64 a, U64 b) {
  const U64 low(std::uint64_t{0xffffffff});
  return (a & low) * (b & low);
}

}  // namespace
}  // namespace posenc::simd
