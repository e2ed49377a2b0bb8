#include "posenc/encoder.h"

#include "posenc/backend.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/kernels.h"
#include "posenc/simd/row_task.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace posenc {
namespace {

/// Rows of float32 that stay in the L1 cache.
std::int64_t rows_in_l1(std::int64_t columns) noexcept {
  constexpr std::int64_t most_floats = 4096;
  return std::max<std::int64_t>(most_floats / columns, 1);
}

void check_call(const Encoder& encoder, std::int64_t rows, const OutputView& out,
                const EncodeOptions& options) {
  encoder.backend().check_supports(out.type);
  check_threads(options.threads);
  check_view(out, rows, encoder.spec().d_model);
}

template <class T>
T negated(T value) noexcept {
  if constexpr (sizeof(T) == 2) {
    return T{static_cast<std::uint16_t>(value.bits ^ 0x8000u)};
  } else {
    return -value;
  }
}

/// Exchanges two rows, which may be the same one, and negates their sines.
template <class T>
void swap_and_negate(const EncodingSpec& spec, T* a, T* b) noexcept {
  const auto [sine, cosine] = channels_of(spec, 0);
  const std::int64_t step = spec.layout == Layout::interleaved ? 2 : 1, pairs = spec.d_model / 2;
  for (std::int64_t k = 0; k < pairs; ++k) {
    const std::int64_t s = sine + step * k, c = cosine + step * k;
    const T sine_of_a = a[s], cosine_of_a = a[c];
    a[s] = negated(b[s]);
    a[c] = b[c];
    b[s] = negated(sine_of_a);
    b[c] = cosine_of_a;
  }
}

}  // namespace

simd::StorePlan Encoder::store_plan(const RowTask&, bool, bool) const noexcept { return {}; }

RowTask Encoder::task_of(RowRange rows, const OutputView& out, StorePolicy policy,
                         const void* added) const noexcept {
  // The stride of a single row may be any number, and nothing may be computed from it.
  const std::int64_t stride = rows.count > 1 ? out.stride : spec_.d_model;
  RowTask task = {rows.first, rows.count, out.data, stride, out.type};
  // The lines of an input that is replaced are in the caches.
  const bool non_temporal =
      added != out.data && is_non_temporal(policy, rows.count * spec_.d_model * size_of(out.type));
  task.stores = store_plan(task, non_temporal, added != nullptr);
  return task;
}

void Encoder::encode(RowRange rows, OutputView out, EncodeOptions options) const {
  validate(rows);
  check_call(*this, rows.count, out, options);
  const RowTask all = task_of(rows, out, options.stores);
  parallel_for(
      rows.count, successive_rows_per_piece(spec_.d_model), options.threads,
      [&](std::int64_t begin, std::int64_t end, int) { encode_any(all.part(begin, end)); });
}

void Encoder::encode_any(const RowTask& task) const noexcept {
  const std::int64_t negative = std::clamp<std::int64_t>(-task.first, 0, task.count);
  if (negative > 0) encode_negative(task.part(0, negative));
  if (negative < task.count) encode_rows(negative == 0 ? task : task.after(negative));
}

/// Some rows at a time, which stay in cache: writes the magnitudes of their positions, which are in
/// reverse order, reverses the rows, and negates their sines.
void Encoder::encode_negative(const RowTask& task) const noexcept {
  constexpr std::int64_t at_once = 64;
  with_type(task.type, [&]<class T>(T) {
    for (std::int64_t row = 0; row < task.count; row += at_once) {
      RowTask part = task.part(row, std::min(row + at_once, task.count));
      const std::int64_t last = part.count - 1;
      part.first = -(part.first + last);
      part.stores = {};
      encode_rows(part);
      for (std::int64_t r = 0; r <= last - r; ++r)
        swap_and_negate(spec_, part.row<T>(r), part.row<T>(last - r));
    }
  });
}

/// 16-bit x and results of the task's rows, by way of float32 in `wide`: some rows at a time, which
/// stay in the L1 cache. `encoded` has one row.
template <class T>
void Encoder::add_converted(const RowTask& task, const T* x, float scale, float* encoded,
                            float* wide) const noexcept {
  const std::int64_t columns = spec_.d_model, step = rows_in_l1(columns);
  const simd::Kernels& kernels = simd::best_kernels();
  constexpr bool is_bfloat16 = std::is_same_v<T, BFloat16>;
  for (std::int64_t row = 0; row < task.count; row += step) {
    const std::int64_t count = std::min(step, task.count - row);
    for (std::int64_t i = 0; i < count; ++i)
      kernels.widen(&x[(row + i) * task.stride].bits, columns, is_bfloat16, wide + i * columns);
    add_any({task.first + row, count, wide, columns, DataType::float32}, wide, scale, encoded);
    for (std::int64_t i = 0; i < count; ++i)
      kernels.narrow(wide + i * columns, columns, is_bfloat16, &task.row<T>(row + i)->bits);
  }
}

void Encoder::add(RowRange rows, InputView x, float scale, OutputView out,
                  EncodeOptions options) const {
  validate(rows);
  check_call(*this, rows.count, out, options);
  if (!backend_->supports_add()) {
    throw InvalidArgument(
        format_text("backend is {}; allowed: one that can add", backend_->name()));
  }
  if (x.type != out.type || x.type == DataType::float64) {
    throw InvalidArgument(format_text(
        "x is {} and the output {}; allowed: both float32, both float16 or both bfloat16",
        to_string(x.type), to_string(out.type)));
  }
  if (x.rows < rows.count || x.columns < spec_.d_model || x.stride != out.stride) {
    throw InvalidArgument(format_text(
        "x is {} x {} with stride {}; allowed: at least {} x {} with the output's stride, {}",
        x.rows, x.columns, x.stride, rows.count, spec_.d_model, out.stride));
  }
  if (rows.count > 0 && x.data == nullptr) {
    throw InvalidArgument("x has no memory (data is null); allowed: a valid pointer");
  }
  const RowTask all = task_of(rows, out, options.stores, x.data);
  const std::int64_t encoded_rows = rows.first < 0 ? 1 : 0;
  const std::int64_t converted_rows =
      x.type == DataType::float32 ? 0 : std::min(rows_in_l1(spec_.d_model), rows.count);
  const std::int64_t grain = successive_rows_per_piece(spec_.d_model);
  WorkerMemory memory((encoded_rows + converted_rows) * spec_.d_model, options.threads);
  parallel_for(rows.count, grain, options.threads,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 with_type(x.type, [&]<class T>(T) {
                   const T* const from = static_cast<const T*>(x.data) + begin * x.stride;
                   float* const encoded = memory.of(thread);
                   if constexpr (std::is_same_v<T, float>) {
                     add_any(all.part(begin, end), from, scale, encoded);
                   } else if constexpr (sizeof(T) == 2) {
                     add_converted(all.part(begin, end), from, scale, encoded,
                                   encoded + encoded_rows * spec_.d_model);
                   }
                 });
               });
}

void Encoder::add_rows(const RowTask&, const float*, float) const noexcept {}

/// Rows of negative positions are encoded one at a time into `encoded`, and added.
void Encoder::add_any(const RowTask& task, const float* x, float scale,
                      float* encoded) const noexcept {
  const std::int64_t negative = std::clamp<std::int64_t>(-task.first, 0, task.count);
  if (negative < task.count) add_rows(task.after(negative), x + negative * task.stride, scale);
  for (std::int64_t row = 0; row < negative; ++row) {
    encode_negative({task.first + row, 1, encoded, spec_.d_model, DataType::float32});
    simd::best_kernels().combine({.x = x + row * task.stride,
                                  .encoding = encoded,
                                  .out = task.row<float>(row),
                                  .count = spec_.d_model,
                                  .scale = scale});
  }
}

template <class Position>
void Encoder::gather(std::span<const Position> positions, const OutputView& out,
                     const EncodeOptions& options) const {
  const auto count = static_cast<std::int64_t>(positions.size());
  for (const std::int64_t position : positions) {
    if (position < -max_position || position > max_position) {
      throw InvalidArgument(
          format_text("position is {}; allowed: {} to {}", position, -max_position, max_position));
    }
  }
  check_call(*this, count, out, options);
  const RowTask all = task_of({0, count}, out, options.stores);
  const auto position_of = [positions](std::int64_t row) { return std::int64_t{positions[row]}; };
  const std::int64_t grain = rows_per_piece(spec_.d_model);
  parallel_for(count, grain, options.threads, [&](std::int64_t begin, std::int64_t end, int) {
    // Consecutive positions, which batches of sequences have, are encoded as ranges.
    for (std::int64_t row = begin; row < end;) {
      std::int64_t last = row;
      while (last + 1 < end && position_of(last + 1) == position_of(last) + 1) ++last;
      RowTask range = all.after(row);
      range.first = position_of(row);
      range.count = last - row + 1;
      encode_any(range);
      row = last + 1;
    }
  });
}

void Encoder::encode(std::span<const std::int64_t> positions, OutputView out,
                     EncodeOptions options) const {
  gather(positions, out, options);
}

void Encoder::encode(std::span<const std::int32_t> positions, OutputView out,
                     EncodeOptions options) const {
  gather(positions, out, options);
}

double Encoder::ulp_bound(RowRange, DataType type) const noexcept {
  return backend_->is_correctly_rounded(type) ? 0.5 : std::numeric_limits<double>::infinity();
}

}  // namespace posenc
