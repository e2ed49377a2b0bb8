#include "posenc/model/internal/add_encoding.h"

#include "posenc/encoder.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <iterator>

namespace posenc {
namespace {

/// Combines chunks of rows. They are short enough that the encodings, once added to one sequence,
/// are still in cache for the next.
class Combiner {
 public:
  explicit Combiner(const RowWork& work) : work_(work), kernels_(simd::best_kernels()) {
    const AnySequences& y = work.y;
    const std::int64_t lengths[] = {y.columns, y.batch > 1 ? y.batch_stride : 0,
                                    y.rows > 1 ? y.row_stride : 0};
    stores_ = simd::plan_combined_rows(work.non_temporal, y.type, y.data, lengths);
  }
  Combiner(const Combiner&) = delete;
  Combiner& operator=(const Combiner&) = delete;
  ~Combiner() {
    if (stores_ != simd::StoreMethod::plain) kernels_.fence();
  }

  /// Rows begin .. end - 1 of every sequence. `encoded` has their encodings, or is null if nothing
  /// is added.
  void combine_rows(std::int64_t begin, std::int64_t end, const float* encoded) const noexcept {
    const AnySequences& y = work_.y;
    const bool is_dense = work_.x.row_stride == y.columns && y.row_stride == y.columns;
    // One sequence has the same memory in both orders. Of several, one row of each in turn, or so
    // few rows at once that their encodings stay in the first-level cache while they are added to
    // every sequence.
    const std::int64_t in_cache = std::max<std::int64_t>(1, l1_floats / y.columns),
                       step = y.batch == 1                            ? end - begin
                              : y.order == BatchOrder::sequence_first ? 1
                                                                      : in_cache;
    for (std::int64_t row = begin; row < end; row += step) {
      const std::int64_t next = std::min(row + step, end), at_once = is_dense ? next - row : 1;
      for (std::int64_t sequence = 0; sequence < y.batch; ++sequence) {
        for (std::int64_t r = row; r < next; r += at_once) {
          combine(sequence, r, at_once,
                  encoded == nullptr ? nullptr : encoded + (r - begin) * y.columns);
        }
      }
    }
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

/// Combines blocks of rows with encode(first row, rows, memory of so many floats). Rows are divided
/// between threads, so that no encoding is computed twice.
template <class Encode>
void combine_blocks(const RowWork& work, bool needs_memory, const Encode& encode) {
  const std::int64_t batch = work.y.batch, rows = work.y.rows, columns = work.y.columns;
  if (batch == 0 || rows == 0) return;
  const std::int64_t step = std::min(rows_in_cache(columns), rows);
  WorkerMemory memory(needs_memory ? step * columns : 0, work.threads);
  parallel_for(rows, rows_per_piece(batch * columns), work.threads,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 const Combiner combiner(work);
                 for (std::int64_t row = begin; row < end; row += step) {
                   const std::int64_t next = std::min(row + step, end);
                   combiner.combine_rows(row, next, encode(row, next - row, memory.of(thread)));
                 }
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
  combine_blocks(work, true, [&](std::int64_t begin, std::int64_t count, float* memory) {
    encoder.encode({.first = rows.first + begin, .count = count}, {memory, count, columns, columns},
                   {1, StorePolicy::cached});
    return memory;
  });
}

void add_table(const float* table, const RowWork& work) {
  combine_blocks(work, false, [&](std::int64_t begin, std::int64_t, float*) {
    return table == nullptr ? nullptr : table + begin * work.y.columns;
  });
}

}  // namespace posenc
