// Anchors: sine and cosine at one position for all frequencies, from the exactly reduced phase.
#pragma once

namespace posenc::simd {
namespace {

/// A phase reduced to the nearest quarter turn: turns = quadrant / 4 + high 2^-54 + low 2^-117, high at most 2^51 in magnitude.
struct ReducedPhase {
  std::int64_t quadrant;
  double high;
  double low;
};

/// position times a 128-bit frequency modulo one turn: integers, so that nothing is lost at any position.
inline ReducedPhase reduce(std::uint64_t turns_high, std::uint64_t turns_low, std::uint64_t position) {
  __extension__ typedef unsigned __int128 uint128;
  const uint128 low_product = static_cast<uint128>(turns_low) * position;
  const std::uint64_t high = turns_high * position + static_cast<std::uint64_t>(low_product >> 64);
  const std::uint64_t low = static_cast<std::uint64_t>(low_product);
  const std::uint64_t quadrant = (high + (std::uint64_t{1} << 61)) >> 62;
  const std::int64_t rest = static_cast<std::int64_t>(high - (quadrant << 62));
  return {
      static_cast<std::int64_t>(quadrant & 3), static_cast<double>(rest >> 10),
      static_cast<double>(static_cast<std::int64_t>(((static_cast<std::uint64_t>(rest) & 1023) << 53) | (low >> 11)))};
}

/// sin and cos of x in [-pi/4, pi/4] by their Taylor series; the first term left out is below 2^-60 of the value.
inline Doubles small_sine(Doubles x, Doubles square) {
  Doubles sum(-1.0 / 1307674368000.0);  // 1 / 15!
  sum = fused(sum, square, Doubles(1.0 / 6227020800.0));
  sum = fused(sum, square, Doubles(-1.0 / 39916800.0));
  sum = fused(sum, square, Doubles(1.0 / 362880.0));
  sum = fused(sum, square, Doubles(-1.0 / 5040.0));
  sum = fused(sum, square, Doubles(1.0 / 120.0));
  sum = fused(sum, square, Doubles(-1.0 / 6.0));
  return fused(sum * square, x, x);
}

inline Doubles small_cosine(Doubles square) {
  Doubles sum(1.0 / 20922789888000.0);  // 1 / 16!
  sum = fused(sum, square, Doubles(-1.0 / 87178291200.0));
  sum = fused(sum, square, Doubles(1.0 / 479001600.0));
  sum = fused(sum, square, Doubles(-1.0 / 3628800.0));
  sum = fused(sum, square, Doubles(1.0 / 40320.0));
  sum = fused(sum, square, Doubles(-1.0 / 720.0));
  sum = fused(sum, square, Doubles(1.0 / 24.0));
  sum = fused(sum, square, Doubles(-1.0 / 2.0));
  return fused(sum, square, Doubles(1.0));
}

/// See AnchorKernel. Errors: x is rounded twice (2^-53 each, relatively), the series adds less than 2^-53 of the value: within
/// 2^-52 for the cosine, 1.5 * 2^-52 |value| for the sine.
void anchor_kernel(std::int64_t frequencies, const std::uint64_t* turns_high, const std::uint64_t* turns_low,
                   std::uint64_t position, double* sin_out, double* cos_out) noexcept {
  constexpr double two_pi = 6.283185307179586;
  constexpr double two_pi_rest = 2.4492935982947064e-16;  // 2 pi - two_pi
  for (std::int64_t k = 0; k < frequencies; k += double_lanes) {
    double high[double_lanes], low[double_lanes], swapped[double_lanes], sine_sign[double_lanes],
        cosine_sign[double_lanes];
    for (std::int64_t lane = 0; lane < double_lanes; ++lane) {
      const ReducedPhase phase = reduce(turns_high[k + lane], turns_low[k + lane], position);
      high[lane] = phase.high;
      low[lane] = phase.low;
      swapped[lane] = static_cast<double>(phase.quadrant & 1);
      sine_sign[lane] = phase.quadrant >= 2 ? -1.0 : 1.0;
      cosine_sign[lane] = phase.quadrant == 1 || phase.quadrant == 2 ? -1.0 : 1.0;
    }
    const Doubles turns = load(high);
    const Doubles rest = fused(load(low), Doubles(two_pi * 0x1p-117), turns * Doubles(two_pi_rest * 0x1p-54));
    const Doubles x = fused(turns, Doubles(two_pi * 0x1p-54), rest);
    const Doubles square = x * x;
    const Doubles sine = small_sine(x, square), cosine = small_cosine(square);
    const auto swap = load(swapped) != Doubles(0.0);
    (load(sine_sign) * xsimd::select(swap, cosine, sine)).store_unaligned(sin_out + k);
    (load(cosine_sign) * xsimd::select(swap, sine, cosine)).store_unaligned(cos_out + k);
  }
}

}  // namespace
}  // namespace posenc::simd
