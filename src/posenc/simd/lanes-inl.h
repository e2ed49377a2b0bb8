// The vectors of one ISA under short names, and the operations on them that xsimd has no name for.
// Each ISA defines these in a file of its own, lanes_<isa>.h, which the last line includes:
//
// narrow        two vectors of doubles rounded to one of floats, in order
// interleave    a0 b0 a1 b1 ...
// fused, fused_minus   a b + c and a b - c; one rounding if fused_rounds_once
// stream        a non-temporal store, to an address aligned to the vector; other threads see it
// after a
//               fence
//
// Two vectors of doubles are the columns of one vector of floats. The rotation holds them
// deinterleaved out: of each 128 bits of floats the first two columns stand in the first vector and
// the others in the second, so that their halves meet within 128 bits, which is cheap. deinterleave
// consecutive columns, deinterleaved interleave    a0 b0 a1 b1 ..., deinterleaved low_halves,
// high_halves   the halves of deinterleaved 64-bit lanes, in the order of the columns pack_float16
// two vectors of floats as the nearest 16-bit ones, in order pack          the low 16 bits of two
// vectors of words (which are what int16 can hold), in order
//
// For dropout:
// multiply_low_halves   the full product of the low words of each 64-bit lane
// compare_bytes        compares byte_lanes bytes at `from` with a threshold: stores all ones where
// a byte
//                      is at least that, else 0, and returns a set bit for each byte that equals
//                      it, flag_step bits apart
// wide_mask            the bytes of one vector of floats, each widened to its 32 bits
//
// fused_rounds_once    if the ISA has fused operations (xsimd calls a product and a sum fma without
// them) has_word_minimum     if the minimum of unsigned words is one instruction
#pragma once

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

/// The bits of a vector as another one's. The template argument of xsimd's bitwise_cast is the
/// batch before version 11, and its element since.
template <class To, class From>
inline To cast_bits(const From& from) {
#if XSIMD_VERSION_MAJOR >= 11
  return xsimd::bitwise_cast<typename To::value_type>(from);
#else
  return xsimd::bitwise_cast<To>(from);
#endif
}

/// The nearest 16-bit floats, in the low half of each word, for ISAs without an instruction for
/// them. Below 2^-14 they are multiples of 2^-24, which adding 1/2 rounds to.
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
template <class Batch>
struct Both {
  Batch first;
  Batch second;
};

}  // namespace
}  // namespace posenc::simd

#include POSENC_LANES
