/// @file
/// Positions, batches of sequences, and queries and keys in the caller's memory.
#pragma once

#include "posenc/cxx20.h"
#include "posenc/data_type.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

namespace posenc::model {

/// A view of 32-bit or 64-bit integers. A span or a vector of integers converts implicitly. A
/// vector must outlive the view.
class IntegerView {
 public:
  IntegerView() = default;
  IntegerView(const std::int64_t* first, std::int64_t count) noexcept  ///< 64-bit integers
      : data_(first), count_(count), is_wide_(true) {}
  IntegerView(const std::int32_t* first, std::int64_t count) noexcept  ///< 32-bit integers
      : data_(first), count_(count), is_wide_(false) {}
  /// A list in braces, as an argument: axes_in_sections({16, 24, 24}, spec). It must not outlive
  /// the expression.
  IntegerView(std::initializer_list<std::int64_t> list) noexcept  // NOLINT: implicit
      : IntegerView(list.begin(), static_cast<std::int64_t>(list.size())) {}
  /// The integers of an array, a span or a vector.
  template <class Integers>
  requires requires(const Integers& each) { IntegerView(std::data(each), 0); }
  IntegerView(const Integers& each) noexcept  // NOLINT: implicit
      : IntegerView(std::data(each), std::ssize(each)) {}

  const void* data() const noexcept { return data_; }               ///< the first integer
  std::int64_t count() const noexcept { return count_; }            ///< the number of integers
  bool is_wide() const noexcept { return is_wide_; }                ///< true for 64-bit integers
  std::int64_t bytes() const noexcept { return is_wide_ ? 8 : 4; }  ///< bytes of one integer
  std::int64_t operator[](std::int64_t i) const noexcept {          ///< integer i
    return is_wide_ ? static_cast<const std::int64_t*>(data_)[i]
                    : static_cast<const std::int32_t*>(data_)[i];
  }
  /// A copy of the integers.
  std::vector<std::int64_t> list() const {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count_; ++i) all.push_back((*this)[i]);
    return all;
  }
  /// The integers begin .. begin + count - 1.
  IntegerView part(std::int64_t begin, std::int64_t count) const noexcept {
    IntegerView some = *this;
    some.data_ = static_cast<const char*>(data_) + begin * bytes();
    some.count_ = count;
    return some;
  }
  /// Calls use(span) with a span of 64-bit or 32-bit integers.
  template <class Use>
  decltype(auto) as_span(const Use& use) const {
    const auto count = static_cast<std::size_t>(count_);
    return is_wide_ ? use(std::span(static_cast<const std::int64_t*>(data_), count))
                    : use(std::span(static_cast<const std::int32_t*>(data_), count));
  }

 private:
  const void* data_ = nullptr;
  std::int64_t count_ = 0;
  bool is_wide_ = true;
};

/// The order of a batch's dimensions.
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
  T* data = nullptr;                           ///< the first element of row 0 of sequence 0
  BatchOrder order = BatchOrder::batch_first;  ///< order of elements, for masks
  std::int64_t batch = 0;                      ///< sequences
  std::int64_t rows = 0;                       ///< rows per sequence
  std::int64_t columns = 0;                    ///< channels per row
  std::int64_t batch_stride = 0;               ///< elements from one sequence to the next
  std::int64_t row_stride = 0;                 ///< elements from one row to the next

  /// A writable view is also a readable one.
  operator SequenceView<const T>() const noexcept requires(!std::is_const_v<T>) {
    return {data, order, batch, rows, columns, batch_stride, row_stride};
  }
};

/// `heads` heads of `columns` channels in each of the `rows` rows of `batch` sequences. Head h of
/// row r of sequence b starts at data + b * batch_stride + h * head_stride + r * row_stride. The
/// stride of a dimension of size 1 is ignored.
struct HeadsShape {
  std::int64_t batch = 1;         ///< sequences
  std::int64_t heads = 1;         ///< heads per row
  std::int64_t rows = 1;          ///< rows per sequence
  std::int64_t columns = 0;       ///< channels of a head
  std::int64_t batch_stride = 0;  ///< elements from one sequence to the next
  std::int64_t head_stride = 0;   ///< elements from one head to the next
  std::int64_t row_stride = 0;    ///< elements from one row to the next
};

/// A SequenceView of any element type except double. A SequenceView converts implicitly.
struct AnySequences : HeadsShape {
  /// A view of the same memory.
  template <class T>
  AnySequences(const SequenceView<T>& of) noexcept
      : HeadsShape{.batch = of.batch,
                   .rows = of.rows,
                   .columns = of.columns,
                   .batch_stride = of.batch_stride,
                   .row_stride = of.row_stride},
        order(of.order),
        data(const_cast<std::remove_const_t<T>*>(of.data)),
        type(data_type_of<std::remove_const_t<T>>) {
    static_assert(size_of(data_type_of<std::remove_const_t<T>>) <= 4);
  }

  /// The first element of a row of a sequence.
  void* row(std::int64_t sequence, std::int64_t row) const noexcept {
    return static_cast<char*>(data) + (sequence * batch_stride + row * row_stride) * size_of(type);
  }

  BatchOrder order;  ///< order of the dimensions
  void* data;        ///< the first element of row 0 of sequence 0
  DataType type;     ///< the element type
};

/// AnySequences that may be written to.
struct WritableSequences : AnySequences {
  /// A view of the same memory.
  template <class T>
  requires(!std::is_const_v<T>) WritableSequences(const SequenceView<T>& view)
  noexcept : AnySequences(view) {}
};

/// A dense batch of shape (batch, rows, columns).
template <class T>
SequenceView<T> batch_first(T* data, std::int64_t batch, std::int64_t rows,
                            std::int64_t columns) noexcept {
  return {data, BatchOrder::batch_first, batch, rows, columns, rows * columns, columns};
}

/// A dense batch of shape (rows, batch, columns).
template <class T>
SequenceView<T> sequence_first(T* data, std::int64_t rows, std::int64_t batch,
                               std::int64_t columns) noexcept {
  return {data, BatchOrder::sequence_first, batch, rows, columns, columns, batch * columns};
}

/// Heads in memory, which must not overlap. Any strides are allowed:
///
///     posenc::model::HeadsView view(values, {.heads = 8, .rows = count, .columns = 64,
///                                            .head_stride = 64, .row_stride = 512});
struct HeadsView : HeadsShape {
  /// `first` is the first channel of head 0, row 0 and sequence 0.
  template <class T>
  requires(!std::is_const_v<T>) HeadsView(T* first, const HeadsShape& shape)
  noexcept : HeadsShape(shape), data(first), type(data_type_of<T>) {}

  void* data;     ///< the first channel
  DataType type;  ///< the element type
};

/// Dense heads of shape (batch, heads, rows, columns).
template <class T>
HeadsView heads_first(T* data, std::int64_t batch, std::int64_t heads, std::int64_t rows,
                      std::int64_t columns) noexcept {
  return {data, {batch, heads, rows, columns, heads * rows * columns, rows * columns, columns}};
}

/// Dense heads of shape (batch, rows, heads, columns).
template <class T>
HeadsView rows_first(T* data, std::int64_t batch, std::int64_t rows, std::int64_t heads,
                     std::int64_t columns) noexcept {
  return {data, {batch, heads, rows, columns, rows * heads * columns, columns, heads * columns}};
}

}  // namespace posenc::model
