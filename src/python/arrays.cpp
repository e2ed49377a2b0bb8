#include "python/arrays.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

std::string text(const py::handle& object) { return py::str(object); }

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

namespace {

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
  throw InvalidArgument(name + " is " + text(type) +
                        "; allowed: float32, float64, float16, and for bfloat16 that of ml_dtypes "
                        "or 16-bit integers, in the byte order of this machine");
}

}  // namespace

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
  if (py::isinstance<py::array>(from)) return py::reinterpret_borrow<py::array>(from);
  if (is_tensor(from)) return array_of_tensor(from, name);
  if (py::hasattr(from, "__array_interface__")) return readable_array_of(from, name);
  throw py::type_error(std::string(name) + " is of type " +
                       text(py::type::of(from).attr("__name__")) +
                       "; allowed: an array of NumPy, or what shares its memory with one");
}

py::array readable_array_of(const py::object& from, const char* name) {
  if (py::isinstance<py::array>(from)) return py::reinterpret_borrow<py::array>(from);
  if (is_tensor(from)) return array_of_tensor(from, name);
  return py::module_::import("numpy").attr("asarray")(from).cast<py::array>();
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

void check_shape(const py::array& array, const char* name, const std::vector<py::ssize_t>& shape) {
  if (std::equal(shape.begin(), shape.end(), array.shape(), array.shape() + array.ndim())) return;
  throw InvalidArgument(std::string(name) + ".shape is " + shape_of(array) +
                        "; allowed: " + text(py::tuple(py::cast(shape))));
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
