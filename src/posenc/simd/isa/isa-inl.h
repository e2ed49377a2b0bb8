// The base of the kernels of every ISA: vector types under short names, and shuffles. The header of
// each ISA, isa_<isa>-inl.h, includes this file. It first sets
//   POSENC_ISA      its name: sse2
//   POSENC_ARCH     its name in xsimd: xsimd::sse2
//   POSENC_PORTABLE_VECTORS  defined if portable_batch-inl.h stands in for xsimd
//   POSENC_OWN_DUPLICATES  defined if the ISA has its own even_lanes() and odd_lanes()
//   POSENC_OWN_SELECTION   defined if the ISA selects bits in one instruction: with_sign_of()
//   POSENC_UNFUSED  defined if it has neither fused operations nor 16-bit floats
// and then defines the functions that differ between ISAs:
//   narrow                 two vectors of doubles, rounded to one vector of floats, in order
//   pack                   two vectors of integers in the range of int16 as 16-bit ones, in order
//   any_bits               true if any lane has a bit of the mask
//   nonzero_lanes          one bit per lane, first lane lowest, set if the lane is not 0
//   multiply_low_halves    the full product of the low halves of each 64-bit lane
//   store_non_temporal     stores to an address aligned to the vector; a fence must follow
// and, unless POSENC_UNFUSED is defined:
//   fused_rounds_once      true
//   fused, fused_minus     a b + c and a b - c, with one rounding
//   clamp_to_one           the nearest values in [-1, 1]
//   magnitude              absolute values of integers; the least integer is unchanged
//   pack_float16           two vectors of floats as the nearest 16-bit floats, in order
//   pack_upper_halves      the upper 16 bits of two vectors of integers: a0 b0 a1 b1 ...
//   pack_truncated_float16  floats below 2 as 16-bit floats, towards 0 from 2^-14 on: a0 b0 ...
// and, if the ISA has instructions for 16-bit floats, POSENC_HAS_FLOAT16:
//   nearest_float16        a vector of floats as the nearest 16-bit floats
//   widened_float16        16-bit floats in memory as a vector of floats
//   has_nan                true if a lane of either vector is NaN
// and, if a vector is a cache line:
//   consecutive_lanes      a vector of consecutive lanes of a and b, from lane `first` on
//   store_lanes            stores only the lanes begin .. end - 1, each at its place
//
// Two vectors of doubles hold the columns of one vector of floats. The rotation keeps them
// deinterleaved: of every 128 bits of floats, the first two columns are in the first vector and the
// other two in the second (0 1 4 5 and 2 3 6 7 of eight). The halves of the doubles that belong to
// neighbouring columns are then in the same 128 bits, within which shuffles are cheap.
//
// A file of kernels is compiled with the flags of its ISA. If it shares an inline function with
// other files, the linker may keep this file's version, which would crash older CPUs. xsimd before
// version 13 has such functions. Therefore xsimd's namespace gets the name of this ISA, and all
// kernels are in an anonymous namespace: only one function has external linkage.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define POSENC_JOIN_(a, b) a##b
#define POSENC_JOIN(a, b) POSENC_JOIN_(a, b)
#define xsimd POSENC_JOIN(xsimd_, POSENC_ISA)
#ifdef POSENC_PORTABLE_VECTORS
#include "posenc/simd/isa/portable_batch-inl.h"
#else
#include <xsimd/xsimd.hpp>
#ifdef __F16C__
#define POSENC_HAS_FLOAT16
#endif
#endif

namespace posenc::simd {
namespace {

using Arch = POSENC_ARCH;
using F64 = xsimd::batch<double, Arch>;
using U64 = xsimd::batch<std::uint64_t, Arch>;
using F32 = xsimd::batch<float, Arch>;
using I32 = xsimd::batch<std::int32_t, Arch>;
using U32 = xsimd::batch<std::uint32_t, Arch>;

constexpr std::int64_t double_lanes = static_cast<std::int64_t>(F64::size);
constexpr std::int64_t float_lanes = static_cast<std::int64_t>(F32::size);

inline F64 load(const double* from) { return F64::load_unaligned(from); }
inline F32 load(const float* from) { return F32::load_unaligned(from); }

/// The bits of a vector as a vector of another type. xsimd before version 11 names this type by its
/// batch.
template <class To, class From>
inline To cast_bits(const From& from) {
#if XSIMD_VERSION_MAJOR >= 11
  return xsimd::bitwise_cast<typename To::value_type>(from);
#else
  return xsimd::bitwise_cast<To>(from);
#endif
}

/// The nearest 16-bit floats to finite values, in the low half of each word. Values below 2^-14 are
/// rounded to multiples of 2^-24 by adding 1/2.
[[maybe_unused]] inline I32 to_float16(F32 value) {
  const I32 bits = cast_bits<I32>(value);
  const I32 magnitude = bits & I32(0x7fffffff);
  const I32 odd = (magnitude >> 13) & I32(1);
  const I32 normal = ((magnitude + I32(0xfff) + odd) >> 13) - I32((127 - 15) << 10);
  const F32 shifted = cast_bits<F32>(magnitude) + F32(0.5f);
  const I32 subnormal = cast_bits<I32>(shifted) - I32(0x3f000000);
  const I32 is_small = (magnitude - I32(0x38800000)) >> 31;
  return (normal & ~is_small) | (subnormal & is_small) | ((bits ^ magnitude) >> 16);
}

/// The place of column k of float_lanes columns if they are deinterleaved.
constexpr std::int64_t deinterleaved_place(std::int64_t k) {
  return (k % 4 / 2) * double_lanes + k / 4 * 2 + k % 2;
}

/// Used in place of std::min() and std::copy_n(), which the linker could take from this file for
/// others.
constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
/// The least multiple that is at least n.
constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}
template <class T>
inline void copy(const T* from, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
}

template <class Batch>
struct Both {
  Batch first, second;
};

/// Selects lanes of a and b, which are numbered in order: lane i of `count` lanes is lane
/// source(i). The compiler finds the instructions. Each use below except interleave() takes one.
template <std::size_t count, class Vector, class Source>
[[gnu::always_inline]] inline auto lanes_of(Vector a, Vector b, Source) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, static_cast<int>(Source()(i))...);
  }
  (std::make_index_sequence<count>());
}
template <class Batch, class Source>
inline Batch shuffle(Batch a, Batch b, Source source) {
  return Batch(lanes_of<Batch::size>(a.data, b.data, source));
}

#ifndef POSENC_OWN_DUPLICATES
/// a0 a0 a2 a2 ...
inline F32 even_lanes(F32 a) {
  return shuffle(a, a, [](std::size_t i) { return i / 2 * 2; });
}
/// a1 a1 a3 a3 ...
inline F32 odd_lanes(F32 a) {
  return shuffle(a, a, [](std::size_t i) { return i / 2 * 2 + 1; });
}
#endif
#ifndef POSENC_OWN_SELECTION
/// `magnitude`, whose sign bits are 0, with the sign bits of `signs`.
inline F32 with_sign_of(F32 magnitude, F32 signs) { return magnitude | (signs & F32(-0.0f)); }
#endif
/// a1 a0 a3 a2 ...
inline F32 swap_neighbours(F32 a) {
  return shuffle(a, a, [](std::size_t i) { return i ^ 1; });
}
/// a0 b0 a1 b1 ...
template <class Batch>
inline Both<Batch> interleave(Batch a, Batch b) {
  constexpr std::size_t n = Batch::size;
  return {shuffle(a, b, [](std::size_t i) { return i / 2 + i % 2 * n; }),
          shuffle(a, b, [](std::size_t i) { return (n + i) / 2 + i % 2 * n; })};
}
/// Deinterleaves consecutive columns.
inline Both<F64> deinterleave(F64 a, F64 b) {
  return {shuffle(a, b, [](std::size_t i) { return i / 2 * 4 + i % 2; }),
          shuffle(a, b, [](std::size_t i) { return i / 2 * 4 + i % 2 + 2; })};
}
/// Deinterleaves the columns a0 b0 a1 b1 ...
inline Both<F64> deinterleave_pairs(F64 a, F64 b) {
  constexpr std::size_t n = F64::size;
  return {shuffle(a, b, [](std::size_t i) { return i / 2 * 2 + i % 2 * n; }),
          shuffle(a, b, [](std::size_t i) { return i / 2 * 2 + i % 2 * n + 1; })};
}

/// The place of the upper 32 bits in a 64-bit lane.
constexpr std::size_t upper_word = std::endian::native == std::endian::little ? 1 : 0;

/// 32 bits of each deinterleaved 64-bit lane, in the order of the columns.
template <std::size_t word>
inline F32 halves(U64 a, U64 b) {
  return shuffle(cast_bits<F32>(a), cast_bits<F32>(b), [](std::size_t i) {
    return i / 4 * 4 + i % 2 * 2 + i % 4 / 2 * F32::size + word;
  });
}
inline F32 low_halves(U64 a, U64 b) { return halves<1 - upper_word>(a, b); }
inline F32 high_halves(U64 a, U64 b) { return halves<upper_word>(a, b); }
/// The upper 32 bits of each 64-bit lane, twice.
inline F32 high_halves_twice(U64 a) {
  return shuffle(cast_bits<F32>(a), cast_bits<F32>(a),
                 [](std::size_t i) { return i / 2 * 2 + upper_word; });
}

#ifdef POSENC_UNFUSED

constexpr bool fused_rounds_once = false;

inline F64 fused(F64 a, F64 b, F64 c) { return a * b + c; }
inline F64 fused_minus(F64 a, F64 b, F64 c) { return a * b - c; }
inline F32 fused(F32 a, F32 b, F32 c) { return a * b + c; }
inline F32 fused_minus(F32 a, F32 b, F32 c) { return a * b - c; }
inline F32 clamp_to_one(F32 a) { return xsimd::min(xsimd::max(a, F32(-1.0f)), F32(1.0f)); }
inline I32 magnitude(I32 a) { return (a ^ (a >> 31)) - (a >> 31); }

inline F32 pack_upper_halves(I32 a, I32 b) {
  // In memory, the half of `a` precedes the half of `b`.
  const U32 of_a = cast_bits<U32>(a), of_b = cast_bits<U32>(b);
  const U32 low = upper_word == 1 ? of_a : of_b, high = upper_word == 1 ? of_b : of_a;
  return cast_bits<F32>((low >> 16) | (high & U32(0xffff0000)));
}

inline F32 pack(I32 a, I32 b);
inline F32 pack_float16(F32 a, F32 b) { return pack(to_float16(a), to_float16(b)); }
inline F32 pack_truncated_float16(F32 a, F32 b) {
  const auto truncated = [](F32 x) {
    return to_float16(cast_bits<F32>(cast_bits<I32>(x) & I32(-1 << 13))) << 16;
  };
  return pack_upper_halves(truncated(a), truncated(b));
}

#endif

}  // namespace
}  // namespace posenc::simd
