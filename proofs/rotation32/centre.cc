// claim: rotation32: a centre's sine or cosine, every phase
// constant: Rotation32Error.centre
// unit: 2^-24
// bound: 1.4395 1.8599
// modes: fused unfused
// source: simd/rotation32/rotation32-inl.h
// formula: const I32 folded = magnitude(shifted) - I32(1 << 30);
// formula: const F32 x = xsimd::to_float(folded) * F32(0x1p-30f);
// formula: const F32 z = x * x;
// formula: return fused(x, p, x);
//
// Evaluates the polynomial for every float that a folded phase becomes; those below 0 have the
// opposite sine. The phase is any that is rounded to this float, and since the sine increases, the
// error is the largest at an end. Phases are rounded to 2^-32 turns, from sums that are truncated
// by less than 2^-48 turns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <numbers>

namespace {

constexpr float coefficients[] = {@{centre_polynomial()}};  // the highest first

float fused(float a, float b, float c) { return @{"std::fma(a, b, c)" if fused else "a * b + c"}; }

float sine(std::int32_t folded) {
  const float x = static_cast<float>(folded) * 0x1p-30f, z = x * x;
  float p = coefficients[0];
  for (std::size_t i = 1; i < std::size(coefficients); ++i) p = fused(p, z, coefficients[i]);
  return fused(x, p, x);
}

}  // namespace

int main() {
  constexpr std::int64_t quarter = std::int64_t{1} << 30, exact = std::int64_t{1} << 24;
  double largest = 0;
  bool are_at_most_1 = true;
  for (std::int64_t folded = 0, spacing = 1; folded <= quarter; folded += spacing) {
    if (folded == spacing * exact) spacing *= 2;
    const float value = sine(static_cast<std::int32_t>(folded));
    are_at_most_1 = are_at_most_1 && value <= 1;
    const double half = folded < exact ? 0 : static_cast<double>(spacing) / 2;
    for (const double phase : {folded - half, std::min(folded + half, double{quarter})})
      largest = std::max(largest,
                         std::fabs(value - std::sin(phase * 0x1p-30 * std::numbers::pi / 2)));
  }
  const double error = largest + 2 * std::numbers::pi * (0x1p-33 + 0x1p-48) + 0x1p-50;
  std::printf("at most %.9g units of 2^-24, and values %s 1\n", error * 0x1p24,
              are_at_most_1 ? "at most" : "above");
  return are_at_most_1 && error <= @{limit} ? 0 : 1;
}
