#include "posenc/model/internal/cache_rows.h"

#include "posenc/simd/dispatch.h"

#include <algorithm>
#include <type_traits>

namespace posenc {
namespace {

/// to[2k] = a[k], to[2k + 1] = b[k].
template <class T>
void interleave(const T* a, const T* b, std::int64_t count, T* __restrict to) noexcept {
  for (std::int64_t k = 0; k < count; ++k) {
    to[2 * k] = a[k];
    to[2 * k + 1] = b[k];
  }
}

/// to[k] = from[k * step], as float32.
template <class T>
void read_values(const T* from, std::int64_t step, std::int64_t count, float* to) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    if (step == 1) {
      std::copy_n(from, count, to);
    } else {
      for (std::int64_t k = 0; k < count; ++k) to[k] = from[k * step];
    }
  } else {
    const auto widen = [&](const T* elements, std::int64_t number, float* wide) {
      simd::best_kernels().widen(&elements->bits, number, std::is_same_v<T, BFloat16>, wide);
    };
    if (step == 1) return widen(from, count, to);
    constexpr std::int64_t at_once = 64;
    T dense[at_once];
    for (std::int64_t begin = 0; begin < count; begin += at_once) {
      const std::int64_t number = std::min(at_once, count - begin);
      for (std::int64_t k = 0; k < number; ++k) dense[k] = from[(begin + k) * step];
      widen(dense, number, to + begin);
    }
  }
}

}  // namespace

template <class T>
void write_cache_row(const CachePlaces<T>& to, std::int64_t row, std::int64_t pairs,
                     const T* values) noexcept {
  T* const cosines = to.cosines + row * to.cosine_stride;
  T* const sines = to.sines + row * to.sine_stride;
  const T* const sine_values = values + pairs;
  if (to.step == 2 && to.repeat == 0) return interleave(values, sine_values, pairs, cosines);
  if (to.step == 2) {
    interleave(values, values, pairs, cosines);
    interleave(sine_values, sine_values, pairs, sines);
    return;
  }
  std::copy_n(values, pairs, cosines);
  std::copy_n(sine_values, pairs, sines);
  if (to.repeat == 0) return;
  std::copy_n(values, pairs, cosines + to.repeat);
  std::copy_n(sine_values, pairs, sines + to.repeat);
}

template <class T>
void read_cache_row(const CachePlaces<const T>& from, std::int64_t row, std::int64_t pairs,
                    float* values) noexcept {
  read_values(from.cosines + row * from.cosine_stride, from.step, pairs, values);
  read_values(from.sines + row * from.sine_stride, from.step, pairs, values + pairs);
}

template void write_cache_row(const CachePlaces<float>&, std::int64_t, std::int64_t,
                              const float*) noexcept;
template void write_cache_row(const CachePlaces<double>&, std::int64_t, std::int64_t,
                              const double*) noexcept;
template void write_cache_row(const CachePlaces<Float16>&, std::int64_t, std::int64_t,
                              const Float16*) noexcept;
template void write_cache_row(const CachePlaces<BFloat16>&, std::int64_t, std::int64_t,
                              const BFloat16*) noexcept;
template void read_cache_row(const CachePlaces<const float>&, std::int64_t, std::int64_t,
                             float*) noexcept;
template void read_cache_row(const CachePlaces<const Float16>&, std::int64_t, std::int64_t,
                             float*) noexcept;
template void read_cache_row(const CachePlaces<const BFloat16>&, std::int64_t, std::int64_t,
                             float*) noexcept;

}  // namespace posenc
