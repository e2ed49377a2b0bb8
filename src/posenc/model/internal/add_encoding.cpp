#include "posenc/model/internal/add_encoding.h"

#include "posenc/encoder.h"
#include "posenc/model/simd/kernels.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/with_type.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <iterator>

namespace posenc::model {
inline namespace internals {
namespace {

/// Adds the encoding and applies dropout in float32, in pieces that stay in the L1 cache. `first`
/// is the index of the first element.
void combine_and_drop(const RowWork& work, const void* x, const float* encoding, void* out,
                      std::int64_t count, std::int64_t first) noexcept {
  const simd::ModelKernels& kernels = simd::best_model_kernels();
  float piece[1024];
  const DataType type = work.y.type;
  const bool is_bfloat16 = type == DataType::bfloat16;
  for (std::int64_t i = 0, size = 0; i < count; i += size) {
    size = std::min<std::int64_t>(count - i, std::size(piece));
    if (type == DataType::float32) {
      std::copy_n(static_cast<const float*>(x) + i, size, piece);
    } else {
      kernels.widen(static_cast<const std::uint16_t*>(x) + i, size, is_bfloat16, piece);
    }
    const float* const of_piece = encoding == nullptr ? nullptr : encoding + i;
    simd::best_kernels().combine({piece, of_piece, piece, size, 1});
    work.dropout->apply(std::span(piece, static_cast<std::size_t>(size)), work.seed,
                        static_cast<std::uint64_t>(first + i));
    if (type == DataType::float32) {
      std::copy_n(piece, size, static_cast<float*>(out) + i);
    } else {
      kernels.narrow(piece, size, is_bfloat16, static_cast<std::uint16_t*>(out) + i);
    }
  }
}

/// Combines the rows begin .. end - 1 of every sequence. There are so few rows that their
/// encodings, once added to one sequence, are still in cache for the next. `encoded` holds the
/// encodings. It is null if nothing is added.
void combine_rows(const RowWork& work, simd::StoreMethod stores, std::int64_t begin,
                  std::int64_t end, const float* encoded) noexcept {
  constexpr std::int64_t l1_floats = 4096;
  const model::AnySequences& y = work.y;
  const bool is_dense = work.x.row_stride == y.columns && y.row_stride == y.columns;
  const bool is_batch_first = y.order == model::BatchOrder::batch_first;
  // One sequence has the same memory in both orders. If there are several sequences, they take
  // turns: with one row each, or with so few rows that the encodings stay in the L1 cache while
  // they are added to every sequence.
  const std::int64_t in_cache = std::max<std::int64_t>(1, l1_floats / y.columns),
                     step = y.batch == 1     ? end - begin
                            : is_batch_first ? in_cache
                                             : 1;
  for (std::int64_t row = begin; row < end; row += step) {
    const std::int64_t next = std::min(row + step, end), at_once = is_dense ? next - row : 1;
    for (std::int64_t sequence = 0; sequence < y.batch; ++sequence) {
      for (std::int64_t r = row; r < next; r += at_once) {
        const void* const x = work.x.row(sequence, r);
        void* const out = y.row(sequence, r);
        const std::int64_t count = at_once * y.columns;
        const float* const encoding =
            encoded == nullptr ? nullptr : encoded + (r - begin) * y.columns;
        if (work.dropout == nullptr) {
          simd::best_kernels().combine({x, encoding, out, count, 1, stores, y.type});
        } else {
          const std::int64_t index =
              is_batch_first ? sequence * y.rows + r : r * y.batch + sequence;
          combine_and_drop(work, x, encoding, out, count, index * y.columns);
        }
      }
    }
  }
}

/// Combines blocks of rows with the encodings that encode(first row, rows, memory) returns. Threads
/// share the rows, so no encoding is computed twice.
template <class Encode>
void combine_blocks(const RowWork& work, bool needs_memory, const Encode& encode) {
  const model::AnySequences& y = work.y;
  if (y.batch == 0 || y.rows == 0) return;
  const std::int64_t lengths[] = {y.columns, y.batch > 1 ? y.batch_stride : 0,
                                  y.rows > 1 ? y.row_stride : 0};
  const simd::StoreMethod stores =
      simd::plan_combined_rows(work.non_temporal, y.type, y.data, lengths);
  const std::int64_t step = std::min(rows_in_cache(y.columns), y.rows);
  WorkerMemory memory(needs_memory ? step * y.columns : 0, work.threads);
  parallel_for(y.rows, rows_per_piece(y.batch * y.columns), work.threads,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 for (std::int64_t row = begin; row < end; row += step) {
                   const std::int64_t next = std::min(row + step, end);
                   combine_rows(work, stores, row, next,
                                encode(row, next - row, memory.of(thread)));
                 }
                 if (stores != simd::StoreMethod::plain) simd::best_kernels().fence();
               });
}

/// True for one sequence without dropout whose input and output have the same stride.
bool is_plain_sum(const RowWork& work) noexcept {
  return work.y.batch == 1 && work.dropout == nullptr && work.x.row_stride == work.y.row_stride &&
         work.y.row_stride >= work.y.columns;
}

void add_to_one_sequence(const Encoder& encoder, RowRange rows, const RowWork& work) {
  const model::AnySequences& y = work.y;
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

}  // namespace internals
}  // namespace posenc::model
