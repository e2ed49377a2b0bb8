#include "posenc/encoder.h"

#include "posenc/backend.h"
#include "posenc/cpu.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/kernels.h"
#include "posenc/simd/row_task.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace posenc {
namespace {

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

Encoder::Encoder(const EncodingSpec& spec, const Backend& backend)
    : spec_(spec), backend_(&backend) {
  cpu();  // encode() asks it how to store, and takes no memory
}

simd::StorePlan Encoder::store_plan(const RowTask&, bool, bool) const noexcept { return {}; }
bool Encoder::can_add_rows() const noexcept { return false; }
void Encoder::add_rows(const RowTask&, const float*, float) const noexcept {}

RowTask Encoder::task_of(RowRange rows, const OutputView& out, StorePolicy policy,
                         bool adds) const noexcept {
  // The stride of a single row may be any number, and nothing may be computed from it.
  const std::int64_t stride = rows.count > 1 ? out.stride : spec_.d_model;
  RowTask task = {rows.first, rows.count, out.data, stride, out.type};
  const std::int64_t bytes = rows.count * spec_.d_model * size_of(out.type);
  task.stores = store_plan(task, is_non_temporal(policy, bytes), adds);
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

/// x and the output are those of the first row of the task. Encodes the rows into `encoded`, which
/// stays in cache, and adds them.
void Encoder::add_encoded(const RowTask& task, const void* x, float scale, simd::StoreMethod stores,
                          float* encoded) const noexcept {
  const std::int64_t columns = spec_.d_model, bytes = task.stride * size_of(task.type);
  const OutputView rows = {encoded, task.count, columns, columns};
  encode_any(task_of({task.first, task.count}, rows, StorePolicy::cached));
  const std::int64_t at_once = task.stride == columns ? task.count : 1;
  for (std::int64_t row = 0; row < task.count; row += at_once) {
    simd::best_kernels().combine({.x = static_cast<const char*>(x) + row * bytes,
                                  .encoding = encoded + row * columns,
                                  .out = static_cast<char*>(task.out) + row * bytes,
                                  .count = at_once * columns,
                                  .scale = scale,
                                  .stores = stores,
                                  .type = task.type});
  }
}

void Encoder::add(RowRange rows, InputView x, float scale, OutputView out,
                  EncodeOptions options) const {
  validate(rows);
  const std::int64_t columns = spec_.d_model;
  check_threads(options.threads);
  check_view(out, rows.count, columns);
  if (x.type != out.type || x.type == DataType::float64)
    throw_invalid("x is {} and the output {}; allowed: both float32, both float16 or both bfloat16",
                  to_string(x.type), to_string(out.type));
  if (x.rows < rows.count || x.columns < columns || x.stride != out.stride)
    throw_invalid(
        "x is {} x {} with stride {}; allowed: at least {} x {} with the output's stride, {}",
        x.rows, x.columns, x.stride, rows.count, columns, out.stride);
  if (rows.count > 0 && x.data == nullptr)
    throw InvalidArgument("x has no memory (data is null); allowed: a valid pointer");
  // The lines of an input that is replaced are in the caches.
  const StorePolicy policy = x.data == out.data ? StorePolicy::cached : options.stores;
  const RowTask all = task_of(rows, out, policy, true);
  const std::int64_t lengths[] = {columns, all.stride};
  const simd::StoreMethod stores =
      simd::plan_combined_rows(is_non_temporal(policy, rows.count * columns * size_of(out.type)),
                               out.type, out.data, lengths);
  // One pass takes 0.8 of the time in cache, and 0.6 beyond (Zen 4, AVX-512).
  // Rows that add_rows() stages although they begin at lines are half pages apart. Encoding a whole
  // block of such rows first takes 0.8 to 1 of its time (AVX2, 128 MiB).
  const bool has_slow_rows =
      all.stores.method == simd::StoreMethod::staged && stores == simd::StoreMethod::lines;
  const bool in_one_pass = can_add_rows() && out.type == DataType::float32 && rows.count > 1 &&
                           !(has_slow_rows && rows_in_cache(columns) >= simd::block_rows);
  const std::int64_t encoded_first =
      in_one_pass ? std::clamp<std::int64_t>(-rows.first, 0, rows.count) : rows.count;
  const std::int64_t step = std::min(rows_in_cache(columns), encoded_first);
  WorkerMemory memory(step * columns, options.threads);
  parallel_for(rows.count, successive_rows_per_piece(columns), options.threads,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 const auto x_at = [&](std::int64_t row) {
                   return static_cast<const char*>(x.data) + row * all.stride * size_of(x.type);
                 };
                 const std::int64_t from = std::clamp(encoded_first, begin, end);
                 for (std::int64_t row = begin; row < from; row += step)
                   add_encoded(all.part(row, std::min(row + step, from)), x_at(row), scale, stores,
                               memory.of(thread));
                 if (begin < from && stores != simd::StoreMethod::plain)
                   simd::best_kernels().fence();
                 if (from < end)
                   add_rows(all.part(from, end), reinterpret_cast<const float*>(x_at(from)), scale);
               });
}

template <class Position>
void Encoder::gather(std::span<const Position> positions, const OutputView& out,
                     const EncodeOptions& options) const {
  const auto count = static_cast<std::int64_t>(positions.size());
  for (const std::int64_t position : positions)
    check_range("position", position, -max_position, max_position);
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
