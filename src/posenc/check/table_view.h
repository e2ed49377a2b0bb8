/// @file
/// A view of a table to read, of any type and strides.
#pragma once

#include "posenc/data_type.h"
#include "posenc/matrix.h"

#include <cstdint>
#include <type_traits>

namespace posenc::check {

/// A view of a table to read, of any strides: row-major, column-major, every other row.
struct TableView {
  /// An empty view.
  TableView() = default;
  /// A view of a row-major matrix.
  template <class T>
  TableView(MatrixView<T> view)  // NOLINT: implicit
      : data(view.data),
        type(data_type_of<std::remove_const_t<T>>),
        rows(view.rows),
        columns(view.columns),
        row_stride(view.stride) {}

  const void* data = nullptr;         ///< address of entry (0, 0)
  DataType type = DataType::float32;  ///< type of the entries
  std::int64_t rows = 0;              ///< number of rows, one per position
  std::int64_t columns = 0;           ///< number of columns
  std::int64_t row_stride = 0;        ///< elements from one row to the next
  std::int64_t column_stride = 1;     ///< elements from one column to the next

  /// The entry in this row and column, which are not checked.
  double operator()(std::int64_t row, std::int64_t column) const noexcept;
};

}  // namespace posenc::check
