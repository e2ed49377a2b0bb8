// The ISA neon64: Advanced SIMD of AArch64.
#pragma once

#define POSENC_ISA neon64
#define POSENC_ARCH xsimd::neon64
#define POSENC_OWN_SELECTION
#include "posenc/simd/isa/isa-inl.h"

namespace posenc::simd {
namespace {

constexpr bool fused_rounds_once = true;

inline F32 with_sign_of(F32 magnitude, F32 signs) {
  return F32(vbslq_f32(vdupq_n_u32(0x7fffffff), magnitude, signs));
}
inline F32 narrow(F64 a, F64 b) { return F32(vcvt_high_f32_f64(vcvt_f32_f64(a), b)); }
inline F32 pack(I32 a, I32 b) {
  return F32(vreinterpretq_f32_s16(vcombine_s16(vmovn_s32(a), vmovn_s32(b))));
}
inline F32 pack_float16(F32 a, F32 b) {
  return F32(vreinterpretq_f32_u16(
      vcombine_u16(vreinterpret_u16_f16(vcvt_f16_f32(a)), vreinterpret_u16_f16(vcvt_f16_f32(b)))));
}
inline F32 pack_upper_halves(I32 a, I32 b) {
  return F32(vreinterpretq_f32_u16(vtrn2q_u16(vreinterpretq_u16_s32(a), vreinterpretq_u16_s32(b))));
}
inline F32 pack_truncated_float16(F32 a, F32 b) {
  const auto truncated = [](F32 x) {
    const uint32x4_t kept = vandq_u32(vreinterpretq_u32_f32(x), vdupq_n_u32(~0x1fffu));
    return vreinterpret_u16_f16(vcvt_f16_f32(vreinterpretq_f32_u32(kept)));
  };
  const uint16x4_t first = truncated(a), second = truncated(b);
  return F32(
      vreinterpretq_f32_u16(vcombine_u16(vzip1_u16(first, second), vzip2_u16(first, second))));
}
inline bool any_bits(I32 a, I32 mask) {
  return vmaxvq_u32(vreinterpretq_u32_s32(vandq_s32(a, mask))) != 0;
}
inline std::uint32_t nonzero_lanes(I32 a) {
  const uint32x4_t bits = {1, 2, 4, 8};
  return vaddvq_u32(vandq_u32(vtstq_s32(a, a), bits));
}
inline F64 fused(F64 a, F64 b, F64 c) { return F64(vfmaq_f64(c, a, b)); }
inline F64 fused_minus(F64 a, F64 b, F64 c) { return F64(vfmaq_f64(vnegq_f64(c), a, b)); }
inline F32 fused(F32 a, F32 b, F32 c) { return F32(vfmaq_f32(c, a, b)); }
inline F32 fused_minus(F32 a, F32 b, F32 c) { return F32(vfmaq_f32(vnegq_f32(c), a, b)); }
inline F32 clamp_to_one(F32 a) { return xsimd::min(xsimd::max(a, F32(-1.0f)), F32(1.0f)); }
inline I32 magnitude(I32 a) { return I32(vabsq_s32(a)); }
inline void fence() noexcept {}
/// A plain store: the processor decides whether to bypass its caches.
inline void store_non_temporal(F32 from, float* to) { from.store_unaligned(to); }

inline U64 multiply_low_halves(U64 a, U64 b) { return U64(vmull_u32(vmovn_u64(a), vmovn_u64(b))); }

}  // namespace
}  // namespace posenc::simd
