#include "posenc/model/internal/add_encoding.h"

#include "posenc/encoder.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <iterator>

namespace posenc {
namespace {

/// A piece of work: rows begin .. end - 1 of the sequences first_batch .. last_batch - 1.
struct Part {
  std::int64_t begin, end;
  std::int64_t first_batch, last_batch;
};

simd::StoreMethod store_plan(const RowWork& work) noexcept {
  const AnySequences& y = work.y;
  const std::int64_t lengths[] = {y.columns, y.batch > 1 ? y.batch_stride : 0,
                                  y.rows > 1 ? y.row_stride : 0};
  return simd::plan_combined_rows(work.non_temporal, y.type, y.data, lengths);
}

/// Combines chunks of rows. They are short enough that the encodings, once added to one sequence,
/// are still in cache for the next.
class Combiner {
 public:
  explicit Combiner(const RowWork& work)
      : work_(work), kernels_(simd::best_kernels()), stores_(store_plan(work)) {}

  /// Combines the rows begin .. end - 1 of a part. Row 0 of `encoded`, which has no memory if
  /// nothing is added, is row `begin`.
  void combine_rows(std::int64_t begin, std::int64_t end, const Part& part,
                    MatrixView<const float> encoded) const noexcept {
    const AnySequences& y = work_.y;
    const bool has_encoded = encoded.data != nullptr;
    const bool dense = work_.x.row_stride == y.columns && y.row_stride == y.columns &&
                       (!has_encoded || encoded.stride == y.columns);
    // One sequence has the same memory in both orders. Of several, one row of each in turn, or so
    // few rows at once that their encodings stay in the first-level cache while they are added to
    // every sequence.
    const std::int64_t in_cache = std::max<std::int64_t>(1, l1_floats / y.columns),
                       step = y.batch == 1                            ? end - begin
                              : y.order == BatchOrder::sequence_first ? 1
                                                                      : in_cache;
    for (std::int64_t row = begin; row < end; row += step) {
      const std::int64_t next = std::min(row + step, end), at_once = dense ? next - row : 1;
      for (std::int64_t b = part.first_batch; b < part.last_batch; ++b) {
        for (std::int64_t r = row; r < next; r += at_once)
          combine(b, r, at_once,
                  has_encoded ? encoded.data + (r - begin) * encoded.stride : nullptr);
      }
    }
  }

  /// Must follow the last chunk of a part.
  void finish() const noexcept {
    if (stores_ != simd::StoreMethod::plain) kernels_.fence();
  }

 private:
  static constexpr std::int64_t l1_floats = 4096;

  void combine(std::int64_t batch, std::int64_t row, std::int64_t rows,
               const float* encoding) const noexcept {
    const AnySequences& y = work_.y;
    const std::int64_t index =
        y.order == BatchOrder::batch_first ? batch * y.rows + row : row * y.batch + batch;
    const void* const x = work_.x.row(batch, row);
    void* const out = y.row(batch, row);
    const std::int64_t count = rows * y.columns;
    if (work_.dropout != nullptr)
      return combine_and_drop(x, encoding, out, count, index * y.columns);
    kernels_.combine({x, encoding, out, count, 1, stores_, y.type});
  }

  /// In float32, a piece that stays in the first-level cache at a time. `first` is the index of the
  /// first element.
  void combine_and_drop(const void* x, const float* encoding, void* out, std::int64_t count,
                        std::int64_t first) const noexcept {
    float piece[1024];
    const DataType type = work_.y.type;
    const bool is_bfloat16 = type == DataType::bfloat16;
    for (std::int64_t i = 0, size = 0; i < count; i += size) {
      size = std::min<std::int64_t>(count - i, std::size(piece));
      if (type == DataType::float32) {
        std::copy_n(static_cast<const float*>(x) + i, size, piece);
      } else {
        kernels_.widen(static_cast<const std::uint16_t*>(x) + i, size, is_bfloat16, piece);
      }
      const float* const of_piece = encoding == nullptr ? nullptr : encoding + i;
      kernels_.combine({piece, of_piece, piece, size, 1});
      work_.dropout->apply(std::span(piece, static_cast<std::size_t>(size)), work_.seed,
                           static_cast<std::uint64_t>(first + i));
      if (type == DataType::float32) {
        std::copy_n(piece, size, static_cast<float*>(out) + i);
      } else {
        kernels_.narrow(piece, size, is_bfloat16, static_cast<std::uint16_t*>(out) + i);
      }
    }
  }

  const RowWork& work_;
  const simd::Kernels& kernels_;
  simd::StoreMethod stores_;
};

/// Calls on_part(part, thread) for the parts of the work. Rows are divided, so that no encoding is
/// computed twice, or sequences if there are fewer rows than threads and than sequences: so many of
/// them at a time that computing the encodings again costs little.
template <class Work>
void parallel_for_parts(const RowWork& work, const Work& on_part) {
  constexpr std::int64_t fewest_sequences = 32;
  const std::int64_t batch = work.y.batch, rows = work.y.rows, columns = work.y.columns;
  if (batch == 0 || rows == 0) return;
  const bool by_rows = rows >= work.threads || rows >= batch;
  const std::int64_t grain = by_rows ? rows_per_piece(batch * columns)
                                     : std::max(fewest_sequences, rows_per_piece(rows * columns));
  parallel_for(by_rows ? rows : batch, grain, work.threads,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 on_part(by_rows ? Part{begin, end, 0, batch} : Part{0, rows, begin, end}, thread);
               });
}

/// One sequence without dropout, whose input and output have the same stride.
bool is_plain_sum(const RowWork& work) noexcept {
  return work.y.batch == 1 && work.dropout == nullptr && work.x.row_stride == work.y.row_stride &&
         work.y.row_stride >= work.y.columns;
}

void add_to_one_sequence(const Encoder& encoder, RowRange rows, const RowWork& work) {
  const AnySequences& y = work.y;
  with_type(y.type, [&]<class T>(T) {
    const auto view = [&]<class U>(U* data) -> MatrixView<U> {
      return {data, y.rows, y.columns, y.row_stride};
    };
    encoder.add(
        rows, view(static_cast<const T*>(work.x.data)), 1, view(static_cast<T*>(y.data)),
        {work.threads, work.non_temporal ? StorePolicy::non_temporal : StorePolicy::cached});
  });
}

}  // namespace

void add_encoding(const Encoder& encoder, RowRange rows, const RowWork& work) {
  if (is_plain_sum(work)) return add_to_one_sequence(encoder, rows, work);
  const std::int64_t columns = work.y.columns;
  const std::int64_t step =
      std::min(rows_in_cache(columns), std::max<std::int64_t>(work.y.rows, 1));
  detail::WorkerMemory memory(step * columns, work.threads);
  parallel_for_parts(work, [&](const Part& part, int thread) {
    const Combiner combiner(work);
    float* const own = memory.of(thread);
    for (std::int64_t begin = part.begin; begin < part.end; begin += step) {
      const std::int64_t count = std::min(step, part.end - begin);
      encoder.encode({.first = rows.first + begin, .count = count}, {own, count, columns, columns},
                     {1, StorePolicy::cached});
      combiner.combine_rows(begin, begin + count, part, {own, count, columns, columns});
    }
    combiner.finish();
  });
}

void add_table(MatrixView<const float> table, const RowWork& work) {
  const std::int64_t step = rows_in_cache(work.y.columns);
  parallel_for_parts(work, [&](const Part& part, int) {
    const Combiner combiner(work);
    for (std::int64_t begin = part.begin; begin < part.end; begin += step) {
      MatrixView<const float> rest = table;
      if (rest.data != nullptr) rest.data += begin * table.stride;
      combiner.combine_rows(begin, std::min(begin + step, part.end), part, rest);
    }
    combiner.finish();
  });
}

}  // namespace posenc
