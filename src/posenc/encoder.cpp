#include "posenc/encoder.h"

#include "posenc/cpu.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace posenc {
namespace {

/// Uninitialised memory. A table of several huge pages is aligned to them and asks for them: its
/// first touch then costs one page fault in 2 MiB instead of 512 (bench_encode shows fresh memory
/// beside warm). Smaller ones are aligned to a cache line.
void* allocate(std::size_t bytes) {
  constexpr std::size_t cache_line = 64, huge_page = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : cache_line;
  if (bytes > SIZE_MAX - alignment) throw std::bad_alloc();
  const std::size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == huge_page)
    madvise(memory, rounded, MADV_HUGEPAGE);  // a wish: the system may have none
#endif
  return memory;
}

void check_view(const Encoder& encoder, std::int64_t rows, const OutputView& out,
                const EncodeOptions& options) {
  const EncodingSpec& spec = encoder.spec();
  if (!encoder.writes(out.type)) {
    throw InvalidArgument(format_text("dtype is {}; backend {} has not the precision for it",
                                      to_string(out.type), encoder.backend()));
  }
  if (options.threads < 1)
    throw InvalidArgument(format_text("threads is {}; allowed: at least 1", options.threads));
  if (out.columns < spec.d_model) {
    throw InvalidArgument(format_text("view has {} columns; allowed: at least d_model, {}",
                                      out.columns, spec.d_model));
  }
  if (out.stride < out.columns) {
    throw InvalidArgument(format_text("view has stride {}; allowed: at least its columns, {}",
                                      out.stride, out.columns));
  }
  if (out.rows < rows) {
    throw InvalidArgument(
        format_text("view has {} rows; allowed: at least the row count, {}", out.rows, rows));
  }
  if (rows > 0 && out.data == nullptr)
    throw InvalidArgument("view has no memory (data is null); allowed: a valid pointer");
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(out.stride, rows, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(out.type), &bytes)) {
    throw InvalidArgument(format_text(
        "view spans {} rows of stride {}; allowed: at most 2^63 - 1 bytes", rows, out.stride));
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

/// Whether a table of so many bytes goes past the caches. One that exceeds the last-level cache
/// pushes everything else out of it and is itself gone before it is read; stores past it then run
/// at the memory's own pace, where plain ones first read each line (bench_limits shows both).
bool past_caches(Stores stores, std::int64_t bytes) noexcept {
  if (stores != Stores::automatic) return stores == Stores::streamed;
  return shape_class(bytes) == ShapeClass::memory;
}

}  // namespace

Encoder::Encoder(const EncodingSpec& spec, std::string backend, Isa isa)
    : spec_(spec), backend_(std::move(backend)), isa_(isa) {}

void Encoder::encode(RowRange rows, OutputView out, EncodeOptions options) const {
  validate(rows);
  check_view(*this, rows.count, out, options);
  const bool streamed = past_caches(options.stores, rows.count * spec_.d_model * size_of(out.type));
  const RowTask all = {rows.first, rows.count, out.data, out.stride, out.type, streamed};
  share_rows(rows.count, options.threads, [&](std::int64_t begin, std::int64_t end) {
    RowTask part = all.after(begin);
    part.count = end - begin;
    encode_rows(part);
  });
}

void Encoder::add(RowRange rows, MatrixView<const float> x, float scale, MatrixView<float> out,
                  Stores stores) const {
  validate(rows);
  check_view(*this, rows.count, out, {1, stores});
  if (!can_add())
    throw InvalidArgument(format_text("backend is {}; allowed: one that can add", backend_));
  if (x.rows < rows.count || x.columns < spec_.d_model || x.stride != out.stride) {
    throw InvalidArgument(format_text(
        "x is {} x {} with stride {}; allowed: at least {} x {} with the output's stride, {}",
        x.rows, x.columns, x.stride, rows.count, spec_.d_model, out.stride));
  }
  if (rows.count == 0) return;
  if (x.data == nullptr)
    throw InvalidArgument("x has no memory (data is null); allowed: a valid pointer");
  const bool streamed =
      past_caches(stores, rows.count * spec_.d_model * size_of(DataType::float32));
  encode_rows({rows.first, rows.count, out.data, out.stride, DataType::float32,
               streamed && x.data != out.data, x.data, scale});
}

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
  check_view(*this, count, out, options);
  const bool streamed = past_caches(options.stores, count * spec_.d_model * size_of(out.type));
  const RowTask all = {0, count, out.data, out.stride, out.type, streamed};
  const auto position_of = [positions](std::int64_t row) { return std::int64_t{positions[row]}; };
  share_rows(count, options.threads, [&](std::int64_t begin, std::int64_t end) {
    // Runs of consecutive positions, as batches of sequences have them, are encoded as ranges.
    for (std::int64_t row = begin; row < end;) {
      std::int64_t last = row;
      while (last + 1 < end && position_of(last + 1) == position_of(last) + 1) ++last;
      RowTask run = all.after(row);
      run.first = position_of(row);
      run.count = last - row + 1;
      encode_rows(run);
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
  return is_correctly_rounded(type) ? 0.5 : std::numeric_limits<double>::infinity();
}

Cursor::Cursor(const Encoder& encoder, std::int64_t first) : encoder_(encoder) { seek(first); }

void Cursor::seek(std::int64_t position) {
  validate(RowRange{position, 0});
  position_ = position;
}

std::span<const float> Cursor::next() {
  // Rows that share an anchor cost a fraction of a row alone; more of them than this gain little
  // and leave the cache.
  constexpr std::int64_t rows_ahead = 32;
  if (position_ < kept_.first || position_ >= kept_.first + kept_.count) {
    const RowRange rows = {position_, std::min(rows_ahead, max_position - position_ + 1)};
    if (rows.count == 0)
      throw InvalidArgument(
          format_text("position is {}; allowed: 0 to {}", position_, max_position));
    const std::int64_t columns = encoder_.spec().d_model;
    ahead_.resize(static_cast<std::size_t>(rows_ahead * columns));
    encoder_.encode(rows, {ahead_.data(), rows.count, columns, columns}, {1, Stores::cached});
    kept_ = rows;
  }
  const auto columns = static_cast<std::size_t>(encoder_.spec().d_model);
  return {ahead_.data() + static_cast<std::size_t>(position_++ - kept_.first) * columns, columns};
}

void* allocate_table(std::int64_t rows, std::int64_t columns, DataType type) {
  std::int64_t bytes = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(type), &bytes)) {
    throw InvalidArgument(format_text(
        "matrix shape is {} x {}; allowed: non-negative, at most 2^63 - 1 bytes", rows, columns));
  }
  return allocate(static_cast<std::size_t>(bytes));
}

void free_table(void* memory) noexcept { std::free(memory); }

}  // namespace posenc
