/// @file
/// Queries and keys in the caller's memory, in every order of their dimensions.
#pragma once

#include "posenc/data_type.h"
#include "posenc/model/sequence_view.h"

#include <cstdint>
#include <type_traits>

namespace posenc {

/// Heads of `columns` channels: `heads` of them in each of the `rows` rows of `batch` sequences.
/// Head h of row r of sequence b starts at data + b * batch_stride + h * head_stride + r *
/// row_stride. Strides count elements; the stride of a dimension of size 1 is ignored. Heads must
/// not overlap.
struct HeadsView {
  /// Of memory with any strides.
  template <class T>
  requires(!std::is_const_v<T>)
      HeadsView(T* first, std::int64_t batch_size, std::int64_t head_count, std::int64_t row_count,
                std::int64_t column_count, std::int64_t stride_of_batch,
                std::int64_t stride_of_heads, std::int64_t stride_of_rows)
  noexcept
      : data(first),
        batch(batch_size),
        heads(head_count),
        rows(row_count),
        columns(column_count),
        batch_stride(stride_of_batch),
        head_stride(stride_of_heads),
        row_stride(stride_of_rows),
        type(data_type_of<T>) {}

  /// One sequence, whose heads are the sequences of `x`: sequence_first(data, rows, heads, columns)
  /// or batch_first(data, heads, rows, columns).
  template <class T>
  requires(!std::is_const_v<T>) HeadsView(const SequenceView<T>& x)
  noexcept  // NOLINT: implicit
      : HeadsView(x.data, 1, x.batch, x.rows, x.columns, 0, x.batch_stride, x.row_stride) {}

  void* data;                 ///< the first channel of head 0, row 0 and sequence 0
  std::int64_t batch;         ///< sequences
  std::int64_t heads;         ///< of each row
  std::int64_t rows;          ///< of each sequence
  std::int64_t columns;       ///< channels of a head
  std::int64_t batch_stride;  ///< elements from one sequence to the next
  std::int64_t head_stride;   ///< elements from one head to the next
  std::int64_t row_stride;    ///< elements from one row to the next
  DataType type;              ///< of the elements
};

/// Dense, shape (batch, heads, rows, columns).
template <class T>
HeadsView heads_first(T* data, std::int64_t batch, std::int64_t heads, std::int64_t rows,
                      std::int64_t columns) noexcept {
  return {data, batch, heads, rows, columns, heads * rows * columns, rows * columns, columns};
}

/// Dense, shape (batch, rows, heads, columns).
template <class T>
HeadsView rows_first(T* data, std::int64_t batch, std::int64_t rows, std::int64_t heads,
                     std::int64_t columns) noexcept {
  return {data, batch, heads, rows, columns, rows * heads * columns, columns, heads * columns};
}

}  // namespace posenc
