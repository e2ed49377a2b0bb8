// rotation, to float64: sines, cosines and angle additions in about 80 bits.
//
// Method  a value is a multiple of 2^-26 and a low part; a sine is a Taylor series, or an addition
// Error   2 units of 2^-76 for an anchor, 1 for an addition: docs/how-it-works.md derives them
// Range   values up to 1 in magnitude; angles up to pi / 4; every position up to max_position
// Cost    26 operations to rotate a sine and a cosine; about 140 for the series of both
//
// Products of high parts, and sums of two of these products, are exact in double, with or without
// fused operations. Only operations on low parts round.
#pragma once

#include "posenc/simd/anchors-inl.h"

namespace posenc::simd {
namespace {

/// The sum of high, a multiple of 2^-26 up to 1, and low, at most 2^-27.
struct Fixed {
  F64 high, low;
};

/// high + low as a Fixed. `high` must be a multiple of 2^-52 below 2, and `low` must be below
/// 2^-24.
inline Fixed to_fixed(F64 high, F64 low) {
  const F64 magic(0x1.8p26);  // its last bit weighs 2^-26
  const F64 multiple = ((high + low) + magic) - magic;
  return {multiple, (high - multiple) + low};
}

struct FixedPair {
  Fixed sine, cosine;
};

/// The low part of a * b, whose high part is a.high * b.high. b_value is b as a double.
inline F64 low_product(const Fixed& a, const Fixed& b, F64 b_value) {
  return fused(a.high, b.low, a.low * b_value);
}

/// a * b + c.
inline Fixed multiply_add(const Fixed& a, const Fixed& b, const Fixed& c) {
  const F64 low = fused(a.high, b.low, fused(a.low, b.high + b.low, c.low));
  return to_fixed(fused(a.high, b.high, c.high), low);
}

inline Fixed constant(double high, double low) { return {F64(high), F64(low)}; }

/// a[i] * b[i] + c.
template <std::size_t n>
[[gnu::always_inline]] inline void multiply_add(Fixed (&a)[n], const Fixed (&b)[n],
                                                const Fixed& c) {
  for (std::size_t i = 0; i < n; ++i) a[i] = multiply_add(a[i], b[i], c);
}

/// Evaluates a polynomial in z in double. The terms begin with the highest.
template <std::size_t n, std::size_t terms>
[[gnu::always_inline]] inline void evaluate_tail(const F64 (&z)[n], const double (&term)[terms],
                                                 Fixed (&value)[n]) {
  F64 tail[n];
  for (std::size_t i = 0; i < n; ++i) tail[i] = F64(term[0]);
  for (std::size_t t = 1; t < terms; ++t) {
    for (std::size_t i = 0; i < n; ++i) tail[i] = fused(tail[i], z[i], F64(term[t]));
  }
  for (std::size_t i = 0; i < n; ++i) value[i] = to_fixed(F64(0.0), tail[i]);
}

/// Sines and cosines of angles up to pi / 4 by their Taylor series. The first omitted terms are
/// below 2^-82. A coefficient is Fixed if its rounding to double would exceed the error bound.
template <std::size_t n>
[[gnu::always_inline]] inline void small_sincos(const Fixed (&x)[n], FixedPair (&out)[n]) {
  const Fixed zero = constant(0, 0);
  Fixed square[n], sine[n], cosine[n];
  F64 z[n];
  for (std::size_t i = 0; i < n; ++i) {
    square[i] = multiply_add(x[i], x[i], zero);
    z[i] = square[i].high + square[i].low;
  }
  constexpr double sine_tail[] = {1.0 / 51090942171709440000.0, -1.0 / 121645100408832000.0,
                                  1.0 / 355687428096000.0,      -1.0 / 1307674368000.0,
                                  1.0 / 6227020800.0,           -1.0 / 39916800.0};
  constexpr double cosine_tail[] = {
      -1.0 / 1124000727777607680000.0, 1.0 / 2432902008176640000.0, -1.0 / 6402373705728000.0,
      1.0 / 20922789888000.0,          -1.0 / 87178291200.0,        1.0 / 479001600.0};
  evaluate_tail(z, sine_tail, sine);
  evaluate_tail(z, cosine_tail, cosine);
  multiply_add(sine, square, constant(0x1.72p-19, -0x1.0e2d549c66383p-30));       // 1 / 9!
  multiply_add(cosine, square, constant(-0x1.2p-22, -0x1.f93edde27d71dp-28));     // -1 / 10!
  multiply_add(sine, square, constant(-0x1.a018p-13, -0x1.00d00d00d00dp-28));     // -1 / 7!
  multiply_add(cosine, square, constant(0x1.ap-16, 0x1.a01a01a01a01ap-28));       // 1 / 8!
  multiply_add(sine, square, constant(0x1.11112p-7, -0x1.ddddddddddddep-28));     // 1 / 5!
  multiply_add(cosine, square, constant(-0x1.6c17p-10, 0x1.f49f49f49f49fp-29));   // -1 / 6!
  multiply_add(sine, square, constant(-0x1.555556p-3, 0x1.5555555555555p-28));    // -1 / 3!
  multiply_add(cosine, square, constant(0x1.555558p-5, -0x1.5555555555555p-28));  // 1 / 4!
  multiply_add(sine, square, zero);
  multiply_add(cosine, square, constant(-0.5, 0));
  multiply_add(cosine, square, constant(1, 0));
  for (std::size_t i = 0; i < n; ++i) out[i] = {multiply_add(sine[i], x[i], x[i]), cosine[i]};
}

constexpr std::int64_t fixed_panel = 32;  ///< frequencies of a panel

/// Sines and cosines of up to fixed_panel frequencies as Fixed.
struct FixedPairs {
  double sine_high[fixed_panel], sine_low[fixed_panel], cosine_high[fixed_panel],
      cosine_low[fixed_panel];

  FixedPair at(std::int64_t k) const {
    return {{load(sine_high + k), load(sine_low + k)},
            {load(cosine_high + k), load(cosine_low + k)}};
  }
  void set(std::int64_t k, const FixedPair& both) {
    both.sine.high.store_unaligned(sine_high + k);
    both.sine.low.store_unaligned(sine_low + k);
    both.cosine.high.store_unaligned(cosine_high + k);
    both.cosine.low.store_unaligned(cosine_low + k);
  }
};

/// The place of frequency k in FixedPairs, from which deinterleave_pairs() interleaves columns.
template <bool interleaved>
constexpr std::int64_t fixed_place(std::int64_t k) {
  constexpr std::int64_t half = double_lanes / 2;
  const std::int64_t lane = k % double_lanes;
  return interleaved ? k - lane + (lane < half ? 2 * lane : 2 * (lane - half) + 1) : k;
}

/// The angle of a phase from the nearest quarter turn. The phase is modulo one turn, in units of
/// 2^-128 turns: high 2^64 + low. Sets the upper two bits of `quarters` to the number of quarter
/// turns.
inline Fixed reduce(U64 phase_high, U64 phase_low, U64& quarters) {
  // The angle is high 2^-28 + low 2^-80 turns, high at most 2^25 in magnitude.
  quarters = phase_high + U64(std::uint64_t{1} << 61);
  const U64 in_quarter = quarters & U64(~std::uint64_t{0} >> 2);
  const F64 turns = to_doubles(in_quarter >> 36, 0x1p25) * F64(0x1p-28);
  const U64 tail = ((in_quarter & U64(0xfffffffff)) << 16) | (phase_low >> 48);
  // 2 pi is the sum of a multiple of 2^-23 with 26 bits, and `rest`.
  const F64 two_pi(0x1.921fb58p+2), rest(-0x1.dde973dcb3b3ap-25);
  return to_fixed(turns * two_pi,
                  fused(to_doubles(tail, 0), F64(6.283185307179586 * 0x1p-80), turns * rest));
}

/// Vectors that are evaluated together, so that their dependent operations overlap.
constexpr std::int64_t fixed_anchor_vectors = 2;
static_assert(fixed_panel % (fixed_anchor_vectors * double_lanes) == 0);

/// The pairs of the frequencies begin .. begin + size - 1 at one position.
template <bool interleaved>
inline void set_fixed_anchors(const RotationTables& tables, std::int64_t begin, std::int64_t size,
                              std::uint64_t position, FixedPairs& pairs) {
  // All lanes are stored before the first vector is read: a load right after the stores of its
  // lanes misses store forwarding.
  std::uint64_t high[fixed_panel], low[fixed_panel];
  const FrequencyArrays w = tables.w.from(begin);
  for (std::int64_t k = 0; k < size; ++k) {
    __extension__ typedef unsigned __int128 uint128;
    const uint128 low_product = static_cast<uint128>(w.turns_low[k]) * position;
    const std::int64_t at = fixed_place<interleaved>(k);
    high[at] = w.turns_high[k] * position + static_cast<std::uint64_t>(low_product >> 64);
    low[at] = static_cast<std::uint64_t>(low_product);
  }
  for (std::int64_t k = 0; k < size; k += fixed_anchor_vectors * double_lanes) {
    U64 quarters[fixed_anchor_vectors];
    Fixed angles[fixed_anchor_vectors];
    FixedPair both[fixed_anchor_vectors];
    for (std::int64_t i = 0; i < fixed_anchor_vectors; ++i) {
      const std::int64_t at = k + i * double_lanes;
      angles[i] =
          reduce(U64::load_unaligned(high + at), U64::load_unaligned(low + at), quarters[i]);
    }
    small_sincos(angles, both);
    for (std::int64_t i = 0; i < fixed_anchor_vectors; ++i) {
      turn(quarters[i], both[i].sine.high, both[i].cosine.high);
      turn(quarters[i], both[i].sine.low, both[i].cosine.low);
      pairs.set(k + i * double_lanes, both[i]);
    }
  }
}

/// out = pairs, rotated by the angles of `by`. out may be pairs.
inline void rotate(const FixedPairs& pairs, const FixedPairs& by, std::int64_t size,
                   FixedPairs& out) {
  for (std::int64_t k = 0; k < size; k += double_lanes) {
    const FixedPair of = pairs.at(k), with = by.at(k);
    const F64 sine = with.sine.high + with.sine.low, cosine = with.cosine.high + with.cosine.low;
    const F64 sine_low =
        low_product(of.sine, with.cosine, cosine) + low_product(of.cosine, with.sine, sine);
    const F64 cosine_low =
        low_product(of.cosine, with.cosine, cosine) - low_product(of.sine, with.sine, sine);
    out.set(
        k,
        {to_fixed(fused(of.sine.high, with.cosine.high, of.cosine.high * with.sine.high), sine_low),
         to_fixed(fused_minus(of.cosine.high, with.cosine.high, of.sine.high * with.sine.high),
                  cosine_low)});
  }
}

/// Sets the pairs of the frequencies begin .. end - 1 to constants.
template <bool interleaved>
inline void fill(std::int64_t begin, std::int64_t end, double sine, double cosine,
                 FixedPairs& pairs) {
  for (std::int64_t k = begin; k < end; ++k) {
    const std::int64_t at = fixed_place<interleaved>(k);
    pairs.sine_high[at] = sine;
    pairs.cosine_high[at] = cosine;
    pairs.sine_low[at] = pairs.cosine_low[at] = 0.0;
  }
}

/// Fills by[n] with the cosine and sine of n w for n = 0 .. rows, by angle addition of powers of
/// two.
template <bool interleaved>
inline void fill_rows(const RotationTables& tables, std::int64_t begin, std::int64_t size,
                      std::int64_t rows, FixedPairs* by) {
  fill<interleaved>(0, size, 0.0, 1.0, by[0]);
  for (std::int64_t n = 1; n <= rows; ++n) {
    const std::int64_t last_power = n & -n, others = n - last_power;
    if (others == 0) {
      set_fixed_anchors<interleaved>(tables, begin, size, static_cast<std::uint64_t>(n), by[n]);
    } else {
      rotate(by[others], by[last_power], size, by[n]);
    }
  }
}

}  // namespace
}  // namespace posenc::simd
