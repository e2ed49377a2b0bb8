// Batches of sequences in the caller's memory, in both orders that are in common use.
#pragma once

#include "posenc/export.h"

#include <cstdint>
#include <type_traits>

namespace POSENC_API posenc {

enum class BatchOrder {
  batch_first,     ///< shape (batch, rows, columns)
  sequence_first,  ///< shape (rows, batch, columns)
};

/// `batch` sequences of `rows` rows of `columns` channels. Row r of sequence b starts at
/// data + b * batch_stride + r * row_stride. Strides count elements; the stride of a dimension of
/// size 1 is ignored. Rows must not overlap. The order defines the index of an element, independent
/// of the strides: element (b, r, c) has the index that it has in a dense tensor of that order.
template <class T>
struct SequenceView {
  T* data = nullptr;
  BatchOrder order = BatchOrder::batch_first;
  std::int64_t batch = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;

  /// A writable view is also a readable one.
  operator SequenceView<const T>() const noexcept requires(!std::is_const_v<T>) {
    return {data, order, batch, rows, columns, batch_stride, row_stride};
  }
};

/// Dense, shape (batch, rows, columns).
template <class T>
SequenceView<T> batch_first(T* data, std::int64_t batch, std::int64_t rows,
                            std::int64_t columns) noexcept {
  return {data, BatchOrder::batch_first, batch, rows, columns, rows * columns, columns};
}

/// Dense, shape (rows, batch, columns).
template <class T>
SequenceView<T> sequence_first(T* data, std::int64_t rows, std::int64_t batch,
                               std::int64_t columns) noexcept {
  return {data, BatchOrder::sequence_first, batch, rows, columns, columns, batch * columns};
}

}  // namespace posenc
