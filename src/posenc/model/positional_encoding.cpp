#include "posenc/model/positional_encoding.h"

#include "posenc/model/internal/checks.h"
#include "posenc/model/simd/kernels.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/caches.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/with_type.h"
#include "posenc/support/worker_memory.h"

#include <algorithm>
#include <iterator>

namespace posenc::model {
namespace {

/// True if a table and `inputs` inputs of its size stay in the last-level cache. Computed in
/// double, so that no product overflows.
bool stay_in_cache(std::int64_t rows, std::int64_t columns, std::int64_t inputs) noexcept {
  const double bytes = 4.0 * static_cast<double>(columns) * static_cast<double>(rows) *
                       (static_cast<double>(inputs) + 1);
  return bytes <= static_cast<double>(known_cache_bytes(3));
}

SelectedEncoder plan(const EncodingSpec& spec, std::int64_t max_rows, const Accuracy& accuracy) {
  validate(spec);
  check_range("max_rows", max_rows, 0, max_position + 1);
  return plan_selected(spec, {0, max_rows}, {.accuracy = accuracy});
}

/// Throws unless the rows, which start at `offset`, are below max_rows.
void check_rows(std::int64_t rows, std::int64_t offset, std::int64_t max_rows) {
  if (offset < 0 || offset > max_rows)
    throw_invalid("offset is {}; allowed: 0 to max_rows, {}", offset, max_rows);
  if (rows > max_rows - offset) {
    throw_invalid("rows end at {} ({} from offset {}); allowed: at most max_rows, {}",
                  static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(rows), rows,
                  offset, max_rows);
  }
}

/// A forgotten seed would drop the same elements in every step.
void check_seed(const Dropout* dropout, const ForwardOptions& options) {
  if (dropout != nullptr && !options.seed)
    throw InvalidArgument("seed is not given; allowed with dropout: a new one for every step");
}

std::string_view order_name(BatchOrder order) noexcept {
  return order == BatchOrder::batch_first ? "batch_first" : "sequence_first";
}

// ---- Rows ---------------------------------------------------------------------------------------

/// The operation on every row. forward() and backward() have checked all arguments. If working
/// memory cannot be allocated, std::bad_alloc is thrown and nothing is written.
struct RowWork {
  AnySequences x;
  AnySequences y;          ///< has the type, the shape and the order of x
  const Dropout* dropout;  ///< null if there is no dropout
  std::uint64_t seed;      ///< seed of dropout
  bool non_temporal;       ///< used if type and alignment allow it; y is not x
  Threads threads;
};

/// Adds the encoding and applies dropout in float32, in pieces that stay in the L1 cache. `first`
/// is the index of the first element.
void combine_and_drop(const RowWork& work, const void* x, const float* encoding, void* out,
                      std::int64_t count, std::int64_t first) noexcept {
  const simd::ModelKernels& kernels = simd::best_model_kernels();
  const bool is_float32 = work.y.type == DataType::float32;
  const bool is_bfloat16 = work.y.type == DataType::bfloat16;
  float piece[1024];
  for (std::int64_t i = 0, size = 0; i < count; i += size) {
    size = std::min<std::int64_t>(count - i, std::size(piece));
    if (!is_float32)
      kernels.widen(static_cast<const std::uint16_t*>(x) + i, size, is_bfloat16, piece);
    const float* const from = is_float32 ? static_cast<const float*>(x) + i : piece;
    float* const to = is_float32 ? static_cast<float*>(out) + i : piece;
    simd::best_kernels().combine({from, encoding == nullptr ? nullptr : encoding + i, to, size, 1});
    work.dropout->apply(std::span(to, static_cast<std::size_t>(size)), work.seed,
                        static_cast<std::uint64_t>(first + i));
    if (!is_float32) kernels.narrow(piece, size, is_bfloat16, static_cast<std::uint16_t*>(out) + i);
  }
}

/// Combines the rows begin .. end - 1 of every sequence. There are so few rows that their
/// encodings, once added to one sequence, are still in cache for the next. `encoded` holds the
/// encodings. It is null if nothing is added.
void combine_rows(const RowWork& work, simd::StoreMethod stores, std::int64_t begin,
                  std::int64_t end, const float* encoded) noexcept {
  constexpr std::int64_t l1_floats = 4096;
  const AnySequences& y = work.y;
  const bool is_dense = work.x.row_stride == y.columns && y.row_stride == y.columns;
  const bool is_batch_first = y.order == BatchOrder::batch_first;
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
  const AnySequences& y = work.y;
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
  const AnySequences& y = work.y;
  with_type(y.type, [&]<class T>(T) {
    const auto view = [&](void* data) {
      return MatrixView<T>{static_cast<T*>(data), y.rows, y.columns, y.row_stride};
    };
    encoder.add(
        rows, view(work.x.data), 1, view(y.data),
        {work.threads, work.non_temporal ? StorePolicy::non_temporal : StorePolicy::cached});
  });
}

/// Adds the encodings of `rows`, which has as many rows as y. No table is kept in memory: blocks of
/// rows are encoded into memory that stays in cache, and added to every sequence.
void add_encoding(const Encoder& encoder, RowRange rows, const RowWork& work) {
  if (is_plain_sum(work)) return add_to_one_sequence(encoder, rows, work);
  const std::int64_t columns = work.y.columns;
  combine_blocks(work, true, [&](std::int64_t begin, std::int64_t count, float* memory) {
    encoder.encode({.first = rows.first + begin, .count = count}, {memory, count, columns, columns},
                   {1, StorePolicy::cached});
    return memory;
  });
}

/// Adds row r of a dense table to row r of every sequence. Adds nothing if the table is null.
void add_table(const float* table, const RowWork& work) {
  combine_blocks(work, false, [&](std::int64_t begin, std::int64_t, float*) {
    return table == nullptr ? nullptr : table + begin * work.y.columns;
  });
}

}  // namespace

PositionalEncoding::PositionalEncoding(const EncodingSpec& spec, std::int64_t max_rows,
                                       double dropout, EncodingSource source,
                                       const Accuracy& accuracy)
    : selected_(plan(spec, max_rows, accuracy)),
      max_rows_(max_rows),
      dropout_(dropout),
      source_(source) {
  if (source == EncodingSource::automatic && !stay_in_cache(max_rows, spec.d_model, 1))
    source_ = EncodingSource::fused;
  if (source_ == EncodingSource::fused) return;
  table_ = Matrix(max_rows, spec.d_model);
  encoder().encode({.first = 0, .count = max_rows}, table_.view());
}

EncodingSource PositionalEncoding::source(std::int64_t batch, std::int64_t rows) const noexcept {
  if (source_ != EncodingSource::automatic) return source_;
  // A batch that is larger than the cache evicts the table.
  return stay_in_cache(rows, spec().d_model, batch) ? EncodingSource::cached
                                                    : EncodingSource::fused;
}

void PositionalEncoding::forward(const AnySequences& x, const WritableSequences& y,
                                 const ForwardOptions& options) const {
  check_threads(options.threads);
  check_equal("input", "columns", x.columns, "d_model", spec().d_model);
  check_equal("output", "columns", y.columns, "d_model", spec().d_model);
  check_same_type("output", y.type, "the input", x.type);
  if (x.order != y.order) {
    throw_invalid("output is {}; allowed: the order of the input, {}", order_name(y.order),
                  order_name(x.order));
  }
  check_same_rows<AnySequences>("output", y, "the input", x);
  check_apart(strided("output", y), strided("input", x), true);
  check_seed(dropout_of(options), options);
  check_rows(x.rows, options.offset, max_rows_);
  if (y.batch == 0 || y.rows == 0) return;  // The other size may be huge.
  const bool non_temporal =
      x.data != y.data && simd::is_non_temporal(options.stores, 4 * y.batch * y.rows * y.columns);
  const RowWork work = {
      x, y, dropout_of(options), options.seed.value_or(0), non_temporal, options.threads};
  if (source(y.batch, y.rows) == EncodingSource::fused)
    return add_encoding(encoder(), {options.offset, y.rows}, work);
  add_table(table_.data() + options.offset * table_.columns(), work);
}

void PositionalEncoding::backward(const WritableSequences& gradient,
                                  const ForwardOptions& options) const {
  check_threads(options.threads);
  check_equal("gradient", "columns", gradient.columns, "d_model", spec().d_model);
  check_memory("gradient", gradient);
  check_seed(dropout_of(options), options);
  if (const Dropout* const dropout = dropout_of(options))
    add_table(nullptr,
              {gradient, gradient, dropout, options.seed.value_or(0), false, options.threads});
}

}  // namespace posenc::model
