#include "posenc/model/rotary.h"

#include "posenc/cpu.h"
#include "posenc/model/internal/axes_rows.h"
#include "posenc/model/internal/checks.h"
#include "posenc/simd/dispatch.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

namespace posenc {
namespace {

AxesSpec cosines_first(AxesSpec angles) {
  angles.layout = Layout::halves_cos_first;
  angles.parts_have_layouts = false;
  return angles;
}

// ---- Rows of caches -----------------------------------------------------------------------------

/// Where the cosine and the sine of frequency k are.
struct CacheLayout {
  bool is_apart;        ///< in tables of their own
  std::int64_t values;  ///< of a frequency in a row of a table: 1 or 2
  bool is_interleaved;  ///< two values are next to each other, not half a row apart
};

constexpr CacheLayout layout_of(RotaryLayout layout) noexcept {
  return {false, 2, layout == RotaryLayout::interleaved};
}
constexpr CacheLayout layout_of(Repeat repeat) noexcept {
  return {true, repeat == Repeat::once ? 1 : 2, repeat == Repeat::interleaved};
}
CacheLayout layout_of(const RotaryCacheView& cache) noexcept {
  return cache.is_apart ? layout_of(cache.repeat) : layout_of(cache.layout_of_both);
}

/// Writes convert(a[k]) and convert(b[k]), unless b is null, to the two places of frequency k.
template <class T, class Entry, class Convert>
void write_row(const Entry* a, const Entry* b, std::int64_t count, bool is_interleaved,
               const Convert& convert, T* __restrict to) noexcept {
  for (std::int64_t k = 0; is_interleaved && k < count; ++k) {
    const T first = convert(a[k]), second = convert(b[k]);
    to[2 * k] = first;
    to[2 * k + 1] = second;
  }
  if (is_interleaved) return;
  for (std::int64_t k = 0; k < count; ++k) to[k] = convert(a[k]);
  for (std::int64_t k = 0; b != nullptr && k < count; ++k) to[count + k] = convert(b[k]);
}

/// to[k] = from[k * step], as float32. T is float, Float16 or BFloat16.
template <class T>
void read_values(const T* from, std::int64_t step, std::int64_t count, float* to) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = from[k * step];
  } else {
    std::uint16_t dense[64];
    for (std::int64_t begin = 0, number = 0; begin < count; begin += number) {
      number = std::min(std::ssize(dense), count - begin);
      for (std::int64_t k = 0; k < number; ++k) dense[k] = from[(begin + k) * step].bits;
      simd::best_kernels().widen(dense, number, std::is_same_v<T, BFloat16>, to + begin);
    }
  }
}

// ---- Checks -------------------------------------------------------------------------------------

/// There must be at least these rows of exactly so many columns. Returns them.
Strided check_output(const char* name, const OutputView& out, std::int64_t rows,
                     std::int64_t columns) {
  if (out.rows < rows) throw_invalid("{} has {} rows; allowed: at least {}", name, out.rows, rows);
  check_equal(name, "columns", out.columns, "this layout", columns);
  OutputView used = out;
  used.rows = rows;
  check_memory(name, used);
  return strided(name, used);
}

void check_cache(const RotaryCacheView& cache, std::int64_t columns) {
  const auto check = [&](const char* name, const InputView& table) {
    check_not_double(name, table.type);
    check_equal(name, "columns", table.columns, "this layout", columns);
    check_memory(name, table);
  };
  check(cache.is_apart ? "cosines" : "cache", cache.cosines);
  if (!cache.is_apart) return;
  check("sines", cache.sines);
  check_same_type("sines", cache.sines.type, "the cosines", cache.cosines.type);
}

/// Each must be a row of the cache.
void check_cache_rows(const RowPositions& rows, const RotaryCacheView& cache) {
  validate(rows, 1);
  const std::int64_t all = std::min(cache.cosines.rows, cache.sines.rows);
  if (rows.count() == 0) return;
  const detail::Extent extent = rows.is_range()
                                    ? detail::Extent{rows.first(), rows.first() + rows.count() - 1}
                                    : detail::extent_of(rows.list(0));
  check_range("row of the cache", extent.least, 0, all - 1);
  check_range("row of the cache", extent.most, 0, all - 1);
}

/// Checks tensors and their number of positions. Returns true if each sequence has its own.
bool check_tensors(std::span<const HeadsView> x, std::int64_t dimension, std::int64_t positions) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const HeadsView& each = x[i];
    std::string name = "x";
    if (x.size() > 1) (name += '[') += std::to_string(i) + ']';  // short: nothing is allocated
    check_not_double(name, each.type);
    if (each.columns < dimension) {
      throw_invalid("{} has {} columns; allowed: at least the dimension, {}", name, each.columns,
                    dimension);
    }
    check_memory(name, each);
    check_same_rows(name, each, "x[0]", x[0]);
    const bool is_empty = each.batch == 0 || each.rows == 0 || each.heads == 0;
    for (std::size_t j = 0; j < i && !is_empty; ++j) {
      if (each.data != x[j].data || each.data == nullptr) continue;
      throw_invalid("{} has the memory of x[{}]; allowed: memory apart from it", name, j);
    }
  }
  if (x.empty() || positions == x[0].rows) return false;
  std::int64_t of_all = 0;
  if (__builtin_mul_overflow(x[0].batch, x[0].rows, &of_all) || positions != of_all) {
    throw_invalid("positions has {} rows; allowed: {}, or {} for each of {} sequences", positions,
                  x[0].rows, x[0].rows, x[0].batch);
  }
  return true;
}

bool have_no_heads(std::span<const HeadsView> x) noexcept {
  return std::ranges::all_of(
      x, [](const HeadsView& each) { return each.batch == 0 || each.heads == 0; });
}

// ---- Turning ------------------------------------------------------------------------------------

/// Heads of several tensors, which have the same batch and rows.
struct HeadsToTurn {
  std::span<const HeadsView> tensors;
  RotaryLayout channels;
  std::int64_t pairs;
  /// True if each sequence has rows of angles of its own, those of sequence 0 first.
  bool own_angles;
};

/// Bytes from a head to what is prefetched. Beyond L2, the processor does not fetch enough lines
/// ahead by itself: float32 takes 0.6 to 0.85 of the time at 8192 rows of 32 heads of 128 channels
/// (an Intel Xeon with AMX). 0 if L2 may hold the heads and their angles, or if heads are short:
/// just beyond L2, it would be 1.2 times the time.
std::uintptr_t bytes_ahead(const HeadsView& x, std::int64_t pairs) noexcept {
  constexpr std::int64_t distance = 4096, least_bytes = 256;
  const std::int64_t head_bytes = 2 * pairs * size_of(x.type);
  const std::int64_t heads_and_angles = (x.batch * x.heads + 1) * x.rows;
  const bool is_far =
      head_bytes >= least_bytes && shape_class(heads_and_angles * head_bytes) > ShapeClass::l2;
  return is_far ? static_cast<std::uintptr_t>(std::max(distance, head_bytes)) : 0;
}

/// Turns `count` rows from `first` of one sequence, in the order in which they are in memory.
void turn_rows(const HeadsView& x, const HeadsToTurn& work, std::int64_t sequence,
               std::int64_t first, std::int64_t count, const float* angles) noexcept {
  const bool by_rows = x.row_stride >= x.head_stride;
  const std::int64_t outer_stride = by_rows ? x.row_stride : x.head_stride;
  const std::int64_t row_of_angles = 2 * work.pairs;
  const std::int64_t begin = sequence * x.batch_stride + first * x.row_stride;
  simd::RotateTask task = {.angles = angles,
                           .angles_stride = by_rows ? 0 : row_of_angles,
                           .pairs = work.pairs,
                           .x = nullptr,
                           .stride = by_rows ? x.head_stride : x.row_stride,
                           .count = by_rows ? x.heads : count,
                           .type = x.type,
                           .interleaved = work.channels == RotaryLayout::interleaved,
                           .ahead_bytes = bytes_ahead(x, work.pairs)};
  for (std::int64_t outer = 0; outer < (by_rows ? count : x.heads); ++outer) {
    task.x = static_cast<char*>(x.data) + (begin + outer * outer_stride) * size_of(x.type);
    simd::best_kernels().rotate(task);
    if (by_rows) task.angles += row_of_angles;
  }
}

/// Turns by the rows of angles begin .. begin + count - 1, of which `angles` holds the values:
/// cosines before sines, 2 * pairs floats each.
void turn(const HeadsToTurn& work, std::int64_t begin, std::int64_t count,
          const float* angles) noexcept {
  for (const HeadsView& x : work.tensors) {
    if (x.heads == 0) continue;  // its other sizes may be any
    if (!work.own_angles) {
      for (std::int64_t sequence = 0; sequence < x.batch; ++sequence)
        turn_rows(x, work, sequence, begin, count, angles);
      continue;
    }
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t sequence = (begin + done) / x.rows, row = (begin + done) % x.rows;
      const std::int64_t rows = std::min(count - done, x.rows - row);
      turn_rows(x, work, sequence, row, rows, angles + done * 2 * work.pairs);
      done += rows;
    }
  }
}

// ---- Blocks of rows -----------------------------------------------------------------------------

/// Distributes rows to threads in blocks that stay in the L2 cache, each thread with memory of its
/// own: calls work(begin, count, memory), where memory holds `columns` elements of T for each of
/// the rows. A row is the work of `elements` elements.
template <class T, class Work>
void for_each_block(std::int64_t rows, std::int64_t elements, int threads, std::int64_t columns,
                    const Work& work) {
  if (rows == 0) return;
  const std::int64_t step = std::min(rows_in_cache(columns), rows);
  constexpr std::int64_t floats_of_element = (sizeof(T) + sizeof(float) - 1) / sizeof(float);
  detail::WorkerMemory memory(step * columns * floats_of_element, threads);
  parallel_for(rows, rows_per_piece(elements), threads,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 T* const own = reinterpret_cast<T*>(memory.of(thread));
                 for (std::int64_t row = begin; row < end; row += step)
                   work(row, std::min(step, end - row), own);
               });
}

/// Writes cosines and sines, multiplied by a factor unless that is 1: of 16 bits, each is then the
/// product of a float32 entry and the factor, rounded once.
void fill_cache(const AxesEncoder& encoder, double factor, const RowPositions& positions,
                const OutputView& cosines, const OutputView& sines, const CacheLayout& layout,
                int threads) {
  if (positions.count() == 0) return;
  const std::int64_t columns = encoder.d_model(), pairs = columns / 2;
  with_type(cosines.type, [&]<class T>(T) {
    const auto fill = [&]<class Entry>(Entry, const auto& convert) {
      const detail::PreparedRows rows(encoder, positions, data_type_of<Entry>, threads);
      for_each_block<Entry>(
          rows.count(), columns, threads, columns,
          [&](std::int64_t begin, std::int64_t count, Entry* entries) {
            rows.write(begin, count, MatrixView<Entry>{entries, count, columns, columns});
            const auto write = [&](const OutputView& table, std::int64_t a, std::int64_t b) {
              for (std::int64_t row = 0; row < count; ++row) {
                const Entry* const of_row = entries + row * columns;
                write_row(of_row + a, layout.values == 2 ? of_row + b : nullptr, pairs,
                          layout.is_interleaved, convert,
                          static_cast<T*>(table.data) + (begin + row) * table.stride);
              }
            };
            write(cosines, 0, layout.is_apart ? 0 : pairs);
            if (layout.is_apart) write(sines, pairs, pairs);
          });
    };
    using Scaled = std::conditional_t<sizeof(T) == 2, float, T>;
    if (factor == 1) return fill(T(), std::identity());
    fill(Scaled(), [=](Scaled entry) { return nearest<T>(static_cast<double>(entry) * factor); });
  });
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
  for_each_block<float>(rows, elements, options.threads, columns,
                        [&](std::int64_t begin, std::int64_t count, float* angles) {
                          fill(begin, count, angles);
                          for (std::int64_t row = 0; options.inverse && row < count; ++row) {
                            float* const sines = angles + (2 * row + 1) * work.pairs;
                            std::transform(sines, sines + work.pairs, sines, std::negate());
                          }
                          turn(work, begin, count, angles);
                        });
}

}  // namespace

void validate(const RotarySpec& spec) {
  validate(spec.angles);
  check_range("attention_factor", spec.attention_factor, 0x1p-20, 0x1p20);
}

RotarySpec rotary_spec(const EncodingSpec& spec, RotaryLayout channels) {
  validate(spec);
  const double factor = attention_factor(spec.frequencies);
  if (factor == 0) {
    throw InvalidArgument("attention_factor is 0, not given; allowed: greater than 0, 1 for none");
  }
  EncodingSpec angles = spec;
  angles.frequencies = without_attention_factor(spec.frequencies);
  return {.angles = one_axis(angles), .channels = channels, .attention_factor = factor};
}

Rotary::Rotary(const RotarySpec& spec, const Accuracy& accuracy)
    : spec_((validate(spec), spec)), encoder_(cosines_first(spec.angles), accuracy) {}

Rotary::Rotary(std::int64_t dimension, double base, RotaryLayout channels, const Accuracy& accuracy,
               const FrequencyRule& frequencies)
    : Rotary(
          rotary_spec({.d_model = dimension, .base = base, .frequencies = frequencies}, channels),
          accuracy) {}

void Rotary::cache(const RowPositions& positions, RotaryLayout layout, OutputView out,
                   EncodeOptions options) const {
  validate(positions, spec_.angles.axes());
  check_threads(options.threads);
  check_output("cache", out, positions.count(), dimension());
  if (attention_factor() == 1 && layout == RotaryLayout::halves)
    return encoder_.encode(positions, out, options);
  fill_cache(encoder_, attention_factor(), positions, out, out, layout_of(layout), options.threads);
}

void Rotary::cosines_and_sines(const RowPositions& positions, Repeat repeat, OutputView cosines,
                               OutputView sines, EncodeOptions options) const {
  const CacheLayout layout = layout_of(repeat);
  const std::int64_t columns = layout.values * dimension() / 2;
  validate(positions, spec_.angles.axes());
  check_threads(options.threads);
  const Strided to_cosines = check_output("cosines", cosines, positions.count(), columns),
                to_sines = check_output("sines", sines, positions.count(), columns);
  check_same_type("sines", sines.type, "the cosines", cosines.type);
  check_apart(to_sines, to_cosines);
  fill_cache(encoder_, attention_factor(), positions, cosines, sines, layout, options.threads);
}

void Rotary::apply(std::span<const HeadsView> x, const RowPositions& positions,
                   const RotateOptions& options) const {
  validate(positions, spec_.angles.axes());
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
  const CacheLayout layout = layout_of(cache);
  check_threads(options.threads);
  check_cache(cache, layout.values * pairs);
  check_cache_rows(rows_of_cache, cache);
  const bool own = check_tensors(x, dimension(), rows_of_cache.count());
  if (have_no_heads(x) || rows_of_cache.count() == 0) return;
  with_type(cache.cosines.type, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, double>) {
      const std::int64_t step = layout.is_interleaved ? 2 : 1;
      const std::int64_t next = layout.is_interleaved ? 1 : pairs;
      const auto read = [&](const InputView& table, std::int64_t row, std::int64_t first,
                            float* to) {
        const T* const of_row = static_cast<const T*>(table.data) + row * table.stride;
        read_values(of_row + first, step, pairs, to);
      };
      turn_all({x, channels(), pairs, own}, rows_of_cache.count(), options,
               [&](std::int64_t begin, std::int64_t count, float* angles) {
                 for (std::int64_t i = 0; i < count; ++i, angles += 2 * pairs) {
                   const std::int64_t row = rows_of_cache(0, begin + i);
                   read(cache.cosines, row, 0, angles);
                   read(cache.sines, row, layout.is_apart ? 0 : next, angles + pairs);
                 }
               });
    }
  });
}

}  // namespace posenc
