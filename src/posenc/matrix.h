/// @file
/// Tables in memory: views of the caller's memory, and a matrix that owns its memory.
#pragma once

#include "posenc/data_type.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace posenc {

/// A row-major matrix in the caller's memory. Row r starts at data + r * stride, where the stride
/// counts elements and is at least the number of columns. Needs no alignment beyond that of T.
template <class T>
struct MatrixView {
  T* data = nullptr;         ///< the first element of row 0
  std::int64_t rows = 0;     ///< at least 0
  std::int64_t columns = 0;  ///< of each row
  std::int64_t stride = 0;   ///< elements from one row to the next

  /// A writable view is also a readable one.
  operator MatrixView<const T>() const noexcept  // NOLINT: implicit
      requires(!std::is_const_v<T>) {
    return {data, rows, columns, stride};
  }
};

/// A MatrixView of any element type of tables (see data_type.h). `Data` is void or const void.
template <class Data>
struct AnyView {
  /// Of a view of that type.
  template <class T>
  requires std::is_convertible_v<T*, Data*> AnyView(const MatrixView<T>& view)
  noexcept  // NOLINT
      : AnyView(view.data, view.rows, view.columns, view.stride) {}

  /// Of memory: see MatrixView.
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
  std::int64_t columns;  ///< of each row
  std::int64_t stride;   ///< elements from one row to the next
  DataType type;         ///< of the elements
};

/// A view to write to.
using OutputView = AnyView<void>;
/// A view to read.
using InputView = AnyView<const void>;

namespace detail {

/// Allocates the memory of a BasicMatrix, which free_table() releases.
void* allocate_table(std::int64_t rows, std::int64_t columns, DataType type);
void free_table(void* memory) noexcept;

}  // namespace detail

/// A dense row-major matrix that owns its memory: 64-byte aligned, and in huge pages if it is large
/// and the system has them. T is an element type of tables (see data_type.h).
template <class T>
class BasicMatrix {
 public:
  BasicMatrix() = default;
  /// Elements are uninitialised. Throws InvalidArgument if a size is negative or the matrix exceeds
  /// 2^63 - 1 bytes, and std::bad_alloc if there is not enough memory.
  BasicMatrix(std::int64_t rows, std::int64_t columns)
      : data_(static_cast<T*>(detail::allocate_table(rows, columns, data_type_of<T>))),
        rows_(rows),
        columns_(columns) {}

  /// `other` becomes empty.
  BasicMatrix(BasicMatrix&& other) noexcept { *this = std::move(other); }
  /// `other` becomes empty.
  BasicMatrix& operator=(BasicMatrix&& other) noexcept {
    data_ = std::move(other.data_);
    rows_ = std::exchange(other.rows_, 0);
    columns_ = std::exchange(other.columns_, 0);
    return *this;
  }

  std::int64_t rows() const noexcept { return rows_; }        ///< 0 if empty
  std::int64_t columns() const noexcept { return columns_; }  ///< elements of a row
  T* data() noexcept { return data_.get(); }                  ///< element (0, 0); null if empty
  const T* data() const noexcept { return data_.get(); }      ///< element (0, 0), to read
  /// The element of that row and column, which are not checked.
  T& operator()(std::int64_t row, std::int64_t column) noexcept {
    return data_.get()[row * columns_ + column];
  }
  /// The element of that row and column, to read.
  const T& operator()(std::int64_t row, std::int64_t column) const noexcept {
    return data_.get()[row * columns_ + column];
  }
  /// A row, of columns() elements. Its number is not checked.
  std::span<T> row(std::int64_t r) noexcept {
    return {data_.get() + r * columns_, static_cast<std::size_t>(columns_)};
  }
  /// A row, to read.
  std::span<const T> row(std::int64_t r) const noexcept {
    return {data_.get() + r * columns_, static_cast<std::size_t>(columns_)};
  }
  /// All of it, valid as long as the matrix.
  MatrixView<T> view() noexcept { return {data_.get(), rows_, columns_, columns_}; }
  /// All of it, to read.
  MatrixView<const T> view() const noexcept { return {data_.get(), rows_, columns_, columns_}; }

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
