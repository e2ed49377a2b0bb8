#include "python/arrays.h"

#include <vector>

namespace posenc::python {
namespace {

bool is_tensor_of_torch(const py::object& object) {
  const std::string module = text(py::type::of(object).attr("__module__"));
  return (module == "torch" || module.starts_with("torch.")) && py::hasattr(object, "__array__");
}

/// The rows of a table: all dimensions but the last, and their distance in elements.
struct Rows {
  std::int64_t count;
  std::int64_t stride;
};

Rows rows_of_table(const py::array& array, const char* name) {
  if (array.ndim() < 2) check_dimensions(array, name, 2);
  check_strides(array, name);
  const std::int64_t columns = array.shape(array.ndim() - 1);
  Rows rows = {1, columns};
  for (py::ssize_t i = array.ndim() - 2; i >= 0; --i) {
    const std::int64_t size = array.shape(i);
    // The stride of a dimension of size 1 may be anything in NumPy.
    if (size != 1 && rows.count == 1) {
      rows.stride = stride_of(array, i);
    } else if (size > 1 && stride_of(array, i) != rows.count * rows.stride && array.size() > 0) {
      throw InvalidArgument(std::string(name) + ".strides is " + text(array.attr("strides")) +
                            "; allowed: rows at equal distances");
    }
    rows.count *= size;
  }
  if (rows.count == 0) rows.stride = columns;
  return rows;
}

}  // namespace

OutputView output_of(py::array& array, const char* name) {
  const Rows rows = rows_of_table(array, name);
  return with_type(type_of(array, name), [&]<class T>(T) {
    return OutputView(static_cast<T*>(data_of(array, name)), rows.count,
                      array.shape(array.ndim() - 1), rows.stride);
  });
}

InputView input_of(const py::array& array, const char* name) {
  const Rows rows = rows_of_table(array, name);
  return with_type(type_of(array, name), [&]<class T>(T) {
    return InputView(static_cast<const T*>(array.data()), rows.count, array.shape(array.ndim() - 1),
                     rows.stride);
  });
}

HeadsView heads_of(py::array& array, const char* name, bool heads_first) {
  check_dimensions(array, name, 4);
  check_strides(array, name);
  const py::ssize_t last = array.ndim() - 1;
  const py::ssize_t rows = last > 1 && !heads_first ? last - 2 : last - 1;
  const py::ssize_t heads = last > 1 ? 2 * last - 3 - rows : -1, batch = last > 2 ? 0 : -1;
  const auto size = [&](py::ssize_t i) { return i < 0 ? 1 : std::int64_t{array.shape(i)}; };
  const auto stride = [&](py::ssize_t i) { return i < 0 ? 0 : stride_of(array, i); };
  check_layer_type(type_of(array, name), name);
  return with_type(type_of(array, name), [&]<class T>(T) {
    return HeadsView(static_cast<T*>(data_of(array, name)), size(batch), size(heads), size(rows),
                     size(last), stride(batch), stride(heads), stride(rows));
  });
}

std::string text(const py::handle& object) { return py::str(object).cast<std::string>(); }

py::dtype numpy_type(DataType type) {
  switch (type) {
    case DataType::float32: return py::dtype("float32");
    case DataType::float64: return py::dtype("float64");
    case DataType::float16: return py::dtype("float16");
    case DataType::bfloat16: break;
  }
  try {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
  } catch (const py::error_already_set&) {
    return py::dtype("uint16");
  }
}

DataType type_of(const py::array& array, const char* name) {
  const py::dtype type = array.dtype();
  if (type.is(py::dtype::of<float>())) return DataType::float32;  // without asking in Python
  const char kind = type.kind();
  const bool is_float = kind == 'f', is_bits = kind == 'u' || kind == 'i' || kind == 'V';
  if (type.attr("isnative").cast<bool>()) {
    if (is_float && type.itemsize() == 4) return DataType::float32;
    if (is_float && type.itemsize() == 8) return DataType::float64;
    if (is_float && type.itemsize() == 2) return DataType::float16;
    if (is_bits && type.itemsize() == 2) return DataType::bfloat16;
  }
  throw InvalidArgument(std::string(name) + ".dtype is " + text(type) +
                        "; allowed: float32, float64, float16, and for bfloat16 that of ml_dtypes "
                        "or 16-bit integers, in the byte order of this machine");
}

DataType parse_type(const py::object& type) {
  if (py::isinstance<py::str>(type)) return parse_data_type(type.cast<std::string>());
  return type_of(py::array(py::dtype::from_args(type), std::vector<py::ssize_t>{0}), "dtype");
}

bool is_array(const py::object& object) {
  return py::isinstance<py::array>(object) || is_tensor_of_torch(object) ||
         py::hasattr(object, "__array_interface__");
}

py::array array_of(const py::object& from, const char* name) {
  if (py::isinstance<py::array>(from)) return py::reinterpret_borrow<py::array>(from);
  const bool is_tensor = is_tensor_of_torch(from);
  if (!is_tensor && !py::hasattr(from, "__array_interface__")) {
    throw py::type_error(std::string(name) + " is of type " +
                         text(py::type::of(from).attr("__name__")) +
                         "; allowed: an array of NumPy, or what shares its memory with one");
  }
  py::object shared = from;
  if (is_tensor && text(from.attr("dtype")) == "torch.bfloat16") {
    shared = from.attr("view")(py::module_::import("torch").attr("int16"));
  }
  return py::module_::import("numpy").attr("asarray")(shared).cast<py::array>();
}

std::string shape_of(const py::array& array) { return text(array.attr("shape")); }

void check_strides(const py::array& array, const char* name) {
  const py::ssize_t item = array.itemsize(), last = array.ndim() - 1;
  if (array.size() == 0) return;
  bool allowed = array.shape(last) <= 1 || array.strides(last) == item;
  for (py::ssize_t i = 0; i < last; ++i) allowed = allowed && array.strides(i) % item == 0;
  if (allowed) return;
  throw InvalidArgument(std::string(name) + ".strides is " + text(array.attr("strides")) +
                        "; allowed: contiguous in the last dimension, and whole elements");
}

std::int64_t stride_of(const py::array& array, py::ssize_t dimension) {
  return array.strides(dimension) / array.itemsize();
}

void* data_of(py::array& array, const char* name) {
  if (!array.writeable()) {
    throw InvalidArgument(std::string(name) + " is read-only; allowed: a writable array");
  }
  return array.mutable_data();
}

void check_layer_type(DataType type, const char* name) {
  if (type != DataType::float64) return;
  throw InvalidArgument(std::string(name) +
                        ".dtype is float64; allowed: float32, float16, bfloat16");
}

void check_dimensions(const py::array& array, const char* name, py::ssize_t most) {
  if (array.ndim() >= 2 && array.ndim() <= most) return;
  throw InvalidArgument(std::string(name) + ".shape is " + shape_of(array) + "; allowed: two" +
                        (most == 2   ? ""
                         : most == 3 ? " or three"
                                     : " to four") +
                        " dimensions");
}

}  // namespace posenc::python
