/// @file
/// Tables in memory: views of the caller's memory, and a matrix that owns its memory.
#pragma once

#include "posenc/cxx20.h"
#include "posenc/data_type.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace posenc {

/// A row-major matrix in the caller's memory. Row r starts at data + r * stride, where the stride
/// counts elements and is at least the number of columns. The memory needs only the alignment of T.
template <class T>
struct MatrixView {
  MatrixView() = default;
  /// A dense matrix: each row follows the previous one.
  MatrixView(T* first, std::int64_t row_count, std::int64_t column_count) noexcept
      : MatrixView(first, row_count, column_count, column_count) {}
  /// A matrix with `row_stride` elements from one row to the next.
  MatrixView(T* first, std::int64_t row_count, std::int64_t column_count,
             std::int64_t row_stride) noexcept
      : data(first), rows(row_count), columns(column_count), stride(row_stride) {}

  T* data = nullptr;         ///< the first element of row 0
  std::int64_t rows = 0;     ///< at least 0
  std::int64_t columns = 0;  ///< elements per row
  std::int64_t stride = 0;   ///< elements from one row to the next

  /// A writable view is also a readable one.
  operator MatrixView<const T>() const noexcept  // NOLINT: implicit
      requires(!std::is_const_v<T>) {
    return {data, rows, columns, stride};
  }

  /// A view of rows begin .. begin + count - 1, which are not checked.
  MatrixView part(std::int64_t begin, std::int64_t count) const noexcept {
    return {data + begin * stride, count, columns, stride};
  }
};

/// A MatrixView of any element type of tables (see data_type.h). `Data` is void or const void.
template <class Data>
struct AnyView {
  /// A view of the same memory as `view`.
  template <class T>
  requires std::is_convertible_v<T*, Data*> AnyView(const MatrixView<T>& view)
  noexcept  // NOLINT
      : AnyView(view.data, view.rows, view.columns, view.stride) {}

  /// A view of a matrix that outlives it, such as a BasicMatrix.
  template <class Viewable>
  requires requires(Viewable& matrix) { AnyView(matrix.view()); }
  AnyView(Viewable& matrix) noexcept  // NOLINT: implicit
      : AnyView(matrix.view()) {}

  /// A view of a dense matrix at `first`.
  template <class T>
  requires std::is_convertible_v<T*, Data*> AnyView(T* first, std::int64_t row_count,
                                                    std::int64_t column_count)
  noexcept : AnyView(first, row_count, column_count, column_count) {}

  /// A view of the memory at `first`; the other parameters are the fields of a MatrixView.
  template <class T>
  requires std::is_convertible_v<T*, Data*> AnyView(T* first, std::int64_t row_count,
                                                    std::int64_t column_count,
                                                    std::int64_t row_stride)
  noexcept
      : data(first),
        rows(row_count),
        columns(column_count),
        stride(row_stride),
        type(data_type_of<std::remove_const_t<T>>) {}

  Data* data;            ///< the first element of row 0
  std::int64_t rows;     ///< at least 0
  std::int64_t columns;  ///< elements per row
  std::int64_t stride;   ///< elements from one row to the next
  DataType type;         ///< the element type
};

/// A view for writing.
using OutputView = AnyView<void>;
/// A view for reading.
using InputView = AnyView<const void>;

namespace detail {

/// Allocates the memory of a BasicMatrix. free_table() releases it.
void* allocate_table(std::int64_t rows, std::int64_t columns, DataType type);
void free_table(void* memory) noexcept;

}  // namespace detail

/// A dense row-major matrix that owns its memory. The memory is 64-byte aligned, and lies in huge
/// pages if the matrix is large and the system has them. T is an element type of tables (see
/// data_type.h).
template <class T>
class BasicMatrix {
 public:
  BasicMatrix() = default;
  /// Leaves the elements uninitialised. Throws InvalidArgument if a size is negative or the matrix
  /// exceeds 2^63 - 1 bytes, and std::bad_alloc if there is not enough memory.
  BasicMatrix(std::int64_t rows, std::int64_t columns)
      : data_(static_cast<T*>(detail::allocate_table(rows, columns, data_type_of<T>))),
        rows_(rows),
        columns_(columns) {}

  /// Moves the matrix; `other` becomes empty.
  BasicMatrix(BasicMatrix&& other) noexcept { *this = std::move(other); }
  /// Moves the matrix; `other` becomes empty.
  BasicMatrix& operator=(BasicMatrix&& other) noexcept {
    data_ = std::move(other.data_);
    rows_ = std::exchange(other.rows_, 0);
    columns_ = std::exchange(other.columns_, 0);
    return *this;
  }

  std::int64_t rows() const noexcept { return rows_; }        ///< 0 if empty
  std::int64_t columns() const noexcept { return columns_; }  ///< elements per row
  T* data() & noexcept { return data_.get(); }                ///< element (0, 0); null if empty
  const T* data() const& noexcept { return data_.get(); }     ///< element (0, 0), read-only
  /// The element in that row and column. The indices are not checked.
  T& operator()(std::int64_t row, std::int64_t column) noexcept {
    return data_.get()[row * columns_ + column];
  }
  /// The element in that row and column, read-only. The indices are not checked.
  const T& operator()(std::int64_t row, std::int64_t column) const noexcept {
    return data_.get()[row * columns_ + column];
  }
  /// Row r, with columns() elements. The index is not checked.
  std::span<T> row(std::int64_t r) & noexcept {
    return {data_.get() + r * columns_, static_cast<std::size_t>(columns_)};
  }
  /// Row r, read-only. The index is not checked.
  std::span<const T> row(std::int64_t r) const& noexcept {
    return {data_.get() + r * columns_, static_cast<std::size_t>(columns_)};
  }
  /// A view of the whole matrix, valid as long as the matrix is.
  MatrixView<T> view() noexcept POSENC_LIFETIMEBOUND { return {data_.get(), rows_, columns_}; }
  /// A read-only view of the whole matrix.
  MatrixView<const T> view() const noexcept POSENC_LIFETIMEBOUND {
    return {data_.get(), rows_, columns_};
  }

  // The memory of a temporary is gone before its rows can be used.
  T* data() && = delete;                                    ///< does not exist
  const T* data() const&& = delete;                         ///< does not exist
  std::span<T> row(std::int64_t r) && = delete;             ///< does not exist
  std::span<const T> row(std::int64_t r) const&& = delete;  ///< does not exist

 private:
  struct Free {
    void operator()(T* memory) const noexcept { detail::free_table(memory); }
  };
  std::unique_ptr<T[], Free> data_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
};

/// A matrix of float32.
using Matrix = BasicMatrix<float>;

}  // namespace posenc
