// Arrays of NumPy, and what shares memory with them, as views of the library.
#pragma once

#include "python/arguments.h"
#include "python/gil.h"

#include "posenc/data_type.h"
#include "posenc/matrix.h"
#include "posenc/model/heads_view.h"
#include "posenc/model/sequence_view.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <type_traits>

namespace posenc::python {

/// bfloat16 is the type of the package ml_dtypes if that is installed, else uint16: the bits.
py::dtype numpy_type(DataType type);

/// The element type of an array, of which 16-bit integers are bfloat16.
DataType type_of(const py::array& array, const char* name);

/// The array itself, or an array that shares memory with another library's: a tensor of PyTorch in
/// the memory of the CPU, of bfloat16 too. An object that only has __array__ is refused: it may
/// return a copy, in which results would be lost.
py::array array_of(const py::object& from, const char* name);

/// The same for an array that is only read, which may be a copy.
py::array readable_array_of(const py::object& from, const char* name);
/// True if readable_array_of() takes it.
bool is_readable_array(const py::object& object);

inline Shape shape_of(const py::array& array) {
  return {array.shape(), array.shape() + array.ndim()};
}
std::string shape_text(const py::array& array);

/// Throws unless the last dimension is contiguous and every stride is a number of whole elements.
void check_strides(const py::array& array, const char* name);

/// In elements.
inline std::int64_t stride_of(const py::array& array, py::ssize_t dimension) {
  return array.strides(dimension) / array.itemsize();
}

/// A table that a function writes and returns.
struct Table {
  /// A new array, or the caller's unless that is None. Its shape is checked: more rows or columns
  /// would keep what they held, and be returned as if they were results.
  Table(const py::object& given, const char* argument, const Shape& shape, const py::dtype& type);

  /// All dimensions but the last are rows, in their order; they must be at equal distances in
  /// memory.
  OutputView view() const;
  /// Calls fill(view) without the lock of the interpreter, and returns the table.
  template <class Fill>
  py::object written_by(const Fill& fill) const {
    const OutputView to = view();
    {
      const ReleasedGil no_gil;
      fill(to);
    }
    return object;
  }

  py::object object;  ///< the caller's, or the array
  py::array array;
  const char* name;
};

/// A table that is read.
InputView input_of(const py::array& array, const char* name);

/// Memory of complex numbers as pairs of real ones.
py::array reals_of(const py::array& array, const char* name);

/// Two to four dimensions, written: (rows, columns), (rows, heads, columns), or (batch, rows,
/// heads, columns); heads before rows if heads_first.
HeadsView heads_of(const py::array& array, const char* name, bool heads_first);

/// Throws unless the array is one of sequences: of two or three dimensions, and not of float64.
/// Calls use(T{}) for its element type.
void check_sequences(const py::array& array, const char* name);
template <class Use>
void with_sequences(const py::array& array, const char* name, const Use& use) {
  check_sequences(array, name);
  with_type(type_of(array, name), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, double>) use(T{});
  });
}

/// Throws if the array is read-only.
void* data_of(py::array array, const char* name);

/// (rows, columns), (batch, rows, columns) or (rows, batch, columns).
template <class T>
SequenceView<T> sequences_of(const py::array& array, bool batch_first, T* data) {
  const bool one = array.ndim() == 2;
  const py::ssize_t batch = batch_first ? 0 : 1, rows = one ? 0 : 1 - batch;
  SequenceView<T> view;
  view.data = data;
  view.order = batch_first ? BatchOrder::batch_first : BatchOrder::sequence_first;
  view.batch = one ? 1 : array.shape(batch);
  view.rows = array.shape(rows);
  view.columns = array.shape(array.ndim() - 1);
  view.row_stride = stride_of(array, rows);
  view.batch_stride = one ? view.rows * view.columns : stride_of(array, batch);
  return view;
}

}  // namespace posenc::python
