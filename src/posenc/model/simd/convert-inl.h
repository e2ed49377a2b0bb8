// Converts runs of 16-bit elements to float32 and back, for layers that compute in float32.
//
// Method  simd/layers/convert-inl.h, which also has the error, the range and the cost
#pragma once

#include "posenc/model/simd/kernels.h"
#include "posenc/simd/layers/convert-inl.h"

namespace posenc::simd {
namespace {

/// Calls convert(from, to) for every `step` elements. The last elements are converted in copies.
template <std::int64_t step, class From, class To, class Convert>
inline void convert_all(const From* from, std::int64_t count, To* to, const Convert& convert) {
  std::int64_t i = 0;
  for (; i + step <= count; i += step) convert(from + i, to + i);
  From last_from[step] = {};
  To last_to[step];
  copy(from + i, count - i, last_from);
  convert(last_from, last_to);
  copy(last_to, count - i, to + i);
}

void widen_kernel(const std::uint16_t* from, std::int64_t count, bool is_bfloat16,
                  float* to) noexcept {
  const auto widen = [&](auto type) {
    convert_all<float_lanes>(from, count, to, [=](const std::uint16_t* some, float* wide) {
      widened(load_words(some), type).store_unaligned(wide);
    });
  };
  is_bfloat16 ? widen(BFloat16()) : widen(Float16());
}

void narrow_kernel(const float* from, std::int64_t count, bool is_bfloat16,
                   std::uint16_t* to) noexcept {
  const auto narrow = [&](auto type) {
    convert_all<2 * float_lanes>(from, count, to, [=](const float* wide, std::uint16_t* out) {
      const I32 first = narrowed(load(wide), type),
                second = narrowed(load(wide + float_lanes), type);
      store_halves(pack(first, second), out, out + float_lanes);
    });
  };
  is_bfloat16 ? narrow(BFloat16()) : narrow(Float16());
}

}  // namespace
}  // namespace posenc::simd
