#include "posenc/encoder.h"

#include "posenc/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

namespace posenc {
namespace {

constexpr std::align_val_t matrix_alignment{64};

void check_view(const EncodingSpec& spec, std::int64_t rows, const MatrixView<float>& out, int threads) {
  if (threads < 1) throw InvalidArgument(fmt::format("threads is {}; allowed: at least 1", threads));
  if (out.columns < spec.d_model) {
    throw InvalidArgument(fmt::format("view has {} columns; allowed: at least d_model, {}", out.columns, spec.d_model));
  }
  if (out.stride < out.columns) {
    throw InvalidArgument(
        fmt::format("view has stride {}; allowed: at least its columns, {}", out.stride, out.columns));
  }
  if (out.rows < rows) {
    throw InvalidArgument(fmt::format("view has {} rows; allowed: at least the row count, {}", out.rows, rows));
  }
  if (rows > 0 && out.data == nullptr)
    throw InvalidArgument("view has no memory (data is null); allowed: a valid pointer");
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(out.stride, rows, &bytes) ||
      __builtin_mul_overflow(bytes, std::int64_t{sizeof(float)}, &bytes)) {
    throw InvalidArgument(
        fmt::format("view spans {} rows of stride {}; allowed: at most 2^63 - 1 bytes", rows, out.stride));
  }
}

/// Calls work(begin, end) on contiguous parts of [0, count), one a thread.
template <class Work>
void share_rows(std::int64_t count, int threads, const Work& work) noexcept {
  const std::int64_t parts = std::min<std::int64_t>(threads, count);
  if (parts <= 1) {
    if (count > 0) work(std::int64_t{0}, count);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
#endif
  for (std::int64_t part = 0; part < parts; ++part) {
    work(count * part / parts, count * (part + 1) / parts);
  }
}

}  // namespace

Encoder::Encoder(const EncodingSpec& spec, std::string backend, Isa isa)
    : spec_(spec), backend_(std::move(backend)), isa_(isa) {}

void Encoder::encode(RowRange rows, MatrixView<float> out, int threads) const {
  validate(rows);
  check_view(spec_, rows.count, out, threads);
  share_rows(rows.count, threads, [&](std::int64_t begin, std::int64_t end) {
    encode_rows(rows.first + begin, end - begin, out.data + begin * out.stride, out.stride);
  });
}

void Encoder::encode(std::span<const std::int64_t> positions, MatrixView<float> out, int threads) const {
  const auto count = static_cast<std::int64_t>(positions.size());
  for (const std::int64_t position : positions) {
    if (position < 0 || position > max_position) {
      throw InvalidArgument(fmt::format("position is {}; allowed: 0 to {}", position, max_position));
    }
  }
  check_view(spec_, count, out, threads);
  share_rows(count, threads, [&](std::int64_t begin, std::int64_t end) {
    encode_gather(positions.data() + begin, end - begin, out.data + begin * out.stride, out.stride);
  });
}

void Encoder::encode_gather(const std::int64_t* positions, std::int64_t count, float* out,
                            std::ptrdiff_t stride) const noexcept {
  for (std::int64_t row = 0; row < count; ++row) encode_rows(positions[row], 1, out + row * stride, stride);
}

void Matrix::Free::operator()(float* memory) const noexcept { ::operator delete[](memory, matrix_alignment); }

Matrix::Matrix(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {
  std::int64_t bytes = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &bytes) ||
      __builtin_mul_overflow(bytes, std::int64_t{sizeof(float)}, &bytes)) {
    throw InvalidArgument(
        fmt::format("matrix shape is {} x {}; allowed: non-negative, at most 2^63 - 1 bytes", rows, columns));
  }
  data_.reset(static_cast<float*>(::operator new[](static_cast<std::size_t>(bytes), matrix_alignment)));
}

Matrix encode(RowRange rows, const EncodingSpec& spec, int threads) {
  validate(spec);
  validate(rows);
  const auto encoder = select_backend(spec, rows, threads).backend->plan(spec);
  Matrix table(rows.count, spec.d_model);
  encoder->encode(rows, table.view(), threads);
  return table;
}

Matrix encode(std::int64_t rows, std::int64_t d_model) {
  return encode({.first = 0, .count = rows}, {.d_model = d_model});
}

}  // namespace posenc
