#include "posenc/model/rotary.h"

#include "posenc/model/axes/rows.h"
#include "posenc/model/internal/cache_rows.h"
#include "posenc/model/internal/rotary_checks.h"
#include "posenc/model/internal/turn_heads.h"
#include "posenc/support/check.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace posenc {
namespace {

/// Rows whose angles are computed at once: they stay in the L2 cache, and are enough to be worth
/// the tables of positions on several axes.
constexpr std::int64_t most_rows_at_once = 512;

std::int64_t rows_at_once(std::int64_t columns, std::int64_t rows) noexcept {
  constexpr std::int64_t most_values = 65536;
  return std::min(std::clamp<std::int64_t>(most_values / columns, 1, most_rows_at_once), rows);
}

AxesSpec cosines_first(AxesSpec angles) {
  angles.layout = Layout::halves_cos_first;
  angles.parts_have_layouts = false;
  return angles;
}

// ---- Caches -------------------------------------------------------------------------------------

/// Distributes rows to threads in blocks, each thread with memory of its own: calls work(begin,
/// count, memory), where memory holds `columns` elements of T for each of the rows, and for `spare`
/// rows more. A row is the work of `elements` elements.
template <class T, class Work>
void for_each_block(std::int64_t rows, std::int64_t elements, int threads, std::int64_t columns,
                    std::int64_t spare, const Work& work) {
  if (rows == 0) return;
  const std::int64_t step = rows_at_once(columns, rows);
  constexpr std::int64_t floats_of_element = (sizeof(T) + sizeof(float) - 1) / sizeof(float);
  detail::WorkerMemory memory((step + spare) * columns * floats_of_element, threads);
  parallel_for(rows, rows_per_piece(elements), threads,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 T* const own = reinterpret_cast<T*>(memory.of(thread));
                 for (std::int64_t row = begin; row < end; row += step)
                   work(row, std::min(step, end - row), own);
               });
}

/// Writes rows of a cache, whose entries are multiplied by a factor unless that is 1: of 16 bits,
/// each is the product of a float32 entry and the factor, rounded once.
template <class T>
void fill_cache(const AxesEncoder& encoder, double factor, const RowPositions& positions,
                const CachePlaces<T>& places, int threads) {
  const std::int64_t columns = encoder.d_model();
  const auto fill = [&]<class Entry>(Entry) {
    const detail::PreparedRows rows(encoder, positions, data_type_of<Entry>, threads);
    for_each_block<Entry>(
        rows.count(), columns, threads, columns, 1,
        [&](std::int64_t begin, std::int64_t count, Entry* values) {
          rows.write(begin, count, MatrixView<Entry>{values, count, columns, columns});
          for (std::int64_t row = 0; row < count; ++row) {
            const Entry* const entries = values + row * columns;
            if constexpr (std::is_same_v<T, Entry>) {
              if (factor == 1) {
                write_cache_row(places, begin + row, columns / 2, entries);
                continue;
              }
            }
            T* const scaled = reinterpret_cast<T*>(values + count * columns);
            if constexpr (sizeof(Entry) > 2) {
              for (std::int64_t i = 0; i < columns; ++i)
                scaled[i] = nearest<T>(static_cast<double>(entries[i]) * factor);
            }
            write_cache_row(places, begin + row, columns / 2, scaled);
          }
        });
  };
  if constexpr (sizeof(T) == 2) {
    if (factor != 1) return fill(float());
  }
  fill(T());
}

/// Calls use(places) for the values of a cache that is read.
template <class Use>
void with_places(const RotaryCacheView& cache, std::int64_t pairs, const Use& use) {
  with_type(cache.cosines.type, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, double>) {
      const auto* const cosines = static_cast<const T*>(cache.cosines.data);
      if (cache.is_apart) {
        use(places_apart(cosines, cache.cosines.stride, static_cast<const T*>(cache.sines.data),
                         cache.sines.stride, cache.repeat, pairs));
      } else {
        use(places_of(cosines, cache.cosines.stride, cache.layout_of_both, pairs));
      }
    }
  });
}

// ---- Angles -------------------------------------------------------------------------------------

/// Negates the sines of rows of angles.
void invert(float* angles, std::int64_t rows, std::int64_t pairs) noexcept {
  for (std::int64_t row = 0; row < rows; ++row) {
    float* const sines = angles + (2 * row + 1) * pairs;
    for (std::int64_t k = 0; k < pairs; ++k) sines[k] = -sines[k];
  }
}

/// Calls fill(begin, count, angles) for rows of angles, and turns heads by them.
template <class Fill>
void turn_all(const HeadsToTurn& work, std::int64_t rows, const RotateOptions& options,
              const Fill& fill) {
  if (rows == 0) return;  // No memory bounds the sizes below.
  const std::int64_t columns = 2 * work.pairs;
  std::int64_t elements = 0;
  for (const HeadsView& x : work.tensors)
    elements += columns * x.heads * (work.own_angles ? 1 : x.batch);
  for_each_block<float>(rows, elements, options.threads, columns, 0,
                        [&](std::int64_t begin, std::int64_t count, float* angles) {
                          fill(begin, count, angles);
                          if (options.inverse) invert(angles, count, work.pairs);
                          work.turn(begin, count, angles);
                        });
}

}  // namespace

Rotary::Rotary(const RotarySpec& spec, const Accuracy& accuracy)
    : spec_((validate(spec), spec)), encoder_(cosines_first(spec.angles), accuracy) {}

Rotary::Rotary(std::int64_t dimension, double base, RotaryLayout channels, const Accuracy& accuracy,
               const FrequencyRule& frequencies)
    : Rotary(
          rotary_spec({.d_model = dimension, .base = base, .frequencies = frequencies}, channels),
          accuracy) {}

void Rotary::cache(const RowPositions& positions, RotaryLayout layout, OutputView out,
                   EncodeOptions options) const {
  detail::check_positions(positions, spec_.angles.axes());
  check_threads(options.threads);
  check_output("cache", out, positions.count(), dimension());
  if (positions.count() == 0) return;
  if (attention_factor() == 1 && layout == RotaryLayout::halves)
    return encoder_.encode(positions, out, options);
  with_type(out.type, [&]<class T>(T) {
    fill_cache(encoder_, attention_factor(), positions,
               places_of(static_cast<T*>(out.data), out.stride, layout, dimension() / 2),
               options.threads);
  });
}

void Rotary::cosines_and_sines(const RowPositions& positions, Repeat repeat, OutputView cosines,
                               OutputView sines, EncodeOptions options) const {
  const std::int64_t pairs = dimension() / 2, columns = columns_of(repeat, pairs);
  detail::check_positions(positions, spec_.angles.axes());
  check_threads(options.threads);
  check_output("cosines", cosines, positions.count(), columns);
  check_output("sines", sines, positions.count(), columns);
  check_pair(cosines, sines, positions.count());
  if (positions.count() == 0) return;
  with_type(cosines.type, [&]<class T>(T) {
    fill_cache(encoder_, attention_factor(), positions,
               places_apart(static_cast<T*>(cosines.data), cosines.stride,
                            static_cast<T*>(sines.data), sines.stride, repeat, pairs),
               options.threads);
  });
}

void Rotary::apply(std::span<const HeadsView> x, const RowPositions& positions,
                   const RotateOptions& options) const {
  detail::check_positions(positions, spec_.angles.axes());
  check_threads(options.threads);
  const bool own = check_tensors(x, dimension(), positions.count());
  if (have_no_heads(x)) return;
  const std::int64_t columns = dimension();
  const double factor = attention_factor();
  const detail::PreparedRows rows(encoder_, positions, DataType::float32, options.threads);
  turn_all({x, channels(), columns / 2, own}, positions.count(), options,
           [&](std::int64_t begin, std::int64_t count, float* angles) {
             rows.write(begin, count, MatrixView<float>{angles, count, columns, columns});
             if (factor == 1) return;
             for (std::int64_t i = 0; i < count * columns; ++i)
               angles[i] = nearest<float>(static_cast<double>(angles[i]) * factor);
           });
}

void Rotary::apply_cache(const RotaryCacheView& cache, std::span<const HeadsView> x,
                         const RowPositions& rows_of_cache, const RotateOptions& options) const {
  const std::int64_t pairs = dimension() / 2;
  check_threads(options.threads);
  check_cache(cache, pairs);
  check_cache_rows(rows_of_cache, cache);
  const bool own = check_tensors(x, dimension(), rows_of_cache.count());
  if (have_no_heads(x) || rows_of_cache.count() == 0) return;
  with_places(cache, pairs, [&](const auto& places) {
    turn_all({x, channels(), pairs, own}, rows_of_cache.count(), options,
             [&](std::int64_t begin, std::int64_t count, float* angles) {
               for (std::int64_t row = 0; row < count; ++row)
                 read_cache_row(places, rows_of_cache(0, begin + row), pairs,
                                angles + row * 2 * pairs);
             });
  });
}

}  // namespace posenc
