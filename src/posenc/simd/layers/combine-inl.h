// out = dropout(scale * x + encoding), in one pass over the memory.
//
// Method  a product, a sum, a product with dropout's scale, and a mask (dropout-inl.h)
// Error   every operation rounds once: the bits are those of separate operations, on every ISA
// Range   any values; any count
// Cost    limited by memory: at most three operations and a mask for two loads and one store
#pragma once

#include "posenc/simd/layers/dropout-inl.h"

namespace posenc::simd {
namespace {

/// Combines one vector, or one float.
template <bool encoded, bool masked, class Value>
inline Value combined(Value x, Value scale, Value encoding, Value keep_scale) {
  Value value = x * scale;
  if constexpr (encoded) value = value + encoding;
  if constexpr (masked) value = value * keep_scale;
  return value;
}

/// Takes the task by value: stores cannot alias a local copy, so that the loop reloads nothing.
template <bool encoded, bool masked, bool non_temporal>
inline void combine_all(const CombineTask task, const std::uint8_t* keep) {
  const float keep_scale = masked ? task.dropout->scale : 1.0f;
  const auto one = [&](std::int64_t i) {
    const float encoding = encoded ? task.encoding[i] : 0.0f;
    const float value = combined<encoded, masked>(task.x[i], task.scale, encoding, keep_scale);
    task.out[i] = !masked || keep[i] != 0 ? value : 0.0f;
  };
  std::int64_t i = 0;
  if constexpr (non_temporal) {
    for (; i < task.count && reinterpret_cast<std::uintptr_t>(task.out + i) % cache_line_bytes != 0;
         ++i)
      one(i);
  }
  for (; i + float_lanes <= task.count; i += float_lanes) {
    const F32 encoding = encoded ? load(task.encoding + i) : F32(0.0f);
    F32 value =
        combined<encoded, masked>(load(task.x + i), F32(task.scale), encoding, F32(keep_scale));
    if constexpr (masked) value = value & wide_mask(keep + i);
    if constexpr (non_temporal) {
      store_non_temporal(value, task.out + i);
    } else {
      value.store_unaligned(task.out + i);
    }
  }
  for (; i < task.count; ++i) one(i);
}

template <bool encoded, bool masked>
inline void combine_part(const CombineTask& task, const std::uint8_t* keep) {
  (task.non_temporal ? combine_all<encoded, masked, true>
                     : combine_all<encoded, masked, false>)(task, keep);
}

template <bool encoded>
inline void combine_masked(const CombineTask& task) {
  Mask mask;
  CombineTask part = task;
  for (std::int64_t left = task.count; left > 0; left -= part.count) {
    const std::int64_t most = Mask::may_hold(part.first_element);
    part.count = left < most ? left : most;
    const MaskedInput input(part.x, part.encoding);
    const std::uint8_t* const keep =
        mask.fill(*part.dropout, part.first_element, part.count, input);
    combine_part<encoded, true>(part, keep);
    part.x += part.count;
    if constexpr (encoded) part.encoding += part.count;
    part.out += part.count;
    part.first_element += static_cast<std::uint64_t>(part.count);
  }
}

void combine_kernel(const CombineTask& task) noexcept {
  const bool encoded = task.encoding != nullptr;
  if (task.dropout != nullptr) {
    (encoded ? combine_masked<true> : combine_masked<false>)(task);
  } else {
    (encoded ? combine_part<true, false> : combine_part<false, false>)(task, nullptr);
  }
}

void fence_kernel() noexcept { fence(); }

}  // namespace
}  // namespace posenc::simd
