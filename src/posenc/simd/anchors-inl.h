// Anchors: the sine and cosine of all frequencies at one position, from the exactly reduced phase.
//
// Method  a phase in integers (or two doubles), less the nearest quarter turn; polynomials
// Error   2 units of 2^-53 for a cosine; 3 units for a sine, relative to its value (RotationError)
// Range   every position up to max_position
// Cost    AVX2: 37 operations per vector of frequencies, or 68 from position 2^32 on
//
// The phase, position times frequency modulo one turn, has 128 bits, so nothing is lost at any
// position. Below position 2^32, the frequency is the sum of two doubles instead. A fused operation
// gives the distance of the first product from the nearest quarter turn, and the second product is
// added to it. The error bounds are proven (proofs/anchors).
//
// Truncation adds less than 2^-70 (RotationError::truncation). The sum of two doubles lacks at most
// 2^-104.1 of a frequency, and 2^-72.1 of a phase below position 2^32. The product with the second
// double is at most 2^-20, so its rounding error is 2^-73, and the next sum has the same rounding
// error.
//
// Source: minimax polynomials for the error of a sine divided by x^3, and for the error of a
// cosine. The first coefficients are 1 for the sine, and 1 and -1/2 for the cosine. The others are
// rounded one by one, the lowest first.
#pragma once

namespace posenc::simd {
namespace {

/// Vectors of frequencies that are evaluated together, so that their dependent operations overlap.
constexpr std::int64_t anchor_vectors = 4;
static_assert(padding % (anchor_vectors * double_lanes) == 0);

/// True if the phases at a position may be computed in doubles. This requires a position below
/// 2^32, fused operations that round once, and rounding to nearest, which a program may have
/// changed.
inline bool has_short_phases(std::uint64_t position) {
  const volatile double tiny = 0x1p-60;
  const bool rounds_to_nearest = 1.0 + tiny == 1.0 && 1.0 - tiny == 1.0;
  return fused_rounds_once && position >> 32 == 0 && rounds_to_nearest;
}

/// Phases modulo one turn, in units of 2^-128 turns: high 2^64 + low.
struct Phases {
  U64 high, low;
};

/// The phases at positions, for frequencies in units of 2^-128 turns. They are sums of products of
/// 32-bit digits, each at most 2^64 - 2^33 + 1, so no sum of the lower digits overflows.
inline Phases phases_at(U64 turns_high, U64 turns_low, U64 position) {
  const U64 low_digit(0xffffffff), first = position & low_digit, second = position >> 32;
  const U64 digit_1 = turns_low >> 32, digit_3 = turns_high >> 32;
  const U64 bits_0 = multiply_low_halves(turns_low, first),
            product = multiply_low_halves(turns_low, second);
  const U64 bits_32 = multiply_low_halves(digit_1, first) + (bits_0 >> 32) + (product & low_digit);
  const U64 bits_64 = multiply_low_halves(turns_high, first) + (product >> 32) +
                      multiply_low_halves(digit_1, second);
  const U64 bits_96 = multiply_low_halves(digit_3, first) + multiply_low_halves(turns_high, second);
  return {bits_64 + (bits_32 >> 32) + (bits_96 << 32), (bits_32 << 32) | (bits_0 & low_digit)};
}

/// Converts integers below 2^52 to doubles and subtracts `offset`. No ISA below AVX-512 converts
/// 64-bit integers.
inline F64 to_doubles(U64 integers, double offset) {
  return cast_bits<F64>(integers | U64(0x4330000000000000)) - F64(0x1p52 + offset);
}

/// A phase as a number of quarter turns, and the angle from the nearest quarter turn in radians.
struct ReducedPhases {
  U64 quarters;  ///< the number of quarter turns, in the upper two bits
  F64 angle;
};

inline ReducedPhases reduce(const Phases& phases) {
  constexpr double two_pi = 6.283185307179586, two_pi_rest = 2.4492935982947064e-16;
  const U64 biased = phases.high + U64(std::uint64_t{1} << 61);
  const U64 in_quarter = biased & U64(~std::uint64_t{0} >> 2);
  // The angle is high 2^-54 + low 2^-106 turns, |high| at most 2^51.
  const F64 high = to_doubles(in_quarter >> 10, 0x1p51);
  const F64 low = to_doubles(((in_quarter & U64(1023)) << 42) | (phases.low >> 22), 0);
  const F64 rest = fused(low, F64(two_pi * 0x1p-106), high * F64(two_pi_rest * 0x1p-54));
  return {biased, fused(high, F64(two_pi * 0x1p-54), rest)};
}

/// The reduced phase of a frequency that is the sum of two doubles. See has_short_phases().
inline ReducedPhases reduced_product(F64 quarter_turns, F64 rest, F64 position) {
  constexpr double quarter = 1.5707963267948966, quarter_rest = 6.123233995736766e-17;  // pi / 2
  const F64 to_integer(0x1.8p52);  // an ulp of this is 1
  const F64 biased = fused(position, quarter_turns, to_integer);
  const F64 distance = fused_minus(position, quarter_turns, biased - to_integer);
  const F64 lacking = fused(distance, F64(quarter_rest), position * rest);
  return {cast_bits<U64>(biased) << 62, fused(distance, F64(quarter), lacking)};
}

/// Rotates sine and cosine by the number of quarter turns in the upper two bits of `quarters`.
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

/// sin and cos of x in [-pi/4, pi/4] by polynomials of degree 13 and 14.
template <std::size_t n>
[[gnu::always_inline]] inline void sincos_polynomials(const F64 (&x)[n], F64 (&sine)[n],
                                                      F64 (&cosine)[n]) {
  constexpr double terms[][2] = {{0x1.5e121be8e3d82p-33, -0x1.8fb13161a42f5p-37},  // x^13, x^14
                                 {-0x1.ae6022b9fa7d3p-26, 0x1.1ee9f15332100p-29},
                                 {0x1.71de37b3aba47p-19, -0x1.27e4f812b712ep-22},
                                 {-0x1.a01a019ea2df2p-13, 0x1.a01a019cbf630p-16},
                                 {0x1.1111111110c8bp-7, -0x1.6c16c16c1521fp-10},
                                 {-0x1.5555555555555p-3, 0x1.555555555554cp-5}};
  F64 square[n];
  for (std::size_t i = 0; i < n; ++i) {
    square[i] = x[i] * x[i];
    sine[i] = F64(terms[0][0]);
    cosine[i] = F64(terms[0][1]);
  }
  for (std::size_t term = 1; term < std::size(terms); ++term) {
    for (std::size_t i = 0; i < n; ++i) {
      sine[i] = fused(sine[i], square[i], F64(terms[term][0]));
      cosine[i] = fused(cosine[i], square[i], F64(terms[term][1]));
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    sine[i] = fused(sine[i] * square[i], x[i], x[i]);
    cosine[i] = fused(fused(cosine[i], square[i], F64(-1.0 / 2.0)), square[i], F64(1.0));
  }
}

/// Sines and cosines of anchor_vectors vectors of phases, times `scale`.
[[gnu::always_inline]] inline void evaluate(const ReducedPhases (&phases)[anchor_vectors],
                                            double scale, double* sin_out, double* cos_out) {
  F64 angles[anchor_vectors], sine[anchor_vectors], cosine[anchor_vectors];
  for (std::int64_t i = 0; i < anchor_vectors; ++i) angles[i] = phases[i].angle;
  sincos_polynomials(angles, sine, cosine);
  for (std::int64_t i = 0; i < anchor_vectors; ++i) {
    turn(phases[i].quarters, sine[i], cosine[i]);
    (sine[i] * F64(scale)).store_unaligned(sin_out + i * double_lanes);
    (cosine[i] * F64(scale)).store_unaligned(cos_out + i * double_lanes);
  }
}

/// Sines and cosines of all frequencies at a position, times `scale`.
template <bool is_short>
inline void write_all_anchors(std::int64_t frequencies, const FrequencyArrays& w,
                              std::uint64_t position, double scale, double* sin_out,
                              double* cos_out) {
  const auto phases_from = [&](std::int64_t k) {
    if constexpr (is_short) {
      return reduced_product(load(w.quarter_turns + k), load(w.rest + k),
                             F64(static_cast<double>(position)));
    } else {
      return reduce(phases_at(U64::load_unaligned(w.turns_high + k),
                              U64::load_unaligned(w.turns_low + k), U64(position)));
    }
  };
  for (std::int64_t k = 0; k < frequencies; k += anchor_vectors * double_lanes) {
    ReducedPhases phases[anchor_vectors];
    for (std::int64_t i = 0; i < anchor_vectors; ++i) phases[i] = phases_from(k + i * double_lanes);
    evaluate(phases, scale, sin_out + k, cos_out + k);
  }
}

/// See Kernels::anchors. `scale` is a power of two.
inline void scaled_anchors(std::int64_t frequencies, const FrequencyArrays& w,
                           std::uint64_t position, double scale, double* sin_out, double* cos_out) {
  const auto write =
      has_short_phases(position) ? write_all_anchors<fused_rounds_once> : write_all_anchors<false>;
  write(frequencies, w, position, scale, sin_out, cos_out);
}

/// Computes sines and cosines at a position, times `scale`. Padding is 1, which is far from a
/// midpoint.
inline void set_anchors(const RotationTables& tables, std::int64_t begin, std::int64_t used,
                        std::int64_t size, std::int64_t position, double scale, double* sine,
                        double* cosine) {
  scaled_anchors(size, tables.w.from(begin), static_cast<std::uint64_t>(position), scale, sine,
                 cosine);
  for (std::int64_t k = used; k < size; ++k) sine[k] = scale;
}

/// Rotates sines and cosines by angles.
inline void rotate(const AngleArrays& by, std::int64_t size, double* sine, double* cosine) {
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    const F64 s = load(sine + k), c = load(cosine + k);
    const F64 cos_a = load(by.cosine + k), sin_a = load(by.sine + k);
    fused(s, cos_a, c * sin_a).store_unaligned(sine + k);
    fused_minus(c, cos_a, s * sin_a).store_unaligned(cosine + k);
  }
}

/// See Kernels::anchors. Files that only test the parts above do not use it.
[[maybe_unused]] void anchor_kernel(std::int64_t frequencies, const FrequencyArrays& w,
                                    std::uint64_t position, double* sin_out,
                                    double* cos_out) noexcept {
  scaled_anchors(frequencies, w, position, 1.0, sin_out, cos_out);
}

/// See Kernels::angles. Angles are added in double, row after row, and each row is rounded to
/// float. Beside half an ulp of float32, the error is below 2^-46. An addition rounds two products
/// and a sum, each within 2^-54, in both components. The angle that is added and the first angle
/// have the error of anchors, 3 * 2^-53. In total, 15 sqrt(2) 3 2^-54 + 16 * 3 * 2^-53 is
/// 40 * 2^-52.
[[maybe_unused]] void angle_kernel(std::int64_t frequencies, const AngleArrays& first,
                                   const AngleArrays& step, const AngleRows& rows) noexcept {
  float* columns = rows.columns;
  for (std::int64_t k = 0; k < frequencies; k += float_lanes, columns += rows.vector_stride) {
    F64 s[2], c[2], sin_step[2], cos_step[2];
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::int64_t at = k + i * double_lanes;
      s[i] = load(first.sine + at);
      c[i] = load(first.cosine + at);
      sin_step[i] = load(step.sine + at);
      cos_step[i] = load(step.cosine + at);
    }
    for (std::int64_t j = 0; j < paired_block_rows / 2; ++j) {
      float* const out = columns + j * rows.row_stride;
      const F32 cosine = narrow(c[0], c[1]), sine = narrow(s[0], s[1]);
      if (rows.sine_after == 0) {
        const Both<F32> pairs = interleave(cosine, sine);
        pairs.first.store_unaligned(out);
        pairs.second.store_unaligned(out + float_lanes);
      } else {
        cosine.store_unaligned(out);
        sine.store_unaligned(out + rows.sine_after);
      }
      for (std::int64_t i = 0; i < 2; ++i) {
        const F64 sine_of_row = s[i];
        s[i] = sine_of_row * cos_step[i] + c[i] * sin_step[i];
        c[i] = c[i] * cos_step[i] - sine_of_row * sin_step[i];
      }
    }
  }
}

}  // namespace
}  // namespace posenc::simd
