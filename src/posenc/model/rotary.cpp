#include "posenc/model/rotary.h"

#include "posenc/model/internal/axes_rows.h"
#include "posenc/model/internal/checks.h"
#include "posenc/model/simd/kernels.h"
#include "posenc/support/caches.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/with_type.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>

namespace posenc::model {
namespace {

AxesSpec cosines_first(AxesSpec angles) {
  angles.layout = Layout::halves_cos_first;
  angles.parts_have_layouts = false;
  return angles;
}

// ---- Rows of caches -----------------------------------------------------------------------------

/// A table of a cache, which holds one or two values of each frequency. `first` and `second` name
/// the half of a row of entries from which the values come: 0 for cosines, 1 for sines.
struct CacheTable {
  OutputView out;
  std::int64_t first;
  std::optional<std::int64_t> second;
};

/// Writes convert(a[k]) and, unless b is null, convert(b[k]). They go to the columns 2k and 2k + 1
/// if interleaved, and to k and count + k otherwise.
template <class T, class Entry, class Convert>
void write_row(const Entry* a, const Entry* b, std::int64_t count, bool is_interleaved,
               const Convert& convert, T* __restrict to) noexcept {
  if (is_interleaved) {
    for (std::int64_t k = 0; k < count; ++k) {
      const T first = convert(a[k]);
      to[2 * k] = first;
      to[2 * k + 1] = a == b ? first : convert(b[k]);
    }
    return;
  }
  for (std::int64_t k = 0; k < count; ++k) to[k] = convert(a[k]);
  if (b == nullptr) return;
  for (std::int64_t k = 0; k < count; ++k) to[count + k] = convert(b[k]);
}

// ---- Checks -------------------------------------------------------------------------------------

/// Throws unless there are at least `rows` rows of exactly `columns` columns. Returns those rows.
Strided check_output(const char* name, const OutputView& out, std::int64_t rows,
                     std::int64_t columns) {
  if (out.rows < rows) throw_invalid("{} has {} rows; allowed: at least {}", name, out.rows, rows);
  check_equal(name, "columns", out.columns, "this layout", columns);
  OutputView used = out;
  used.rows = rows;
  check_memory(name, used);
  return strided(name, used);
}

/// Checks the tensors and their number of positions. Returns true if each sequence has its own
/// positions.
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

// ---- Turning ------------------------------------------------------------------------------------

/// Heads of several tensors, which have the same batch and rows.
struct HeadsToTurn {
  std::span<const HeadsView> tensors;
  RotaryLayout channels;
  std::int64_t pairs;
  /// True if each sequence has its own rows of angles, starting with the rows of sequence 0.
  bool own_angles;
};

/// Distance in bytes from a head to the memory that is prefetched. Beyond L2, the processor alone
/// does not fetch enough lines ahead. With prefetching, float32 takes 0.6 to 0.85 of the time at
/// 8192 rows of 32 heads of 128 channels (an Intel Xeon with AMX). The distance is 0 if L2 may hold
/// the heads and their angles, or if heads are short: just beyond L2, prefetching would take 1.2
/// times the time.
std::uintptr_t bytes_ahead(const HeadsView& x, std::int64_t pairs) noexcept {
  constexpr std::int64_t distance = 4096, least_bytes = 256;
  const std::int64_t head_bytes = 2 * pairs * size_of(x.type);
  const std::int64_t heads_and_angles = (x.batch * x.heads + 1) * x.rows;
  const bool is_far =
      head_bytes >= least_bytes && heads_and_angles * head_bytes > known_cache_bytes(2);
  return is_far ? static_cast<std::uintptr_t>(std::max(distance, head_bytes)) : 0;
}

/// Rotates `count` rows of one sequence, starting at row `first`, in their order in memory.
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
    simd::best_model_kernels().rotate(task);
    if (by_rows) task.angles += row_of_angles;
  }
}

/// Rotates by the rows of angles begin .. begin + count - 1. `angles` holds their values, 2 * pairs
/// floats each, with cosines before sines.
void turn(const HeadsToTurn& work, std::int64_t begin, std::int64_t count,
          const float* angles) noexcept {
  for (const HeadsView& x : work.tensors) {
    if (x.heads == 0) continue;  // its other sizes may have any value
    const bool own = work.own_angles;
    const std::int64_t first = own ? begin / x.rows : 0,
                       last = own ? (begin + count - 1) / x.rows : x.batch - 1;
    for (std::int64_t sequence = first; sequence <= last; ++sequence) {
      const std::int64_t row_0 = own ? sequence * x.rows : 0, from = std::max(begin, row_0),
                         to = std::min(begin + count, row_0 + x.rows);
      turn_rows(x, work, sequence, from - row_0, to - from,
                angles + (from - begin) * 2 * work.pairs);
    }
  }
}

// ---- Blocks of rows -----------------------------------------------------------------------------

/// Distributes rows to threads in blocks that stay in the L2 cache. Each thread has memory of its
/// own. Calls work(begin, count, memory), where memory holds `columns` elements of T for each of
/// the rows. One row costs as much as `elements` elements.
template <class T, class Work>
void for_each_block(std::int64_t rows, std::int64_t elements, const Threads& threads,
                    std::int64_t columns, const Work& work) {
  const std::int64_t step = std::min(rows_in_cache(columns), rows);
  constexpr std::int64_t floats_of_element = (sizeof(T) + sizeof(float) - 1) / sizeof(float);
  WorkerMemory memory(step * columns * floats_of_element, threads);
  parallel_for(rows, rows_per_piece(elements), threads,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 T* const own = reinterpret_cast<T*>(memory.of(thread));
                 for (std::int64_t row = begin; row < end; row += step)
                   work(row, std::min(step, end - row), own);
               });
}

/// Writes cosines and sines, multiplied by `factor` unless it is 1. With a factor, each 16-bit
/// value is the product of a float32 entry and the factor, rounded once.
void fill_cache(const AxesEncoder& encoder, double factor, const RowPositions& positions,
                std::initializer_list<CacheTable> tables, bool is_interleaved,
                const Threads& threads) {
  if (positions.count() == 0) return;
  const std::int64_t columns = encoder.d_model(), pairs = columns / 2;
  with_type(tables.begin()->out.type, [&]<class T>(T) {
    const auto fill = [&]<class Entry>(Entry, const auto& convert) {
      const PreparedRows rows(plan_of(encoder), positions, data_type_of<Entry>, threads);
      for_each_block<Entry>(
          rows.count(), columns, threads, columns,
          [&](std::int64_t begin, std::int64_t count, Entry* block) {
            rows.write(begin, count, MatrixView<Entry>{block, count, columns, columns});
            for (const auto& [out, first, second] : tables) {
              T* to = static_cast<T*>(out.data) + begin * out.stride;
              for (const Entry* row = block; row != block + count * columns; row += columns) {
                write_row(row + first * pairs, second ? row + *second * pairs : nullptr, pairs,
                          is_interleaved, convert, to);
                to += out.stride;
              }
            }
          });
    };
    using Scaled = std::conditional_t<sizeof(T) == 2, float, T>;
    if (factor == 1) return fill(T(), std::identity());
    fill(Scaled(), [=](Scaled entry) { return nearest<T>(static_cast<double>(entry) * factor); });
  });
}

}  // namespace

void validate(const RotarySpec& spec) {
  validate(spec.angles);
  check_range("attention_factor", spec.attention_factor, 0x1p-20, 0x1p20);
  check_range("softmax_factor", spec.softmax_factor, 0x1p-20, 0x1p20);
  check_range("queries.beta", spec.queries.beta, 0.0, 0x1p20);
  check_range("queries.trained_rows", spec.queries.trained_rows, 1, max_position);
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

Rotary::Rotary(std::int64_t dimension, double base, RotaryLayout channels,
               const FrequencyRule& frequencies, const Accuracy& accuracy)
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
  fill_cache(encoder_, attention_factor(), positions, {{out, 0, 1}},
             layout == RotaryLayout::interleaved, options.threads);
}

void Rotary::cosines_and_sines(const RowPositions& positions, Repeat repeat, OutputView cosines,
                               OutputView sines, EncodeOptions options) const {
  const bool is_once = repeat == Repeat::once;
  const std::int64_t columns = is_once ? dimension() / 2 : dimension();
  validate(positions, spec_.angles.axes());
  check_threads(options.threads);
  const Strided to_cosines = check_output("cosines", cosines, positions.count(), columns),
                to_sines = check_output("sines", sines, positions.count(), columns);
  check_same_type("sines", sines.type, "the cosines", cosines.type);
  check_apart(to_sines, to_cosines);
  const auto twice = [&](std::int64_t half) {
    return is_once ? std::nullopt : std::optional(half);
  };
  fill_cache(encoder_, attention_factor(), positions,
             {{cosines, 0, twice(0)}, {sines, 1, twice(1)}}, repeat == Repeat::interleaved,
             options.threads);
}

void Rotary::apply(std::span<const HeadsView> x, const RowPositions& positions,
                   const RotateOptions& options) const {
  validate(positions, spec_.angles.axes());
  check_threads(options.threads);
  const bool own = check_tensors(x, dimension(), positions.count());
  const auto is_empty = [](const HeadsView& each) { return each.batch == 0 || each.heads == 0; };
  if (positions.count() == 0 || std::ranges::all_of(x, is_empty)) return;
  const std::int64_t columns = dimension(), pairs = columns / 2;
  const double of_cosines = attention_factor(),
               of_sines = options.inverse ? -of_cosines : of_cosines;
  const PreparedRows rows(plan_of(encoder_), positions, DataType::float32, options.threads);
  std::int64_t elements = 0;
  for (const HeadsView& each : x) elements += columns * each.heads * (own ? 1 : each.batch);
  for_each_block<float>(
      positions.count(), elements, options.threads, columns,
      [&](std::int64_t begin, std::int64_t count, float* angles) {
        rows.write(begin, count, MatrixView<float>{angles, count, columns, columns});
        if (of_sines != 1) {
          for (std::int64_t half = 0; half < 2 * count; ++half) {
            const double factor = half % 2 == 0 ? of_cosines : of_sines;
            for (float& value : std::span(angles + half * pairs, static_cast<std::size_t>(pairs)))
              value = nearest<float>(static_cast<double>(value) * factor);
          }
        }
        turn({x, channels(), pairs, own}, begin, count, angles);
      });
}

}  // namespace posenc::model
