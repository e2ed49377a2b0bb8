// rotation, to float64: sines, cosines and angle additions in about 80 bits.
//
// Method. A value is the sum of a high part, a multiple of 2^-26, and a low part of at most 2^-27.
// Products of high parts, and sums of two of these products, are exact in double, with or without
// fused operations. Only operations on low parts round.
//
// Error bound: see rotation_to_float64-inl.h.
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
inline Fixed to_fixed(F64 high, F64 low) {
  const F64 magic(0x1.8p26);  // its last bit weighs 2^-26
  const F64 multiple = ((high + low) + magic) - magic;
  return {multiple, (high - multiple) + low};
}

struct FixedPair {
  Fixed sine;
  Fixed cosine;
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

/// A polynomial in z, whose terms begin with the highest, in double.
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

/// Sines and cosines of angles up to pi / 4 by their Taylor series: the terms to 1 / 21! and 1 /
/// 22!. The first omitted ones are below 2^-82. A coefficient is Fixed if its rounding to double
/// would exceed the error bound.
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

}  // namespace
}  // namespace posenc::simd
