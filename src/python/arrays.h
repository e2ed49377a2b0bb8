// Arrays of NumPy, and what shares memory with them, as views of the library. Functions throw
// InvalidArgument, which names the argument, or TypeError.
#pragma once

#include "python/bound.h"

#include "posenc/data_type.h"
#include "posenc/error.h"
#include "posenc/matrix.h"
#include "posenc/model/heads_view.h"
#include "posenc/model/sequence_view.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace posenc::python {

namespace py = pybind11;

/// str(object)
std::string text(const py::handle& object);

/// bfloat16 is the type of the package ml_dtypes if that is installed, else uint16: the bits.
py::dtype numpy_type(DataType type);

/// The element type of an array, of which 16-bit integers are bfloat16.
DataType type_of(const py::array& array, const char* name);

/// None, which is float32, a string, or a type of NumPy or PyTorch.
DataType parse_type(const py::object& type);

/// The array itself, or an array that shares memory with another library's: a tensor of PyTorch in
/// the memory of the CPU, of bfloat16 too. An object that only has __array__ is refused: it may
/// return a copy, in which results would be lost.
py::array array_of(const py::object& from, const char* name);

/// The same for an array that is only read, which may be a copy.
py::array readable_array_of(const py::object& from, const char* name);
/// True if readable_array_of() takes it.
bool is_readable_array(const py::object& object);

std::string shape_of(const py::array& array);

/// Throws unless the last dimension is contiguous and every stride is a number of whole elements.
void check_strides(const py::array& array, const char* name);

/// In elements.
std::int64_t stride_of(const py::array& array, py::ssize_t dimension);

/// Throws if the array is read-only.
void* data_of(py::array& array, const char* name);

/// Throws unless the array has this shape.
void check_shape(const py::array& array, const char* name, const std::vector<py::ssize_t>& shape);

/// Throws unless there are two dimensions, or up to `most`.
void check_dimensions(const py::array& array, const char* name, py::ssize_t most);

/// A table that is written, of any type. All dimensions but the last are rows, in their order; they
/// must be at equal distances in memory.
OutputView output_of(py::array& array, const char* name);
/// A table that is read.
InputView input_of(const py::array& array, const char* name);

/// Throws if the type is float64, in which layers do not compute.
void check_layer_type(DataType type, const char* name);

/// Calls use(view) for a table of two dimensions that is written.
template <class Use>
void with_table(py::array& array, const char* name, const Use& use) {
  check_dimensions(array, name, 2);
  use(output_of(array, name));
}

/// Two to four dimensions, written: (rows, columns), (rows, heads, columns), or (batch, rows,
/// heads, columns); heads before rows if heads_first.
HeadsView heads_of(py::array& array, const char* name, bool heads_first);

/// Two or three dimensions: (rows, columns), (batch, rows, columns) or (rows, batch, columns).
template <class T>
SequenceView<T> view_of(const py::array& array, bool batch_first, T* data) {
  SequenceView<T> view;
  view.data = data;
  view.order = batch_first ? BatchOrder::batch_first : BatchOrder::sequence_first;
  const bool one = array.ndim() == 2;
  const py::ssize_t batch = batch_first ? 0 : 1, rows = one ? 0 : 1 - batch;
  view.batch = one ? 1 : array.shape(batch);
  view.rows = array.shape(rows);
  view.columns = array.shape(array.ndim() - 1);
  view.row_stride = stride_of(array, rows);
  view.batch_stride = one ? view.rows * view.columns : stride_of(array, batch);
  return view;
}

/// Calls use(T{}) for the element type of an array of sequences.
template <class Use>
void with_sequences(const py::array& array, const char* name, const Use& use) {
  check_dimensions(array, name, 3);
  check_strides(array, name);
  check_layer_type(type_of(array, name), name);
  with_type(type_of(array, name), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, double>) use(T{});
  });
}

/// Calls use(view) for an array of sequences that is written to.
template <class Use>
void with_writable_sequences(py::array& array, const char* name, bool batch_first, const Use& use) {
  with_sequences(array, name, [&]<class T>(T) {
    use(view_of(array, batch_first, static_cast<T*>(data_of(array, name))));
  });
}

}  // namespace posenc::python
