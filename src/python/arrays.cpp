#include "python/arrays.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace posenc::python {
namespace {

// PyTorch is known by its names: the package does not import it.
constexpr std::string_view prefix_of_torch = "torch.";

bool is_tensor(const py::object& object) {
  return text(py::type::of(object).attr("__module__")).starts_with("torch") &&
         py::hasattr(object, "requires_grad") && py::hasattr(object, "__array__");
}

/// An array that shares the memory of a tensor.
py::array array_of_tensor(const py::object& tensor, const char* name) {
  if (tensor.attr("requires_grad").cast<bool>()) {
    throw InvalidArgument(std::string(name) +
                          " requires a gradient, which would be lost; allowed: "
                          "a tensor that does not, such as that of detach()");
  }
  py::object shared = tensor;
  if (text(tensor.attr("dtype")) == "torch.bfloat16") {
    // As int16, a type that NumPy has.
    shared = tensor.attr("view")(tensor.attr("new_empty")(0).attr("short")().attr("dtype"));
  }
  try {
    return shared.attr("numpy")().cast<py::array>();
  } catch (py::error_already_set&) {
    throw InvalidArgument(std::string(name) + " is a tensor on " + text(tensor.attr("device")) +
                          " of " + text(tensor.attr("layout")) + " and " +
                          text(tensor.attr("dtype")) +
                          ", which shares no memory with an array; allowed: a dense one on cpu");
  }
}

void check_dimensions(const py::array& array, const char* name, py::ssize_t most) {
  if (array.ndim() >= 2 && array.ndim() <= most) return;
  refuse(name + std::string(".shape"), shape_text(array),
         most == 3 ? "two or three dimensions" : "two to four dimensions");
}

void check_layer_type(const py::array& array, const char* name) {
  if (type_of(array, name) != DataType::float64) return;
  refuse(name + std::string(".dtype"), "float64", "float32, float16, bfloat16");
}

/// The rows of a table: all dimensions but the last, and their distance in elements.
struct TableRows {
  std::int64_t count;
  std::int64_t stride;
};

TableRows rows_of_table(const py::array& array, const char* name) {
  if (array.ndim() < 2) {
    refuse(name + std::string(".shape"), shape_text(array), "at least two dimensions");
  }
  check_strides(array, name);
  const std::int64_t columns = array.shape(array.ndim() - 1);
  TableRows rows = {1, columns};
  for (py::ssize_t i = array.ndim() - 2; i >= 0; --i) {
    const std::int64_t size = array.shape(i);
    // The stride of a dimension of size 1 may be anything in NumPy.
    if (size != 1 && rows.count == 1) {
      rows.stride = stride_of(array, i);
    } else if (size > 1 && stride_of(array, i) != rows.count * rows.stride && array.size() > 0) {
      refuse(name + std::string(".strides"), text(array.attr("strides")),
             "rows at equal distances");
    }
    rows.count *= size;
  }
  if (rows.count == 0) rows.stride = columns;
  return rows;
}

std::optional<DataType> known_type(const py::dtype& type) {
  if (type.is(py::dtype::of<float>())) return DataType::float32;  // without asking in Python
  const char kind = type.kind();
  const bool is_float = kind == 'f', is_bits = kind == 'u' || kind == 'i' || kind == 'V';
  if (!type.attr("isnative").cast<bool>()) return {};
  if (is_float && type.itemsize() == 4) return DataType::float32;
  if (is_float && type.itemsize() == 8) return DataType::float64;
  if (is_float && type.itemsize() == 2) return DataType::float16;
  if (is_bits && type.itemsize() == 2) return DataType::bfloat16;
  return {};
}

DataType type_named(const py::dtype& type, const std::string& name) {
  if (const std::optional<DataType> known = known_type(type)) return *known;
  refuse(name, text(type),
         "float32, float64, float16, and for bfloat16 that of ml_dtypes or 16-bit integers, in the "
         "byte order of this machine");
}

}  // namespace

py::dtype numpy_type(DataType type) {
  if (type != DataType::bfloat16) return py::dtype(std::string(to_string(type)));
  try {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
  } catch (const py::error_already_set&) {
    return py::dtype("uint16");
  }
}

DataType type_of(const py::array& array, const char* name) {
  return type_named(array.dtype(), std::string(name) + ".dtype");
}

DataType parse_type(const py::object& type) {
  if (type.is_none()) return DataType::float32;
  const std::string name = text(type);
  if (py::isinstance<py::str>(type)) return parse_data_type(name);
  if (name.starts_with(prefix_of_torch)) {
    return parse_data_type(std::string_view(name).substr(prefix_of_torch.size()));
  }
  return type_named(py::dtype::from_args(type), "dtype");
}

bool is_readable_array(const py::object& object) {
  return py::isinstance<py::array>(object) || py::hasattr(object, "__array_interface__") ||
         py::hasattr(object, "__array__");
}

py::array array_of(const py::object& from, const char* name) {
  if (py::isinstance<py::array>(from) || is_tensor(from) ||
      py::hasattr(from, "__array_interface__")) {
    return readable_array_of(from, name);
  }
  throw py::type_error(std::string(name) + " is of type " +
                       text(py::type::of(from).attr("__name__")) +
                       "; allowed: an array of NumPy, or what shares its memory with one");
}

py::array readable_array_of(const py::object& from, const char* name) {
  if (py::isinstance<py::array>(from)) return py::reinterpret_borrow<py::array>(from);
  if (is_tensor(from)) return array_of_tensor(from, name);
  return py::module_::import("numpy").attr("asarray")(from).cast<py::array>();
}

std::string shape_text(const py::array& array) { return text(array.attr("shape")); }

void check_strides(const py::array& array, const char* name) {
  const py::ssize_t item = array.itemsize(), last = array.ndim() - 1;
  if (array.size() == 0) return;
  bool allowed = array.shape(last) <= 1 || array.strides(last) == item;
  for (py::ssize_t i = 0; i < last; ++i) allowed = allowed && array.strides(i) % item == 0;
  if (allowed) return;
  refuse(name + std::string(".strides"), text(array.attr("strides")),
         "contiguous in the last dimension, and whole elements");
}

void* data_of(py::array array, const char* name) {
  if (!array.writeable()) {
    throw InvalidArgument(std::string(name) + " is read-only; allowed: a writable array");
  }
  return array.mutable_data();
}

Table::Table(const py::object& given, const char* argument, const Shape& shape,
             const py::dtype& type)
    : name(argument) {
  if (!given.is_none()) {
    object = given;
    array = array_of(given, name);
    if (shape_of(array) == shape) return;
    refuse(name + std::string(".shape"), shape_text(array), text(py::tuple(py::cast(shape))));
  }
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  table_bytes({.d_model = shape.back()}, rows, type.itemsize());
  object = array = py::array(type, shape);
}

OutputView Table::view() const {
  const TableRows rows = rows_of_table(array, name);
  return with_type(type_of(array, name), [&]<class T>(T) {
    return OutputView(static_cast<T*>(data_of(array, name)), rows.count,
                      array.shape(array.ndim() - 1), rows.stride);
  });
}

InputView input_of(const py::array& array, const char* name) {
  const TableRows rows = rows_of_table(array, name);
  return with_type(type_of(array, name), [&]<class T>(T) {
    return InputView(static_cast<const T*>(array.data()), rows.count, array.shape(array.ndim() - 1),
                     rows.stride);
  });
}

py::array reals_of(const py::array& array, const char* name) {
  const bool is_complex = array.dtype().kind() == 'c';
  if (is_complex && array.ndim() > 0 && (array.itemsize() == 8 || array.itemsize() == 16)) {
    check_strides(array, name);
    return array.attr("view")(array.itemsize() == 8 ? "float32" : "float64").cast<py::array>();
  }
  throw InvalidArgument(std::string(name) + ".dtype is " + text(array.dtype()) +
                        "; allowed with the layout complex: complex64, complex128");
}

HeadsView heads_of(const py::array& array, const char* name, bool heads_first) {
  check_dimensions(array, name, 4);
  check_strides(array, name);
  check_layer_type(array, name);
  const py::ssize_t last = array.ndim() - 1;
  const py::ssize_t rows = last > 1 && !heads_first ? last - 2 : last - 1;
  const py::ssize_t heads = last > 1 ? 2 * last - 3 - rows : -1, batch = last > 2 ? 0 : -1;
  const auto size = [&](py::ssize_t i) { return i < 0 ? 1 : std::int64_t{array.shape(i)}; };
  const auto stride = [&](py::ssize_t i) { return i < 0 ? 0 : stride_of(array, i); };
  return with_type(type_of(array, name), [&]<class T>(T) {
    return HeadsView(static_cast<T*>(data_of(array, name)),
                     {size(batch), size(heads), size(rows), size(last), stride(batch),
                      stride(heads), stride(rows)});
  });
}

void check_sequences(const py::array& array, const char* name) {
  check_dimensions(array, name, 3);
  check_strides(array, name);
  check_layer_type(array, name);
}

}  // namespace posenc::python
