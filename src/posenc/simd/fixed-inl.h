// rotation, to float64: sines, cosines and angle additions in about 80 bits.
//
// Method. A value is the sum of a high part, a multiple of 2^-26, and a low part of at most 2^-27.
// Products of high parts, and sums of two of these products, are exact in double, with or without
// fused operations. Only operations on low parts round.
//
// Error bound: see rotation64-inl.h.
//
// Valid range: values up to 1 in magnitude; angles up to pi / 4.
//
// Source: the Taylor series of sine and cosine on [-pi/4, pi/4].
#pragma once

namespace posenc::simd {
namespace {

/// high, a multiple of 2^-26 up to 1, plus low, at most 2^-27.
struct Fixed {
  F64 high;
  F64 low;
};

/// high + low as a Fixed, if high is a multiple of 2^-52 below 2, and low is below 2^-24.
inline Fixed split(F64 high, F64 low) {
  const F64 magic(0x1.8p26);  // its last bit weighs 2^-26
  const F64 multiple = ((high + low) + magic) - magic;
  return {multiple, (high - multiple) + low};
}

/// high + low, of which high is exact.
struct Sum {
  F64 high;
  F64 low;
};

struct FixedPair {
  Fixed sine;
  Fixed cosine;
};

/// Sine of the sum of two angles.
inline Sum rotated_sine(const FixedPair& of, const FixedPair& by) {
  const F64 high = fused(of.sine.high, by.cosine.high, of.cosine.high * by.sine.high);
  F64 low = of.sine.high * by.cosine.low;
  low = fused(of.sine.low, by.cosine.high + by.cosine.low, low);
  low = fused(of.cosine.high, by.sine.low, low);
  low = fused(of.cosine.low, by.sine.high + by.sine.low, low);
  return {high, low};
}

/// Cosine of the sum of two angles.
inline Sum rotated_cosine(const FixedPair& of, const FixedPair& by) {
  const F64 high = fused_minus(of.cosine.high, by.cosine.high, of.sine.high * by.sine.high);
  F64 minus_low = of.sine.high * by.sine.low;
  minus_low = fused(of.sine.low, by.sine.high + by.sine.low, minus_low);
  const F64 low = fused_minus(of.cosine.high, by.cosine.low, minus_low);
  return {high, fused(of.cosine.low, by.cosine.high + by.cosine.low, low)};
}

inline Fixed split(const Sum& sum) { return split(sum.high, sum.low); }

/// a * b + c.
inline Fixed multiply_add(const Fixed& a, const Fixed& b, const Fixed& c) {
  const F64 low = fused(a.high, b.low, fused(a.low, b.high + b.low, c.low));
  return split(fused(a.high, b.high, c.high), low);
}

inline Fixed constant(double high, double low) { return {F64(high), F64(low)}; }

/// Sine and cosine of an angle up to pi / 4 by their Taylor series. The first omitted terms are
/// below 2^-82. A coefficient is Fixed if its rounding to double would exceed the error bound.
inline FixedPair small_sincos(const Fixed& x) {
  const Fixed square = multiply_add(x, x, constant(0, 0));
  const F64 z = square.high + square.low;

  F64 tail(1.0 / 51090942171709440000.0);  // 1 / 21!
  tail = fused(tail, z, F64(-1.0 / 121645100408832000.0));
  tail = fused(tail, z, F64(1.0 / 355687428096000.0));
  tail = fused(tail, z, F64(-1.0 / 1307674368000.0));
  tail = fused(tail, z, F64(1.0 / 6227020800.0));
  tail = fused(tail, z, F64(-1.0 / 39916800.0));
  Fixed sine = split(F64(0.0), tail);
  sine = multiply_add(sine, square, constant(0x1.72p-19, -0x1.0e2d549c66383p-30));     // 1 / 9!
  sine = multiply_add(sine, square, constant(-0x1.a018p-13, -0x1.00d00d00d00dp-28));   // -1 / 7!
  sine = multiply_add(sine, square, constant(0x1.11112p-7, -0x1.ddddddddddddep-28));   // 1 / 5!
  sine = multiply_add(sine, square, constant(-0x1.555556p-3, 0x1.5555555555555p-28));  // -1 / 3!
  sine = multiply_add(multiply_add(sine, square, constant(0, 0)), x, x);

  tail = F64(-1.0 / 1124000727777607680000.0);  // -1 / 22!
  tail = fused(tail, z, F64(1.0 / 2432902008176640000.0));
  tail = fused(tail, z, F64(-1.0 / 6402373705728000.0));
  tail = fused(tail, z, F64(1.0 / 20922789888000.0));
  tail = fused(tail, z, F64(-1.0 / 87178291200.0));
  tail = fused(tail, z, F64(1.0 / 479001600.0));
  Fixed cosine = split(F64(0.0), tail);
  cosine = multiply_add(cosine, square, constant(-0x1.2p-22, -0x1.f93edde27d71dp-28));  // -1 / 10!
  cosine = multiply_add(cosine, square, constant(0x1.ap-16, 0x1.a01a01a01a01ap-28));    // 1 / 8!
  cosine = multiply_add(cosine, square, constant(-0x1.6c17p-10, 0x1.f49f49f49f49fp-29));  // -1 / 6!
  cosine = multiply_add(cosine, square, constant(0x1.555558p-5, -0x1.5555555555555p-28));  // 1 / 4!
  cosine = multiply_add(cosine, square, constant(-0.5, 0));
  cosine = multiply_add(cosine, square, constant(1, 0));
  return {sine, cosine};
}

}  // namespace
}  // namespace posenc::simd
