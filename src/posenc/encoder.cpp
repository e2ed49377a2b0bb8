#include "posenc/encoder.h"

#include "posenc/cpu.h"
#include "posenc/method.h"
#include "posenc/row_writer.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/kernel_writer.h"
#include "posenc/simd/kernels.h"
#include "posenc/simd/row_task.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/with_type.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace posenc {

using simd::RowTask;

namespace {

template <class T>
T negated(T value) noexcept {
  if constexpr (sizeof(T) == 2) {
    return T{static_cast<std::uint16_t>(value.bits ^ 0x8000u)};
  } else {
    return -value;
  }
}

template <class T>
void negate_sines(const EncodingSpec& spec, T* row) noexcept {
  const std::int64_t sine = channels_of(spec, 0).sine,
                     step = spec.layout == Layout::interleaved ? 2 : 1;
  for (std::int64_t k = 0; k < spec.d_model / 2; ++k)
    row[sine + step * k] = negated(row[sine + step * k]);
}

/// Throws InvalidArgument unless `rows` rows of x can be added to the rows of `out`.
void check_input(const InputView& x, const OutputView& out, std::int64_t rows,
                 std::int64_t columns) {
  if (x.type != out.type || x.type == DataType::float64)
    throw_invalid(
        "x is {} and the output is {}; allowed: both float32, both float16 or both bfloat16",
        to_string(x.type), to_string(out.type));
  if (x.rows < rows || x.columns < columns || x.stride != out.stride)
    throw_invalid(
        "x is {} x {} with stride {}; allowed: at least {} x {} with the output's stride, {}",
        x.rows, x.columns, x.stride, rows, columns, out.stride);
  if (rows > 0 && x.data == nullptr)
    throw InvalidArgument("x has no memory (data is null); allowed: a valid pointer");
}

/// Throws InvalidArgument if rows of x and of `out`, which have the same stride, share elements,
/// unless both are the same memory. The rows may alternate, like the halves of wider rows.
void check_apart(const InputView& x, const OutputView& out, std::int64_t rows,
                 std::int64_t columns) {
  const auto from = reinterpret_cast<std::uintptr_t>(x.data),
             to = reinterpret_cast<std::uintptr_t>(out.data);
  const std::uintptr_t distance = from < to ? to - from : from - to;
  const std::int64_t size = size_of(out.type), stride = out.stride * size, row = columns * size;
  const std::int64_t span = rows > 0 ? (rows - 1) * stride + row : 0;
  if (distance == 0 || distance >= static_cast<std::uintptr_t>(span)) return;
  const std::int64_t shift = static_cast<std::int64_t>(distance) % stride;
  if (shift >= row && stride - shift >= row) return;
  throw_invalid(
      "x overlaps the output, {} bytes apart; allowed: the same memory, or separate memory",
      distance);
}

const void* row_of(const InputView& x, std::int64_t row, std::int64_t stride) noexcept {
  return static_cast<const char*>(x.data) + row * stride * size_of(x.type);
}

}  // namespace

/// Writes the rows of a call whose arguments are checked. Any thread may use it.
struct Encoder::Rows {
  const EncodingSpec& spec;
  const RowWriter& writer;

  /// The task of a call, of which the kernels plan the stores.
  RowTask task(RowRange rows, const OutputView& out, StorePolicy policy,
               bool adds = false) const noexcept {
    // The stride of a single row may be any number, and nothing may be computed from it.
    const std::int64_t stride = rows.count > 1 ? out.stride : spec.d_model;
    RowTask task = {rows.first, rows.count, out.data, stride, out.type};
    const std::int64_t bytes = rows.count * spec.d_model * size_of(out.type);
    if (writer.kernels_ != nullptr)
      task.stores = writer.kernels_->store_plan(task, simd::is_non_temporal(policy, bytes), adds);
    return task;
  }

  /// Writes the rows of the task.
  void write(const RowTask& task) const noexcept {
    const std::int64_t negative = std::clamp<std::int64_t>(-task.first, 0, task.count);
    if (negative > 0) write_negative(task.part(0, negative));
    if (negative < task.count) write_from_zero(negative == 0 ? task : task.after(negative));
  }

  bool can_add() const noexcept { return writer.kernels_ != nullptr && writer.kernels_->can_add(); }

  /// out = x * scale + encoding in one pass. Requires can_add(), and positions from 0 on.
  void add(const RowTask& task, const void* x, float scale) const noexcept {
    // Subtracting the pointers would be undefined: x and out may belong to different arrays.
    const auto bytes = static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(x) -
                                                  reinterpret_cast<std::uintptr_t>(task.out));
    const simd::Addition addition = {bytes / std::int64_t{sizeof(float)}, scale};
    writer.kernels_->write(task, &addition);
  }

  /// The same in two passes: encodes the rows into `encoded`, which stays in cache, and adds them
  /// to x. Both x and the output begin at the first row of the task.
  void add_encoded(const RowTask& task, const void* x, float scale, simd::StoreMethod stores,
                   float* encoded) const noexcept {
    const std::int64_t columns = spec.d_model, bytes = task.stride * size_of(task.type);
    const OutputView rows = {encoded, task.count, columns, columns};
    write(this->task({task.first, task.count}, rows, StorePolicy::cached));
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

 private:
  void write_from_zero(const RowTask& task) const noexcept {
    if (writer.kernels_ != nullptr) return writer.kernels_->write(task, nullptr);
    writer.write({task.first, task.count, task.out, task.stride, task.type});
  }

  /// Writes some rows at a time, which stay in cache: the rows of the positions' magnitudes, in
  /// reverse order. Then reverses the rows and negates their sines.
  void write_negative(const RowTask& task) const noexcept {
    constexpr std::int64_t at_once = 64;
    with_type(task.type, [&]<class T>(T) {
      for (std::int64_t row = 0; row < task.count; row += at_once) {
        RowTask part = task.part(row, std::min(row + at_once, task.count));
        const std::int64_t last = part.count - 1;
        part.first = -(part.first + last);
        part.stores = {};
        write_from_zero(part);
        for (std::int64_t r = 0; r < last - r; ++r)
          std::swap_ranges(part.row<T>(r), part.row<T>(r) + spec.d_model, part.row<T>(last - r));
        for (std::int64_t r = 0; r <= last; ++r) negate_sines(spec, part.row<T>(r));
      }
    });
  }
};

Encoder::Encoder(const EncodingSpec& spec, const Backend& backend, const Method& method,
                 std::unique_ptr<const RowWriter> writer)
    : spec_(spec), backend_(&backend), method_(&method), writer_(std::move(writer)) {
  cpu();  // encode() asks it how to store, and takes no memory
}

Encoder::~Encoder() = default;

void Encoder::check_call(std::int64_t rows, const OutputView& out,
                         const EncodeOptions& options) const {
  check_supports(*method_, out.type);
  check_threads(options.threads);
  check_view(out, rows, spec_.d_model);
}

void Encoder::encode(RowRange range, OutputView out, EncodeOptions options) const {
  validate(range);
  check_call(range.count, out, options);
  const Rows rows = {spec_, *writer_};
  const RowTask all = rows.task(range, out, options.stores);
  parallel_for(
      range.count, successive_rows_per_piece(spec_.d_model), options.threads,
      [&](std::int64_t begin, std::int64_t end, int) { rows.write(all.part(begin, end)); });
}

void Encoder::add(RowRange range, InputView x, float scale, OutputView out,
                  EncodeOptions options) const {
  validate(range);
  const std::int64_t columns = spec_.d_model;
  check_supports(*method_, DataType::float32);
  check_threads(options.threads);
  check_view(out, range.count, columns);
  check_input(x, out, range.count, columns);
  check_apart(x, out, range.count, columns);
  const Rows rows = {spec_, *writer_};
  // The lines of an input that is replaced are in the caches.
  const StorePolicy policy = x.data == out.data ? StorePolicy::cached : options.stores;
  const RowTask all = rows.task(range, out, policy, true);
  const std::int64_t lengths[] = {columns, all.stride};
  const simd::StoreMethod stores = simd::plan_combined_rows(
      simd::is_non_temporal(policy, range.count * columns * size_of(out.type)), out.type, out.data,
      lengths);
  // One pass takes 0.8 of the time in cache, and 0.6 beyond (Zen 4, AVX-512).
  // Rows that a kernel stages although they begin at lines are half pages apart. Encoding a whole
  // block of such rows first takes 0.8 to 1 of its time (AVX2, 128 MiB).
  const bool has_slow_rows =
      all.stores.method == simd::StoreMethod::staged && stores == simd::StoreMethod::lines;
  const bool in_one_pass = rows.can_add() && out.type == DataType::float32 && range.count > 1 &&
                           !(has_slow_rows && rows_in_cache(columns) >= simd::block_rows);
  // The rows before this one are added in two passes: kernels add no negative positions.
  const std::int64_t first_in_one_pass =
      in_one_pass ? std::clamp<std::int64_t>(-range.first, 0, range.count) : range.count;
  const std::int64_t step = std::min(rows_in_cache(columns), first_in_one_pass);
  WorkerMemory memory(step * columns, options.threads);
  const auto add_part = [&](std::int64_t begin, std::int64_t end, int thread) {
    const std::int64_t from = std::clamp(first_in_one_pass, begin, end);
    for (std::int64_t row = begin; row < from; row += step)
      rows.add_encoded(all.part(row, std::min(row + step, from)), row_of(x, row, all.stride), scale,
                       stores, memory.of(thread));
    if (begin < from && stores != simd::StoreMethod::plain) simd::best_kernels().fence();
    if (from < end) rows.add(all.part(from, end), row_of(x, from, all.stride), scale);
  };
  parallel_for(range.count, successive_rows_per_piece(columns), options.threads, add_part);
}

template <class Position>
void Encoder::gather(std::span<const Position> positions, const OutputView& out,
                     const EncodeOptions& options) const {
  const auto count = static_cast<std::int64_t>(positions.size());
  for (const std::int64_t position : positions)
    check_range("position", position, -max_position, max_position);
  check_call(count, out, options);
  const Rows rows = {spec_, *writer_};
  const RowTask all = rows.task({0, count}, out, options.stores);
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
      rows.write(range);
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

double Encoder::error_bound(RowRange rows, DataType type) const noexcept {
  return writer_->error_bound(rows, type);
}

double Encoder::ulp_bound(RowRange rows, DataType type) const noexcept {
  return method_->is_correctly_rounded && supports(*method_, type) ? 0.5
                                                                   : writer_->ulp_bound(rows, type);
}

}  // namespace posenc
