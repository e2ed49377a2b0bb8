// Arrays of NumPy, and what shares memory with them, as views of the library.
#pragma once

#include "python/arguments.h"
#include "python/gil.h"

#include "posenc/data_type.h"
#include "posenc/matrix.h"
#include "posenc/model/sequence_view.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

namespace posenc::python {

/// bfloat16 is the type of the package ml_dtypes if that is installed, else uint16: the bits.
py::dtype numpy_type(DataType type);

/// The array itself, one that shares memory with a tensor of PyTorch, or one of the values of an
/// object that converts itself, which may be a copy.
py::array readable_array_of(const py::object& from, const char* name);
/// True if readable_array_of() takes it.
bool is_readable_array(const py::object& object);
std::string shape_text(const py::array& array);

/// An argument that is an array of NumPy, or shares memory with one: a tensor of PyTorch on the
/// CPU, of bfloat16 too. Whatever a view cannot have is refused under the name of the argument.
class ArrayArgument {
 public:
  /// Refuses an object that only has __array__: it may return a copy, in which results would be
  /// lost.
  ArrayArgument(const py::object& from, std::string name);

  const py::object& object() const { return object_; }  ///< the caller's
  const py::array& array() const { return array_; }
  Shape shape() const { return {array_.shape(), array_.shape() + array_.ndim()}; }
  /// Of the elements; 16-bit integers are bfloat16.
  DataType type() const;
  /// Elements from one index of a dimension to the next.
  std::int64_t stride(py::ssize_t dimension) const;
  /// "NAME.ATTRIBUTE is VALUE; allowed: ALLOWED"
  [[noreturn]] void refuse(const char* attribute, const std::string& allowed) const;

  /// Replaces complex numbers by pairs of real ones, in the same memory.
  void view_as_real();

  /// A table: all dimensions but the last are rows, in their order, at equal distances in memory.
  InputView input() const;
  OutputView output() const;
  /// (rows, columns), (rows, heads, columns), or (batch, rows, heads, columns), written; heads
  /// before rows if heads_first.
  HeadsView heads(bool heads_first) const;
  /// (rows, columns), (batch, rows, columns) or (rows, batch, columns).
  WritableSequences sequences(bool batch_first, bool is_written = true) const;

  /// Calls fill(output()) without the lock of the interpreter, and returns the caller's object.
  template <class Fill>
  py::object written_by(const Fill& fill) const {
    const OutputView to = output();
    {
      const ReleasedGil no_gil;
      fill(to);
    }
    return object_;
  }

 private:
  struct TableRows;
  TableRows table_rows() const;
  /// And that the last one is contiguous.
  void check_dimensions(py::ssize_t least, py::ssize_t most, const char* allowed) const;
  void* writable_data() const;

  py::object object_;
  py::array array_;
  std::string name_;
};

/// The array that a function writes and returns: a new one, or the caller's unless that is None,
/// which has that shape: more rows or columns would keep what they held, and be returned as if they
/// were results.
ArrayArgument table_of(const py::object& given, const char* name, const Shape& shape,
                       const py::dtype& type);

}  // namespace posenc::python
