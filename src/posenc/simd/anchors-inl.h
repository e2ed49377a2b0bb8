// Anchors: sine and cosine at one position for all frequencies, from the exactly reduced phase.
//
// Method. The phase, position times frequency modulo one turn, is computed in integers of 128 bits,
// so that nothing is lost at any position. It is reduced to the nearest quarter turn and converted
// to radians in double. Taylor series give sine and cosine, which the quarter swaps and negates.
//
// Error bound (RotationError::anchor_cosine and anchor_sine in error_bounds.h), in units of 2^-53:
// x has the errors of two roundings, each at most half an ulp, together at most 1 because |x| < 1,
// and at most 2 |x|. The series of a sine adds half an ulp for the last rounding, at most 0.5; 0.15
// for those before it; and the first omitted term, x^17 / 17!, at most 0.42. At pi/4 this is 0.71 +
// 0.5 + 0.15 + 0.42 = 1.78. The series of a cosine adds 0.5, 0.5 and 0.02, in all at most 0.71
// + 1.02 = 1.73. The error is therefore below 2 absolutely. Relative to a sine it is below 3: below
// pi/6, x adds 2 x / tan(x), the last rounding 1 and the rest less than x^2; above it, x adds at
// most cos(x) / sin(x) <= 1.74, the last rounding at most 0.5 / sin(x) <= 1, and the rest at most
// 0.2 / sin(x) if x < 0.75, or 0.57 / sin(x).
//
// Valid range: every position up to max_position.
//
// Source: the Taylor series of sine and cosine on [-pi/4, pi/4].
#pragma once

namespace posenc::simd {
namespace {

constexpr std::int64_t most_phases = 64;

/// Phases modulo one turn, in units of 2^-128 turns: high 2^64 + low. All are stored before the
/// first is read: loading a vector right after storing its lanes one by one misses store
/// forwarding.
struct Phases {
  std::uint64_t high[most_phases];
  std::uint64_t low[most_phases];

  /// The phases at a position for frequencies in units of 2^-128 turns. Frequency k goes to
  /// place(k).
  template <class Place>
  Phases(std::int64_t count, const std::uint64_t* turns_high, const std::uint64_t* turns_low,
         std::uint64_t position, const Place& place) {
    for (std::int64_t k = 0; k < count; ++k) {
      __extension__ typedef unsigned __int128 uint128;
      const uint128 low_product = static_cast<uint128>(turns_low[k]) * position;
      high[place(k)] = turns_high[k] * position + static_cast<std::uint64_t>(low_product >> 64);
      low[place(k)] = static_cast<std::uint64_t>(low_product);
    }
  }
};

/// Integers below 2^52, minus `offset`, as doubles. No ISA below AVX-512 converts 64-bit integers.
inline F64 to_doubles(U64 integers, double offset) {
  return cast_bits<F64>(integers | U64(0x4330000000000000)) - F64(0x1p52 + offset);
}

/// A phase as a number of quarter turns and the distance from the nearest of them, which is
/// high 2^-54 + low 2^-106 turns; |high| is at most 2^51.
struct ReducedPhases {
  U64 quarters;  ///< number of quarter turns, in the upper two bits
  F64 high;
  F64 low;
};

inline ReducedPhases reduce(U64 high, U64 low) {
  const U64 biased = high + U64(std::uint64_t{1} << 61);
  const U64 in_quarter = biased & U64(~std::uint64_t{0} >> 2);
  return {biased, to_doubles(in_quarter >> 10, 0x1p51),
          to_doubles(((in_quarter & U64(1023)) << 42) | (low >> 22), 0)};
}

/// Turns sine and cosine by a number of quarter turns, which is in the upper two bits of
/// `quarters`.
inline void turn(U64 quarters, F64& sine, F64& cosine) {
  const auto bits = [](F64 x) { return cast_bits<U64>(x); };
  const U64 sign(std::uint64_t{1} << 63);
  const U64 differ = (bits(sine) ^ bits(cosine)) &
                     (U64(std::uint64_t{0}) - ((quarters << 1) >> 63));  // an odd number swaps
  const U64 sine_sign = quarters & sign,
            cosine_sign = (quarters + U64(std::uint64_t{1} << 62)) & sign;
  sine = cast_bits<F64>(bits(sine) ^ differ ^ sine_sign);
  cosine = cast_bits<F64>(bits(cosine) ^ differ ^ cosine_sign);
}

/// sin and cos of x in [-pi/4, pi/4] by their Taylor series. The first omitted terms, x^17 / 17!
/// and x^18 / 18!, are below 2^-54 and 2^-58.
inline F64 small_sine(F64 x, F64 square) {
  F64 sum(-1.0 / 1307674368000.0);  // 1 / 15!
  sum = fused(sum, square, F64(1.0 / 6227020800.0));
  sum = fused(sum, square, F64(-1.0 / 39916800.0));
  sum = fused(sum, square, F64(1.0 / 362880.0));
  sum = fused(sum, square, F64(-1.0 / 5040.0));
  sum = fused(sum, square, F64(1.0 / 120.0));
  sum = fused(sum, square, F64(-1.0 / 6.0));
  return fused(sum * square, x, x);
}

inline F64 small_cosine(F64 square) {
  F64 sum(1.0 / 20922789888000.0);  // 1 / 16!
  sum = fused(sum, square, F64(-1.0 / 87178291200.0));
  sum = fused(sum, square, F64(1.0 / 479001600.0));
  sum = fused(sum, square, F64(-1.0 / 3628800.0));
  sum = fused(sum, square, F64(1.0 / 40320.0));
  sum = fused(sum, square, F64(-1.0 / 720.0));
  sum = fused(sum, square, F64(1.0 / 24.0));
  sum = fused(sum, square, F64(-1.0 / 2.0));
  return fused(sum, square, F64(1.0));
}

/// See AnchorKernel.
void anchor_kernel(std::int64_t frequencies, const std::uint64_t* turns_high,
                   const std::uint64_t* turns_low, std::uint64_t position, double* sin_out,
                   double* cos_out) noexcept {
  constexpr double two_pi = 6.283185307179586;
  constexpr double two_pi_rest = 2.4492935982947064e-16;  // 2 pi - two_pi
  for (std::int64_t begin = 0; begin < frequencies; begin += most_phases) {
    const std::int64_t count =
        frequencies - begin < most_phases ? frequencies - begin : most_phases;
    const Phases phases(count, turns_high + begin, turns_low + begin, position,
                        [](std::int64_t k) { return k; });
    for (std::int64_t k = 0; k < count; k += double_lanes) {
      const ReducedPhases phase =
          reduce(U64::load_unaligned(phases.high + k), U64::load_unaligned(phases.low + k));
      const F64 rest =
          fused(phase.low, F64(two_pi * 0x1p-106), phase.high * F64(two_pi_rest * 0x1p-54));
      const F64 x = fused(phase.high, F64(two_pi * 0x1p-54), rest);
      const F64 square = x * x;
      F64 sine = small_sine(x, square), cosine = small_cosine(square);
      turn(phase.quarters, sine, cosine);
      sine.store_unaligned(sin_out + begin + k);
      cosine.store_unaligned(cos_out + begin + k);
    }
  }
}

}  // namespace
}  // namespace posenc::simd
