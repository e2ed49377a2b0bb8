// rotation: rounds the values of the recurrence to float32, and anchors to 16-bit types.
//
// Method  half of the dropped part is added; sign and bits 29 to 59 of the double are the float
// Error   correctly rounded: a value too near a midpoint is uncertain, and recomputed in integers
// Range   the range of rotation; the backend writes position 0, where every sine would be uncertain
// Cost    AVX2: 32 floats take 8 + 20 + 12 + 16 operations: recurrence, rounding, sign, margin
//
// The recurrence runs on values times a power of two that puts the exponent of the element type
// into the low bits of the double's exponent: 2^-896 for float32. The low 29 bits of the double
// hold the distance of the value from the midpoint between two floats. Shifts and shuffles turn two
// vectors of doubles into a vector of floats and a vector of distances. They run on every port, but
// conversions run on one. A value is certain if its distance exceeds its error (RotationError).
#pragma once

namespace posenc::simd {
namespace {

/// The error of a value, in units of 2^-53 times the bound M of its column.
constexpr float error_in_units = static_cast<float>(RotationError{fused_rounds_once}.total());
/// The error of a row of anchors: one unit more than its bound, because the bound of a sine is
/// relative.
constexpr float anchor_error_in_units = static_cast<float>(RotationError::anchor + 1);

/// a < b for unsigned integers. Most ISAs do not compare unsigned integers, but have their maximum.
inline auto is_below(U32 a, U32 b) { return xsimd::max(a, b) != a; }

/// The margin says how far the values of a column are from the nearest midpoint between floats. The
/// tile's minimum shows whether any entry must be recomputed. ISAs with fused operations also have
/// a minimum of unsigned integers. On these ISAs, the margin is the bits of distance * value +
/// threshold. Uncertain entries then lie between 0 and twice the threshold: as unsigned integers,
/// negative floats are larger than positive ones. This takes two operations, not three.
using FloatMargin = std::conditional_t<fused_rounds_once, U32, F32>;

template <class RoundingMargin>
inline RoundingMargin margin_of(F32 distance, F32 magnitude, F32 threshold) {
  if constexpr (std::is_same_v<RoundingMargin, U32>) {
    return cast_bits<U32>(fused(distance, magnitude, threshold));
  } else {
    return xsimd::abs(distance * magnitude);
  }
}

/// Rounds two vectors of deinterleaved doubles, times value_scale, to one vector of elements in the
/// order of the columns. An entry is certain if its margin exceeds the threshold, which follows
/// from the bound M of its column.
struct RoundToFloat32 {
  using Element = float;
  using Value = F32;
  using Threshold = F32;
  using RoundingMargin = FloatMargin;

  static constexpr bool adds = false;
  static constexpr double value_scale = 0x1p-896;

  /// A value is at least |distance * value| 2^-56 away from the midpoint. This distance has to
  /// exceed the error, error_in_units M u. The factor 1.0001 covers the rounding of the product.
  static Threshold threshold(F32 bound) {
    return fused(bound, F32(8.0f * error_in_units * 1.0001f),
                 F32(static_cast<float>(RotationError::truncation * 0x1p56)));
  }

  static Value round(F64 a, F64 b, Threshold threshold, RoundingMargin& least) {
    const U64 half(std::uint64_t{1} << 28);
    const U64 a_bits = cast_bits<U64>(a), b_bits = cast_bits<U64>(b);
    const U64 a_shifted = (a_bits + half) << 3, b_shifted = (b_bits + half) << 3;
    const F32 magnitude = high_halves(a_shifted, b_shifted);
    const I32 distance = cast_bits<I32>(low_halves(a_shifted, b_shifted));
    least = xsimd::min(least,
                       margin_of<RoundingMargin>(xsimd::to_float(distance), magnitude, threshold));
    return with_sign_of(magnitude, high_halves(a_bits, b_bits));
  }

  static RoundingMargin largest_margin() {
    return RoundingMargin(std::numeric_limits<RoundingMargin::value_type>::max());
  }
  static auto is_uncertain(U32 least, Threshold threshold) {
    return is_below(least, cast_bits<U32>(threshold + threshold));
  }
  static auto is_uncertain(F32 least, Threshold threshold) { return least < threshold; }
};

/// Rounds as RoundToFloat32 does; segment-inl.h then adds the values to an input.
struct AddFloat32 : RoundToFloat32 {
  static constexpr bool adds = true;
};

/// Rounds anchors to a 16-bit type in the same way. The shift moves the exponent to the top of a
/// 32-bit word, below the sign. The word's upper half is then the rounded value, and its lower half
/// is the distance to the midpoint, in units of 2^-16 ulp. If a value is at least as large as its
/// threshold, this unit exceeds the error. So an entry is uncertain if its distance is one of the
/// two around the midpoint, or if the entry is below the threshold: one entry in 2^15.
template <class T, int scale_exponent, int shift>
struct RoundTo16Bits {
  using Element = T;
  using Value = I32;

  static constexpr double value_scale =
      std::bit_cast<double>(std::uint64_t{1023 + scale_exponent} << 52);

  /// The upper half of the least double that is normal in T and of which one unit of the distance
  /// exceeds the error.
  using Threshold = U32;
  static Threshold threshold(F32 bound) {
    // A unit of the distance is at least 2^-24 of the value: a value of 2^-19 M is large enough.
    static_assert(error_in_units * 0x1p-53 < 0x1p-19 * 0x1p-24);
    constexpr float least_normal = std::is_same_v<T, Float16> ? 0x1p-14f : 0.0f;
    const F32 least = xsimd::max(fused(bound, F32(0x1p-19f), F32(0x1p-44f)), F32(least_normal));
    const I32 upper_half =
        (cast_bits<I32>(least) >> 3) + I32((1023 - 127 + scale_exponent) * (1 << 20));
    return cast_bits<U32>(upper_half);
  }

  struct RoundingMargin {
    U32 distance;
    U32 magnitude;
  };

  static Value round(F64 a, F64 b, Threshold, RoundingMargin& least) {
    // Half of the dropped part, and one unit of the distance. The uncertain distances are then 0
    // and 1. This rounds distance 0 up, so it must be corrected.
    constexpr std::uint64_t unit = std::uint64_t{1} << (32 - shift);
    const U64 half((std::uint64_t{1} << (47 - shift)) + unit);
    const U64 a_bits = cast_bits<U64>(a), b_bits = cast_bits<U64>(b);
    const auto words = [](F32 x) { return cast_bits<I32>(x); };
    const I32 rounded = words(high_halves((a_bits + half) << shift, (b_bits + half) << shift));
    const I32 upper_half = words(high_halves(a_bits, b_bits));
    const I32 magnitude = upper_half & I32(0x7fffffff);
    least.distance = xsimd::min(least.distance, cast_bits<U32>(rounded << 16));
    least.magnitude = xsimd::min(least.magnitude, cast_bits<U32>(magnitude));
    return (rounded | (upper_half ^ magnitude)) >> 16;
  }

  static RoundingMargin largest_margin() {
    const U32 most(std::numeric_limits<std::uint32_t>::max());
    return {most, most};
  }
  static auto is_uncertain(const RoundingMargin& least, Threshold threshold) {
    return is_below(least.distance, U32(2 << 16)) || is_below(least.magnitude, threshold);
  }
};

using RoundToBFloat16 = RoundTo16Bits<BFloat16, -896, 3>;
using RoundToFloat16 = RoundTo16Bits<Float16, -944, 6>;

}  // namespace
}  // namespace posenc::simd
