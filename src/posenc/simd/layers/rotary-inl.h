// Rotary embeddings: turns pairs of channels by the angle of their position.
//
// Method  (a, b) -> (a cos - b sin, b cos + a sin), in plain loops that the compiler vectorises
// Error   each product and each sum rounds once to float32, beside the error of cosine and sine
// Range   any values; any number of pairs
// Cost    four products and two sums a pair
//
// Source: Su et al., "RoFormer", 2021.
#pragma once

namespace posenc::simd {
namespace {

template <bool interleaved>
inline void rotate_pairs(const float* __restrict cosine, const float* __restrict sine,
                         std::int64_t pairs, float* __restrict x) {
  constexpr std::int64_t step = interleaved ? 2 : 1;
  const std::int64_t other = interleaved ? 1 : pairs;
  for (std::int64_t k = 0; k < pairs; ++k) {
    const float a = x[step * k], b = x[step * k + other];
    x[step * k] = a * cosine[k] - b * sine[k];
    x[step * k + other] = b * cosine[k] + a * sine[k];
  }
}

void rotate_kernel(const float* cosine, const float* sine, std::int64_t pairs, bool interleaved,
                   float* x) noexcept {
  (interleaved ? rotate_pairs<true> : rotate_pairs<false>)(cosine, sine, pairs, x);
}

}  // namespace
}  // namespace posenc::simd
