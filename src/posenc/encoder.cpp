#include "posenc/encoder.h"

#include "posenc/backend.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/kernels.h"
#include "posenc/simd/row_task.h"
#include "posenc/support/check.h"
#include "posenc/support/check_view.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/scratch.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace posenc {
namespace {

void check_call(const Encoder& encoder, std::int64_t rows, const OutputView& out,
                const EncodeOptions& options) {
  encoder.backend().check_supports(out.type);
  check_threads(options.threads);
  check_view(out, rows, encoder.spec().d_model);
}

}  // namespace

void Encoder::encode(RowRange rows, OutputView out, EncodeOptions options) const {
  validate(rows);
  check_call(*this, rows.count, out, options);
  const bool non_temporal =
      is_non_temporal(options.stores, rows.count * spec_.d_model * size_of(out.type));
  const RowTask all = {rows.first, rows.count, out.data, out.stride, out.type, non_temporal};
  parallel_for(rows.count, options.threads,
               [&](std::int64_t begin, std::int64_t end) { encode_rows(all.part(begin, end)); });
}

/// 16-bit x and results of the task's rows, by way of float32: some rows at a time, which stay in
/// the L1 cache.
template <class T>
void Encoder::add_converted(const RowTask& task, const T* x, float scale) const {
  constexpr std::int64_t most_floats = 4096;
  const std::int64_t columns = spec_.d_model;
  const std::int64_t step = std::clamp<std::int64_t>(most_floats / columns, 1, task.count);
  float* const wide = scratch(step * columns);
  const simd::Kernels& kernels = simd::best_kernels();
  constexpr bool is_bfloat16 = std::is_same_v<T, BFloat16>;
  for (std::int64_t row = 0; row < task.count; row += step) {
    const std::int64_t count = std::min(step, task.count - row);
    for (std::int64_t i = 0; i < count; ++i)
      kernels.widen(&x[(row + i) * task.stride].bits, columns, is_bfloat16, wide + i * columns);
    add_rows({task.first + row, count, wide, columns, DataType::float32, false}, wide, scale);
    for (std::int64_t i = 0; i < count; ++i)
      kernels.narrow(wide + i * columns, columns, is_bfloat16, &task.row<T>(row + i)->bits);
  }
}

template <class T>
void Encoder::add_any(RowRange rows, const MatrixView<const T>& x, float scale,
                      const MatrixView<T>& out, const EncodeOptions& options) const {
  validate(rows);
  check_call(*this, rows.count, out, options);
  if (!backend_->supports_add()) {
    throw InvalidArgument(
        format_text("backend is {}; allowed: one that can add", backend_->name()));
  }
  if (x.rows < rows.count || x.columns < spec_.d_model || x.stride != out.stride) {
    throw InvalidArgument(format_text(
        "x is {} x {} with stride {}; allowed: at least {} x {} with the output's stride, {}",
        x.rows, x.columns, x.stride, rows.count, spec_.d_model, out.stride));
  }
  if (rows.count > 0 && x.data == nullptr) {
    throw InvalidArgument("x has no memory (data is null); allowed: a valid pointer");
  }
  const std::int64_t bytes = rows.count * spec_.d_model * size_of(data_type_of<T>);
  const bool non_temporal = x.data != out.data && is_non_temporal(options.stores, bytes);
  const RowTask all = {rows.first, rows.count, out.data, out.stride, data_type_of<T>, non_temporal};
  parallel_for(rows.count, options.threads, [&](std::int64_t begin, std::int64_t end) {
    const T* const from = x.data + begin * x.stride;
    if constexpr (std::is_same_v<T, float>) {
      add_rows(all.part(begin, end), from, scale);
    } else {
      add_converted(all.part(begin, end), from, scale);
    }
  });
}

void Encoder::add(RowRange rows, MatrixView<const float> x, float scale, MatrixView<float> out,
                  EncodeOptions options) const {
  add_any(rows, x, scale, out, options);
}

void Encoder::add(RowRange rows, MatrixView<const Float16> x, float scale, MatrixView<Float16> out,
                  EncodeOptions options) const {
  add_any(rows, x, scale, out, options);
}

void Encoder::add(RowRange rows, MatrixView<const BFloat16> x, float scale,
                  MatrixView<BFloat16> out, EncodeOptions options) const {
  add_any(rows, x, scale, out, options);
}

void Encoder::add_rows(const RowTask&, const float*, float) const noexcept {}

template <class Position>
void Encoder::gather(std::span<const Position> positions, const OutputView& out,
                     const EncodeOptions& options) const {
  const auto count = static_cast<std::int64_t>(positions.size());
  for (const std::int64_t position : positions) {
    if (position < 0 || position > max_position) {
      throw InvalidArgument(
          format_text("position is {}; allowed: 0 to {}", position, max_position));
    }
  }
  check_call(*this, count, out, options);
  const bool non_temporal =
      is_non_temporal(options.stores, count * spec_.d_model * size_of(out.type));
  const RowTask all = {0, count, out.data, out.stride, out.type, non_temporal};
  const auto position_of = [positions](std::int64_t row) { return std::int64_t{positions[row]}; };
  parallel_for(count, options.threads, [&](std::int64_t begin, std::int64_t end) {
    // Consecutive positions, which batches of sequences have, are encoded as ranges.
    for (std::int64_t row = begin; row < end;) {
      std::int64_t last = row;
      while (last + 1 < end && position_of(last + 1) == position_of(last) + 1) ++last;
      RowTask range = all.after(row);
      range.first = position_of(row);
      range.count = last - row + 1;
      encode_rows(range);
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
