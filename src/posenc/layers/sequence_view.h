// Batches of sequences in memory that somebody else owns, in both orders that are in common use.
#pragma once

#include "posenc/export.h"

#include <cstdint>
#include <type_traits>

namespace POSENC_API posenc {

enum class BatchOrder {
  batch_first,     ///< shape (batch, rows, columns)
  sequence_first,  ///< shape (rows, batch, columns)
};

/// `batch` sequences of `rows` rows of `columns` channels. Row r of sequence b starts at data + b *
/// batch_stride + r * row_stride; strides count elements, and only those of dimensions larger than
/// 1 matter. Rows must not overlap. The order says how elements are counted, whatever the strides:
/// element (b, r, c) has the index that it has in a dense tensor of that order.
template <class T>
struct SequenceView {
  T* data = nullptr;
  BatchOrder order = BatchOrder::batch_first;
  std::int64_t batch = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;

  /// A view to write through is one to read through.
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
