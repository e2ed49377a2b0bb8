// Rotary embeddings: rotates pairs of channels by the angle of their position.
//
// Method  (a, b) -> (a cos - b sin, b cos + a sin); 16-bit elements are widened, and rounded once
// Error   each product and each sum rounds once to float32, beside the error of cosine and sine
// Range   any values; any number of pairs
// Cost    four products and two sums per pair, and the conversions
//
// Source: Su et al., "RoFormer", 2021.
#pragma once

#include "posenc/model/simd/kernels.h"
#include "posenc/simd/layers/convert-inl.h"

namespace posenc::simd {
namespace {

/// The pairs of a head of T. A vector of pairs consists of two vectors of floats: first and second
/// channels.
template <class T, bool interleaved>
struct HeadPairs {
  T* x;
  std::int64_t pairs;

  Both<F32> load_pairs(std::int64_t k) const {
    if constexpr (!interleaved) return {load_wide(x + k), load_wide(x + pairs + k)};
    if constexpr (are_words) {
      const I32 words = cast_bits<I32>(load(reinterpret_cast<const float*>(x + 2 * k)));
      return {cast_bits<F32>(words << 16), cast_bits<F32>(words & I32(-1 << 16))};
    }
    const auto columns = [](F32 floats) { return cast_bits<F64>(floats); };
    const Both<F64> both =
        deinterleave(columns(load_wide(x + 2 * k)), columns(load_wide(x + 2 * k + float_lanes)));
    const U64 low = cast_bits<U64>(both.first), high = cast_bits<U64>(both.second);
    constexpr bool is_little_endian = std::endian::native == std::endian::little;
    if constexpr (is_little_endian) return {low_halves(low, high), high_halves(low, high)};
    return {high_halves(low, high), low_halves(low, high)};
  }

  void store_pairs(const Both<F32>& channels, std::int64_t k) const {
    if constexpr (!interleaved) return store_two(channels, x + k, x + pairs + k);
#ifdef POSENC_HAS_FLOAT16
    if constexpr (are_words) {
      if (!has_nan(channels.first, channels.second)) {
        const I32 first(rounded_to_bfloat16(channels.first)),
            second(rounded_to_bfloat16(channels.second));
        return store_vector<false>(pack_upper_halves(first, second), x + 2 * k);
      }
    }
#endif
    const Both<F32> in_order = interleave(channels.first, channels.second);
    store_two(in_order, x + 2 * k, x + 2 * k + float_lanes);
  }

 private:
  /// True if a pair is a 32-bit word whose halves are the upper halves of two floats.
  static constexpr bool are_words = interleaved && std::is_same_v<T, BFloat16>;
};

inline Both<F32> rotated(const Both<F32>& x, F32 cosine, F32 sine) {
  return {x.first * cosine - x.second * sine, x.second * cosine + x.first * sine};
}

/// Rotates a copy of a head that has fewer pairs than a vector.
template <class T, bool interleaved>
inline void rotate_short_head(const HeadPairs<T, interleaved>& head, const float* cosine,
                              const float* sine) {
  T part[2 * float_lanes] = {};
  float cosines[float_lanes] = {}, sines[float_lanes] = {};
  T* const second = part + (interleaved ? head.pairs : float_lanes);
  copy(head.x, head.pairs, part);
  copy(head.x + head.pairs, head.pairs, second);
  copy(cosine, head.pairs, cosines);
  copy(sine, head.pairs, sines);
  const HeadPairs<T, interleaved> whole = {part, float_lanes};
  whole.store_pairs(rotated(whole.load_pairs(0), load(cosines), load(sines)), 0);
  copy(part, head.pairs, head.x);
  copy(second, head.pairs, head.x + head.pairs);
}

/// The last vector of pairs may overlap the previous vector, so it is loaded first.
template <class T, bool interleaved>
inline void rotate_head(const HeadPairs<T, interleaved>& head, const float* cosine,
                        const float* sine) {
  const std::int64_t last = head.pairs - float_lanes;
  if (last < 0) return rotate_short_head(head, cosine, sine);
  const auto turn = [&](const Both<F32>& x, std::int64_t k) {
    head.store_pairs(rotated(x, load(cosine + k), load(sine + k)), k);
  };
  const Both<F32> of_last = head.load_pairs(last);
  for (std::int64_t k = 0; k < last; k += float_lanes) turn(head.load_pairs(k), k);
  turn(of_last, last);
}

template <class T, bool interleaved>
inline void rotate_heads(const RotateTask task) {
  const std::int64_t bytes = 2 * task.pairs * std::int64_t{sizeof(T)};
  for (std::int64_t i = 0; i < task.count; ++i) {
    // The stride of a single head may be any number, so no address is computed beyond the last
    // head.
    T* const x = static_cast<T*>(task.x) + i * task.stride;
    const float* const cosine = task.angles + i * task.angles_stride;
    if (task.ahead_bytes > 0) {
      constexpr int to_write = 1;
      const auto ahead = reinterpret_cast<std::uintptr_t>(x) + task.ahead_bytes;
      for (std::int64_t line = 0; line < bytes; line += cache_line_bytes)
        __builtin_prefetch(reinterpret_cast<const void*>(ahead + line), to_write);
    }
    rotate_head(HeadPairs<T, interleaved>{x, task.pairs}, cosine, cosine + task.pairs);
  }
}

void rotate_kernel(const RotateTask& task) noexcept {
  visit_type(task.type, [&](auto element) {
    using T = decltype(element);
    (task.interleaved ? rotate_heads<T, true> : rotate_heads<T, false>)(task);
  });
}

}  // namespace
}  // namespace posenc::simd
