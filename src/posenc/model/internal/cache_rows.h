// Rows of caches of cosines and sines, in every layout. Internal: not installed.
#pragma once

#include "posenc/model/rotary_cache_view.h"
#include "posenc/model/rotary_spec.h"

#include <cstdint>

namespace posenc {

/// Where the values of a cache are. The cosine of frequency k of row r is at cosines + r *
/// cosine_stride + k * step, and so is the sine.
template <class T>
struct CachePlaces {
  T* cosines;
  T* sines;
  std::int64_t cosine_stride;
  std::int64_t sine_stride;
  std::int64_t step;    ///< 1, or 2 if two values are next to each other
  std::int64_t repeat;  ///< from a value to its repetition; 0 if there is none
};

/// Of one table of cosines and sines.
template <class T>
CachePlaces<T> places_of(T* cache, std::int64_t stride, RotaryLayout layout,
                         std::int64_t pairs) noexcept {
  const bool is_interleaved = layout == RotaryLayout::interleaved;
  return {cache, cache + (is_interleaved ? 1 : pairs), stride, stride, is_interleaved ? 2 : 1, 0};
}

/// Of a table of each.
template <class T>
CachePlaces<T> places_apart(T* cosines, std::int64_t cosine_stride, T* sines,
                            std::int64_t sine_stride, Repeat repeat, std::int64_t pairs) noexcept {
  const bool is_interleaved = repeat == Repeat::interleaved;
  const std::int64_t distance = repeat == Repeat::once ? 0 : is_interleaved ? 1 : pairs;
  return {cosines, sines, cosine_stride, sine_stride, is_interleaved ? 2 : 1, distance};
}

/// Columns of a table of cosines alone.
constexpr std::int64_t columns_of(Repeat repeat, std::int64_t pairs) noexcept {
  return repeat == Repeat::once ? pairs : 2 * pairs;
}

/// Writes a row of a cache of T: float, double, Float16 or BFloat16. `values` are `pairs` cosines
/// before as many sines.
template <class T>
void write_cache_row(const CachePlaces<T>& to, std::int64_t row, std::int64_t pairs,
                     const T* values) noexcept;

/// Reads a row as float32, cosines before sines. T is float, Float16 or BFloat16.
template <class T>
void read_cache_row(const CachePlaces<const T>& from, std::int64_t row, std::int64_t pairs,
                    float* values) noexcept;

}  // namespace posenc
