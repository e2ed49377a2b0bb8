#include "posenc/layers/rotary.h"

#include "posenc/layers/internal/checks.h"
#include "posenc/simd/dispatch.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/scratch.h"

#include <algorithm>
#include <atomic>
#include <type_traits>

namespace posenc {
namespace {

constexpr std::int64_t rows_at_once = 64;

/// Selects for any position, and for tables of rows_at_once rows, which stay in cache.
SelectedEncoder plan(std::int64_t dimension, double base, const Accuracy& accuracy,
                     const FrequencyRule& frequencies) {
  EncodingSpec spec = {.d_model = dimension,
                       .base = base,
                       .layout = Layout::halves_cos_first,
                       .frequencies = frequencies};
  validate(spec);
  if (attention_factor(frequencies) == 0) {
    throw InvalidArgument("attention_factor is 0, not given; allowed: greater than 0, 1 for none");
  }
  spec.frequencies = without_attention_factor(frequencies);
  const ShapeClass shape = shape_class(table_bytes(spec, rows_at_once, sizeof(float)));
  return plan_selected(spec, {0, max_position + 1}, {.accuracy = accuracy, .shape = shape});
}

/// Columns of the cosine and the sine of frequency k.
struct CosineSine {
  std::int64_t cosine, sine;
};

CosineSine places(RotaryLayout layout, std::int64_t k, std::int64_t half) noexcept {
  if (layout == RotaryLayout::interleaved) return {2 * k, 2 * k + 1};
  return {k, half + k};
}

template <class T>
void check_cache(RowRange rows, std::int64_t dimension, const MatrixView<T>& cache) {
  if (cache.rows < rows.count) {
    throw InvalidArgument(
        format_text("cache has {} rows; allowed: at least {}", cache.rows, rows.count));
  }
  if (cache.columns != dimension) {
    throw InvalidArgument(
        format_text("cache has {} columns; allowed: the dimension, {}", cache.columns, dimension));
  }
  // The checks of strides and memory count elements, so that the type of an element does not
  // matter.
  check_matrix("cache", {reinterpret_cast<const float*>(cache.data), rows.count, cache.columns,
                         cache.stride});
}

void check_heads(const AnySequences& x, std::int64_t dimension, int threads) {
  check_threads(threads);
  if (x.columns < dimension) {
    throw InvalidArgument(
        format_text("x has {} columns; allowed: at least the dimension, {}", x.columns, dimension));
  }
  check_sequences("x", x, x.columns);
}

/// Turns row `row` of every head by `angles`, cosines before sines. 16-bit elements are turned in
/// `wide`, which holds as many floats as there are angles.
template <class T>
void rotate_row(const SequenceView<T>& x, std::int64_t row, RotaryLayout channels,
                const float* angles, std::int64_t pairs, [[maybe_unused]] float* wide) noexcept {
  const simd::Kernels& kernels = simd::best_kernels();
  const auto rotate = [&](float* channels_of_head) {
    kernels.rotate(angles, angles + pairs, pairs, channels == RotaryLayout::interleaved,
                   channels_of_head);
  };
  for (std::int64_t head = 0; head < x.batch; ++head) {
    T* const data = x.data + head * x.batch_stride + row * x.row_stride;
    if constexpr (std::is_same_v<T, float>) {
      rotate(data);
    } else {
      constexpr bool is_bfloat16 = std::is_same_v<T, BFloat16>;
      auto* const bits = reinterpret_cast<std::uint16_t*>(data);
      kernels.widen(bits, 2 * pairs, is_bfloat16, wide);
      rotate(wide);
      kernels.narrow(wide, 2 * pairs, is_bfloat16, bits);
    }
  }
}

float widened(float value) noexcept { return value; }
float widened(Float16 value) noexcept { return static_cast<float>(to_double(value)); }
float widened(BFloat16 value) noexcept { return static_cast<float>(to_double(value)); }

/// Distributes rows to threads, each with separate scratch memory: calls work(begin, end, scratch).
template <class Work>
void parallel_for_with_scratch(std::int64_t rows, int threads, std::int64_t floats,
                               const Work& work) {
  float* const memory = scratch(std::min<std::int64_t>(threads, rows) * floats);
  std::atomic<std::int64_t> parts_begun = 0;
  parallel_for(rows, threads, [&](std::int64_t begin, std::int64_t end) {
    work(begin, end, memory + parts_begun.fetch_add(1) * floats);
  });
}

template <class Cached, class T>
void apply_cache(const MatrixView<const Cached>& cache, RotaryLayout layout, RotaryLayout channels,
                 std::int64_t dimension, const SequenceView<T>& x, int threads) {
  check_heads(x, dimension, threads);
  check_cache({0, x.rows}, dimension, cache);
  if (x.batch == 0 || x.rows == 0) return;
  const std::int64_t half = dimension / 2;
  parallel_for_with_scratch(x.rows, threads, 2 * dimension,
                            [&](std::int64_t begin, std::int64_t end, float* angles) {
                              for (std::int64_t row = begin; row < end; ++row) {
                                const Cached* const cached = cache.data + row * cache.stride;
                                for (std::int64_t k = 0; k < half; ++k) {
                                  const CosineSine place = places(layout, k, half);
                                  angles[k] = widened(cached[place.cosine]);
                                  angles[half + k] = widened(cached[place.sine]);
                                }
                                rotate_row(x, row, channels, angles, half, angles + dimension);
                              }
                            });
}

/// An entry times the attention factor, rounded once.
template <class T>
T scaled(float entry, double factor) noexcept {
  return nearest<T>(static_cast<double>(entry) * factor);
}

/// Calls work(row, angles, spare) for each row, with its float32 cosines before its sines, and
/// memory for as many floats.
template <class Work>
void for_each_row(const Encoder& encoder, RowRange rows, int threads, const Work& work) {
  const std::int64_t columns = encoder.spec().d_model, step = std::min(rows_at_once, rows.count);
  parallel_for_with_scratch(rows.count, threads, (step + 1) * columns,
                            [&](std::int64_t begin, std::int64_t end, float* angles) {
                              for (std::int64_t row = begin; row < end; row += step) {
                                const std::int64_t count = std::min(step, end - row);
                                encoder.encode({.first = rows.first + row, .count = count},
                                               {angles, count, columns, columns},
                                               {1, StorePolicy::cached});
                                for (std::int64_t r = 0; r < count; ++r) {
                                  work(row + r, angles + r * columns, angles + step * columns);
                                }
                              }
                            });
}

template <class T>
void fill_scaled_cache(const Encoder& encoder, double factor, RowRange rows, RotaryLayout layout,
                       const MatrixView<T>& out, int threads) {
  const std::int64_t half = encoder.spec().d_model / 2;
  for_each_row(encoder, rows, threads, [&](std::int64_t row, const float* angles, float*) {
    T* const cached = out.data + row * out.stride;
    for (std::int64_t k = 0; k < half; ++k) {
      const CosineSine place = places(layout, k, half);
      cached[place.cosine] = scaled<T>(angles[k], factor);
      cached[place.sine] = scaled<T>(angles[half + k], factor);
    }
  });
}

/// The encoder writes halves, cosines first. For an interleaved cache, each row is then interleaved
/// in place.
template <class T>
void fill_cache(const Encoder& encoder, double factor, RowRange rows, RotaryLayout layout,
                const MatrixView<T>& out, const EncodeOptions& options) {
  validate(rows);
  check_threads(options.threads);
  const std::int64_t dimension = encoder.spec().d_model, half = dimension / 2;
  check_cache(rows, dimension, out);
  if (rows.count == 0) return;
  if (factor != 1) return fill_scaled_cache(encoder, factor, rows, layout, out, options.threads);
  BasicMatrix<T> halves(
      layout == RotaryLayout::interleaved ? std::min<std::int64_t>(options.threads, rows.count) : 0,
      dimension);
  encoder.encode(rows, out, options);
  if (layout == RotaryLayout::halves) return;
  std::atomic<std::int64_t> parts_begun = 0;
  parallel_for(rows.count, options.threads, [&](std::int64_t begin, std::int64_t end) {
    T* const own = halves.data() + parts_begun.fetch_add(1) * dimension;
    for (std::int64_t row = begin; row < end; ++row) {
      T* const cached = out.data + row * out.stride;
      std::copy_n(cached, dimension, own);
      for (std::int64_t k = 0; k < half; ++k) {
        cached[2 * k] = own[k];
        cached[2 * k + 1] = own[half + k];
      }
    }
  });
}

template <class T>
void apply_angles(const Encoder& encoder, double factor, RotaryLayout channels,
                  const SequenceView<T>& x, std::int64_t first, int threads) {
  const std::int64_t dimension = encoder.spec().d_model;
  check_heads(x, dimension, threads);
  validate(RowRange{first, x.rows});
  if (x.batch == 0 || x.rows == 0) return;
  for_each_row(encoder, {first, x.rows}, threads,
               [&](std::int64_t row, float* angles, float* spare) {
                 if (factor != 1) {
                   for (std::int64_t i = 0; i < dimension; ++i) {
                     angles[i] = scaled<float>(angles[i], factor);
                   }
                 }
                 rotate_row(x, row, channels, angles, dimension / 2, spare);
               });
}

}  // namespace

Rotary::Rotary(std::int64_t dimension, double base, RotaryLayout channels, const Accuracy& accuracy,
               const FrequencyRule& frequencies)
    : selected_(plan(dimension, base, accuracy, frequencies)),
      channels_(channels),
      attention_factor_(posenc::attention_factor(frequencies)) {}

void Rotary::cache(RowRange rows, RotaryLayout layout, MatrixView<float> out,
                   EncodeOptions options) const {
  fill_cache(*selected_.encoder, attention_factor_, rows, layout, out, options);
}

void Rotary::cache(RowRange rows, RotaryLayout layout, MatrixView<Float16> out,
                   EncodeOptions options) const {
  fill_cache(*selected_.encoder, attention_factor_, rows, layout, out, options);
}

void Rotary::cache(RowRange rows, RotaryLayout layout, MatrixView<BFloat16> out,
                   EncodeOptions options) const {
  fill_cache(*selected_.encoder, attention_factor_, rows, layout, out, options);
}

void Rotary::apply(const SequenceView<float>& x, std::int64_t first, EncodeOptions options) const {
  apply_angles(*selected_.encoder, attention_factor_, channels_, x, first, options.threads);
}

void Rotary::apply(const SequenceView<Float16>& x, std::int64_t first,
                   EncodeOptions options) const {
  apply_angles(*selected_.encoder, attention_factor_, channels_, x, first, options.threads);
}

void Rotary::apply(const SequenceView<BFloat16>& x, std::int64_t first,
                   EncodeOptions options) const {
  apply_angles(*selected_.encoder, attention_factor_, channels_, x, first, options.threads);
}

void Rotary::apply(MatrixView<const float> cache, RotaryLayout layout, const SequenceView<float>& x,
                   EncodeOptions options) const {
  apply_cache(cache, layout, channels_, dimension(), x, options.threads);
}

void Rotary::apply(MatrixView<const Float16> cache, RotaryLayout layout,
                   const SequenceView<float>& x, EncodeOptions options) const {
  apply_cache(cache, layout, channels_, dimension(), x, options.threads);
}

void Rotary::apply(MatrixView<const BFloat16> cache, RotaryLayout layout,
                   const SequenceView<float>& x, EncodeOptions options) const {
  apply_cache(cache, layout, channels_, dimension(), x, options.threads);
}

void Rotary::apply(MatrixView<const Float16> cache, RotaryLayout layout,
                   const SequenceView<Float16>& x, EncodeOptions options) const {
  apply_cache(cache, layout, channels_, dimension(), x, options.threads);
}

void Rotary::apply(MatrixView<const BFloat16> cache, RotaryLayout layout,
                   const SequenceView<BFloat16>& x, EncodeOptions options) const {
  apply_cache(cache, layout, channels_, dimension(), x, options.threads);
}

}  // namespace posenc
