// out = scale * x + encoding, in one pass over the memory.
//
// Method  a product and a sum; elements of 16 bits are widened to float32 and rounded once
//         (convert-inl.h)
// Error   every operation rounds once: the bits are those of separate operations, on every ISA
// Range   any values; any count
// Cost    limited by memory: two operations for two loads and one store
#pragma once

#include "posenc/simd/layers/convert-inl.h"

namespace posenc::simd {
namespace {

/// Takes the task by value: stores cannot alias a local copy, so that the loop reloads nothing.
template <class T, bool encoded, bool non_temporal>
inline void combine_all(const CombineTask task) {
  const T* const x = static_cast<const T*>(task.x);
  T* const out = static_cast<T*>(task.out);
  const auto one = [&](std::int64_t i) {
    const float scaled = widened(x[i]) * task.scale;
    narrow_to(encoded ? scaled + task.encoding[i] : scaled, out[i]);
  };
  std::int64_t i = 0;
  if constexpr (non_temporal) {
    for (; i < task.count && reinterpret_cast<std::uintptr_t>(out + i) % cache_line_bytes != 0; ++i)
      one(i);
  }
  const auto vector = [&](std::int64_t k) {
    const F32 scaled = load_wide(x + k) * F32(task.scale);
    return encoded ? scaled + load(task.encoding + k) : scaled;
  };
  for (; i + 2 * float_lanes <= task.count; i += 2 * float_lanes) {
    const Both<F32> values = {vector(i), vector(i + float_lanes)};
    if constexpr (non_temporal) {
      store_non_temporal(values.first, out + i);
      store_non_temporal(values.second, out + i + float_lanes);
    } else {
      store_two(values, out + i, out + i + float_lanes);
    }
  }
  for (; i < task.count; ++i) one(i);
}

/// Some elements at a time, which plain loops convert.
template <class T, bool encoded>
inline void combine_converted(const CombineTask& task) {
  constexpr std::int64_t most = 256;
  float wide[most];
  for (std::int64_t i = 0; i < task.count; i += most) {
    const std::int64_t count = task.count - i < most ? task.count - i : most;
    widen_all(static_cast<const T*>(task.x) + i, count, wide);
    combine_all<float, encoded, false>(
        {wide, encoded ? task.encoding + i : nullptr, wide, count, task.scale});
    narrow_all(wide, count, static_cast<T*>(task.out) + i);
  }
}

template <class T, bool encoded>
inline void combine_elements(const CombineTask& task) {
  if constexpr (!has_vector_conversion<T>) {
    combine_converted<T, encoded>(task);
  } else if (std::is_same_v<T, float> && task.stores != StoreMethod::plain) {
    combine_all<float, encoded, true>(task);
  } else {
    combine_all<T, encoded, false>(task);
  }
}

template <class T>
inline void combine_elements_of(const CombineTask& task) {
  (task.encoding == nullptr ? combine_elements<T, false> : combine_elements<T, true>)(task);
}

void combine_kernel(const CombineTask& task) noexcept {
  switch (task.type) {
    case DataType::bfloat16: return combine_elements_of<BFloat16>(task);
    case DataType::float16: return combine_elements_of<Float16>(task);
    default: return combine_elements_of<float>(task);
  }
}

void fence_kernel() noexcept { fence(); }

}  // namespace
}  // namespace posenc::simd
