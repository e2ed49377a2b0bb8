/// @file
/// Queries and keys in the caller's memory, in every order of their dimensions.
#pragma once

#include "posenc/data_type.h"
#include "posenc/model/sequence_view.h"

#include <cstdint>
#include <type_traits>

namespace posenc {

/// `heads` heads of `columns` channels in each of the `rows` rows of `batch` sequences. Head h of
/// row r of sequence b starts at data + b * batch_stride + h * head_stride + r * row_stride. The
/// stride of a dimension of size 1 is ignored.
struct HeadsShape {
  std::int64_t batch = 1;         ///< sequences
  std::int64_t heads = 1;         ///< of each row
  std::int64_t rows = 1;          ///< of each sequence
  std::int64_t columns = 0;       ///< channels of a head
  std::int64_t batch_stride = 0;  ///< elements from one sequence to the next
  std::int64_t head_stride = 0;   ///< elements from one head to the next
  std::int64_t row_stride = 0;    ///< elements from one row to the next
};

/// Heads in memory, which must not overlap. Any strides are allowed:
///
///     HeadsView(data, {.heads = 8, .rows = n, .columns = 64,
///                      .head_stride = 64, .row_stride = 512})
struct HeadsView : HeadsShape {
  /// `first` is the first channel of head 0, row 0 and sequence 0.
  template <class T>
  requires(!std::is_const_v<T>) HeadsView(T* first, const HeadsShape& shape)
  noexcept : HeadsShape(shape), data(first), type(data_type_of<T>) {}

  /// One sequence, whose heads are the sequences of `x`: sequence_first(data, rows, heads, columns)
  /// or batch_first(data, heads, rows, columns).
  template <class T>
  requires(!std::is_const_v<T>) HeadsView(const SequenceView<T>& x)
  noexcept  // NOLINT: implicit
      : HeadsView(x.data, {.heads = x.batch,
                           .rows = x.rows,
                           .columns = x.columns,
                           .head_stride = x.batch_stride,
                           .row_stride = x.row_stride}) {}

  void* data;     ///< the first channel
  DataType type;  ///< of the elements
};

/// Dense, shape (batch, heads, rows, columns).
template <class T>
HeadsView heads_first(T* data, std::int64_t batch, std::int64_t heads, std::int64_t rows,
                      std::int64_t columns) noexcept {
  return {data, {batch, heads, rows, columns, heads * rows * columns, rows * columns, columns}};
}

/// Dense, shape (batch, rows, heads, columns).
template <class T>
HeadsView rows_first(T* data, std::int64_t batch, std::int64_t rows, std::int64_t heads,
                     std::int64_t columns) noexcept {
  return {data, {batch, heads, rows, columns, rows * heads * columns, columns, heads * columns}};
}

}  // namespace posenc
