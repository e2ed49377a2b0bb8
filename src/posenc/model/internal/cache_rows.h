// Rows of caches of cosines and sines, in every layout. Internal: not installed.
#pragma once

#include "posenc/model/rotary.h"
#include "posenc/simd/dispatch.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace posenc {

/// The columns of a row that have the values of frequency k: those from `first` + k * step on,
/// where `first` is 0 for cosines, and for sines unless one table has both.
struct CacheLayout {
  std::int64_t columns;     ///< of a table
  std::int64_t step;        ///< 1, or 2 if two values are next to each other
  std::int64_t repeat;      ///< from a value to its repetition; 0 if there is none
  std::int64_t first_sine;  ///< column
};

/// Of one table of cosines and sines.
constexpr CacheLayout layout_of(RotaryLayout layout, std::int64_t pairs) noexcept {
  const bool is_interleaved = layout == RotaryLayout::interleaved;
  return {2 * pairs, is_interleaved ? 2 : 1, 0, is_interleaved ? 1 : pairs};
}

/// Of a table of each.
constexpr CacheLayout layout_of(Repeat repeat, std::int64_t pairs) noexcept {
  if (repeat == Repeat::once) return {pairs, 1, 0, 0};
  const bool is_interleaved = repeat == Repeat::interleaved;
  return {2 * pairs, is_interleaved ? 2 : 1, is_interleaved ? 1 : pairs, 0};
}

/// Where the values of a cache of the type T are in memory.
template <class T>
struct CachePlaces : CacheLayout {
  /// View is an InputView or an OutputView.
  template <class View>
  CachePlaces(const View& of_cosines, const View& of_sines, const CacheLayout& layout) noexcept
      : CacheLayout(layout),
        cosines(static_cast<T*>(of_cosines.data)),
        sines(static_cast<T*>(of_sines.data) + layout.first_sine),
        cosine_stride(of_cosines.stride),
        sine_stride(of_sines.stride) {}

  T* cosines;
  T* sines;
  std::int64_t cosine_stride;
  std::int64_t sine_stride;
};

/// to[2k] = convert(a[k]), to[2k + 1] = convert(b[k]).
template <class T, class Entry, class Convert>
void interleave(const Entry* a, const Entry* b, std::int64_t count, const Convert& convert,
                T* __restrict to) noexcept {
  for (std::int64_t k = 0; k < count; ++k) {
    const T first = convert(a[k]), second = convert(b[k]);
    to[2 * k] = first;
    to[2 * k + 1] = second;
  }
}

/// Writes a row of the values convert(entries[i]), cosines before sines.
template <class T, class Entry, class Convert>
void write_cache_row(const CachePlaces<T>& to, std::int64_t row, std::int64_t pairs,
                     const Entry* entries, const Convert& convert) noexcept {
  T* const cosines = to.cosines + row * to.cosine_stride;
  T* const sines = to.sines + row * to.sine_stride;
  if (to.step == 1) {
    if constexpr (std::is_same_v<Convert, std::identity>) {  // in vectors of the best ISA
      std::copy_n(entries, pairs, cosines);
      std::copy_n(entries + pairs, pairs, sines);
    } else {
      std::transform(entries, entries + pairs, cosines, convert);
      std::transform(entries + pairs, entries + 2 * pairs, sines, convert);
    }
    if (to.repeat == 0) return;
    std::copy_n(cosines, pairs, cosines + to.repeat);
    std::copy_n(sines, pairs, sines + to.repeat);
  } else if (to.repeat == 0) {
    interleave(entries, entries + pairs, pairs, convert, cosines);
  } else {
    interleave(entries, entries, pairs, convert, cosines);
    interleave(entries + pairs, entries + pairs, pairs, convert, sines);
  }
}

/// to[k] = from[k * step], as float32. T is float, Float16 or BFloat16.
template <class T>
void read_values(const T* from, std::int64_t step, std::int64_t count, float* to) noexcept {
  constexpr std::int64_t at_once = 64;
  T dense[at_once];
  for (std::int64_t begin = 0, number = 0; begin < count; begin += number) {
    number = step == 1 ? count : std::min(at_once, count - begin);
    const T* values = from + begin;
    if (step != 1) {
      for (std::int64_t k = 0; k < number; ++k) dense[k] = from[(begin + k) * step];
      values = dense;
    }
    if constexpr (std::is_same_v<T, float>) {
      std::copy_n(values, number, to + begin);
    } else {
      simd::best_kernels().widen(&values->bits, number, std::is_same_v<T, BFloat16>, to + begin);
    }
  }
}

/// Reads a row as float32, cosines before sines.
template <class T>
void read_cache_row(const CachePlaces<const T>& from, std::int64_t row, std::int64_t pairs,
                    float* values) noexcept {
  read_values(from.cosines + row * from.cosine_stride, from.step, pairs, values);
  read_values(from.sines + row * from.sine_stride, from.step, pairs, values + pairs);
}

}  // namespace posenc
