// The ISA portable: vectors that the compiler translates, for every 64-bit processor.
#pragma once

#define POSENC_ISA portable
#define POSENC_UNFUSED
#define POSENC_ARCH void
#define POSENC_PORTABLE_VECTORS
#include "posenc/simd/isa/isa-inl.h"

namespace posenc::simd {
namespace {

constexpr auto sincos_kernel = nullptr;

inline F32 narrow(F64 a, F64 b) {
  using Half = xsimd::VectorOf<float, xsimd::vector_bytes / 2>::Type;
  return F32(lanes_of<F32::size>(__builtin_convertvector(a.data, Half),
                                 __builtin_convertvector(b.data, Half),
                                 [](std::size_t i) { return i; }));
}
inline F32 pack(I32 a, I32 b) {
  using Words = xsimd::Vector<std::int16_t>;
  return F32(std::bit_cast<F32::Lanes>(
      lanes_of<2 * F32::size>(std::bit_cast<Words>(a), std::bit_cast<Words>(b),
                              [](std::size_t i) { return 2 * i + 1 - upper_word; })));
}
inline bool any_bits(I32 a, I32 mask) { return xsimd::any((a & mask) != I32(0)); }
inline std::uint32_t nonzero_lanes(I32 a) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < a.size; ++i) found |= std::uint32_t{a.data[i] != 0} << i;
  return found;
}
inline void fence() noexcept {}
inline void store_non_temporal(F32 from, float* to) { from.store_unaligned(to); }
inline U64 multiply_low_halves(U64 a, U64 b) {
  const U64 low(std::uint64_t{0xffffffff});
  return (a & low) * (b & low);
}

}  // namespace
}  // namespace posenc::simd
