// out = scale * x + encoding, in one pass over the memory.
//
// Method  a product and a sum; 16-bit elements are widened and rounded once (convert-inl.h)
// Error   every operation rounds once: the bits equal the bits of separate operations, on every ISA
// Range   any values; any count
// Cost    limited by memory: two operations for two loads and one store
#pragma once

#include "posenc/simd/layers/convert-inl.h"

namespace posenc::simd {
namespace {

/// Takes the task by value: stores cannot alias a local copy, so that the loop reloads nothing.
template <class T, bool encoded, bool non_temporal>
inline void combine_all(const CombineTask task) {
  constexpr std::int64_t step = 2 * float_lanes;
  const auto combine = [&](const T* x, const float* encoding, T* out) {
    const auto sum = [&](std::int64_t k) {
      const F32 scaled = load_wide(x + k) * F32(task.scale);
      return encoded ? scaled + load(encoding + k) : scaled;
    };
    const Both<F32> values = {sum(0), sum(float_lanes)};
    if constexpr (non_temporal) {
      store_non_temporal(values.first, out);
      store_non_temporal(values.second, out + float_lanes);
    } else {
      store_two(values, out, out + float_lanes);
    }
  };
  const T* const x = static_cast<const T*>(task.x);
  T* const out = static_cast<T*>(task.out);
  std::int64_t i = 0;
  for (; i + step <= task.count; i += step)
    combine(x + i, encoded ? task.encoding + i : nullptr, out + i);
  if (i == task.count) return;
  T x_rest[step] = {}, out_rest[step];
  float encoding_rest[step] = {};
  copy(x + i, task.count - i, x_rest);
  if constexpr (encoded) copy(task.encoding + i, task.count - i, encoding_rest);
  combine(x_rest, encoding_rest, out_rest);
  copy(out_rest, task.count - i, out + i);
}

void combine_kernel(const CombineTask& task) noexcept {
  const bool encoded = task.encoding != nullptr;
  visit_type(task.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, float>) {
      if (task.stores != StoreMethod::plain)
        return encoded ? combine_all<T, true, true>(task) : combine_all<T, false, true>(task);
    }
    encoded ? combine_all<T, true, false>(task) : combine_all<T, false, false>(task);
  });
}

}  // namespace
}  // namespace posenc::simd
