#include "python/arrays.h"

#include <string>
#include <string_view>
#include <utility>

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

DataType type_named(const py::dtype& type, const std::string& name) {
  if (type.is(py::dtype::of<float>())) return DataType::float32;  // without asking in Python
  const char kind = type.kind();
  if (type.attr("isnative").cast<bool>()) {
    if (kind == 'f' && type.itemsize() == 4) return DataType::float32;
    if (kind == 'f' && type.itemsize() == 8) return DataType::float64;
    if (kind == 'f' && type.itemsize() == 2) return DataType::float16;
    if ((kind == 'u' || kind == 'i' || kind == 'V') && type.itemsize() == 2)
      return DataType::bfloat16;
  }
  refuse(name, text(type),
         "float32, float64, float16, and for bfloat16 that of ml_dtypes or 16-bit integers, in the "
         "byte order of this machine");
}

/// As readable_array_of(), but never a copy.
py::array shared_array_of(const py::object& from, const std::string& name) {
  if (py::isinstance<py::array>(from) || is_tensor(from) ||
      py::hasattr(from, "__array_interface__")) {
    return readable_array_of(from, name.c_str());
  }
  throw py::type_error(name + " is of type " + text(py::type::of(from).attr("__name__")) +
                       "; allowed: an array of NumPy, or what shares its memory with one");
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

py::array readable_array_of(const py::object& from, const char* name) {
  if (py::isinstance<py::array>(from)) return py::reinterpret_borrow<py::array>(from);
  if (is_tensor(from)) return array_of_tensor(from, name);
  return py::module_::import("numpy").attr("asarray")(from).cast<py::array>();
}

std::string shape_text(const py::array& array) { return text(array.attr("shape")); }

ArrayArgument::ArrayArgument(const py::object& from, std::string name)
    : object_(from), array_(shared_array_of(from, name)), name_(std::move(name)) {}

void ArrayArgument::refuse(const char* attribute, const std::string& allowed) const {
  python::refuse(name_ + "." + attribute, text(array_.attr(attribute)), allowed);
}

DataType ArrayArgument::type() const { return type_named(array_.dtype(), name_ + ".dtype"); }

std::int64_t ArrayArgument::stride(py::ssize_t dimension) const {
  // NumPy's stride of a dimension of size 1 may be anything.
  const bool counts = array_.size() > 0 && array_.shape(dimension) > 1;
  if (counts && array_.strides(dimension) % array_.itemsize() != 0) {
    refuse("strides", "multiples of an element");
  }
  return array_.strides(dimension) / array_.itemsize();
}

void ArrayArgument::check_dimensions(py::ssize_t least, py::ssize_t most,
                                     const char* allowed) const {
  if (array_.ndim() < least || array_.ndim() > most) refuse("shape", allowed);
  const py::ssize_t last = array_.ndim() - 1;
  if (array_.size() > 0 && array_.shape(last) > 1 && stride(last) != 1) {
    refuse("strides", "contiguous in the last dimension");
  }
}

void* ArrayArgument::writable_data() const {
  if (!array_.writeable())
    throw InvalidArgument(name_ + " is read-only; allowed: a writable array");
  return const_cast<void*>(array_.data());
}

void ArrayArgument::view_as_real() {
  const bool is_complex = array_.dtype().kind() == 'c';
  if (!is_complex || (array_.itemsize() != 8 && array_.itemsize() != 16)) {
    throw InvalidArgument(name_ + ".dtype is " + text(array_.dtype()) +
                          "; allowed with the layout complex: complex64, complex128");
  }
  check_dimensions(1, 32, "at least one dimension");
  array_ = array_.attr("view")(array_.itemsize() == 8 ? "float32" : "float64");
}

struct ArrayArgument::TableRows {
  std::int64_t count, columns, stride;
};

ArrayArgument::TableRows ArrayArgument::table_rows() const {
  check_dimensions(2, 64, "at least two dimensions");
  const std::int64_t columns = array_.shape(array_.ndim() - 1);
  TableRows rows = {1, columns, columns};
  for (py::ssize_t i = array_.ndim() - 2; i >= 0; --i) {
    const std::int64_t size = array_.shape(i);
    if (size != 1 && rows.count == 1) {
      rows.stride = stride(i);
    } else if (size > 1 && array_.size() > 0 && stride(i) != rows.count * rows.stride) {
      refuse("strides", "rows at equal distances");
    }
    rows.count *= size;
  }
  if (rows.count == 0) rows.stride = columns;
  return rows;
}

InputView ArrayArgument::input() const {
  const TableRows rows = table_rows();
  return with_type(type(), [&]<class T>(T) {
    return InputView(static_cast<const T*>(array_.data()), rows.count, rows.columns, rows.stride);
  });
}

OutputView ArrayArgument::output() const {
  const TableRows rows = table_rows();
  return with_type(type(), [&]<class T>(T) {
    return OutputView(static_cast<T*>(writable_data()), rows.count, rows.columns, rows.stride);
  });
}

HeadsView ArrayArgument::heads(bool heads_first) const {
  check_dimensions(2, 4, "two to four dimensions");
  const py::ssize_t last = array_.ndim() - 1;
  const py::ssize_t rows = last > 1 && !heads_first ? last - 2 : last - 1;
  const py::ssize_t heads = last > 1 ? 2 * last - 3 - rows : -1, batch = last > 2 ? 0 : -1;
  const auto size_of_any = [&](py::ssize_t i) { return i < 0 ? 1 : std::int64_t{array_.shape(i)}; };
  const auto stride_of_any = [&](py::ssize_t i) { return i < 0 ? 0 : stride(i); };
  return with_type(type(), [&]<class T>(T) {
    return HeadsView(static_cast<T*>(writable_data()),
                     {size_of_any(batch), size_of_any(heads), size_of_any(rows), size_of_any(last),
                      stride_of_any(batch), stride_of_any(heads), stride_of_any(rows)});
  });
}

WritableSequences ArrayArgument::sequences(bool batch_first, bool is_written) const {
  check_dimensions(2, 3, "two or three dimensions");
  if (type() == DataType::float64) refuse("dtype", "float32, float16, bfloat16");
  const bool is_one = array_.ndim() == 2;
  const py::ssize_t batch = batch_first ? 0 : 1, rows = is_one ? 0 : 1 - batch;
  SequenceView<float> view;
  view.data = static_cast<float*>(is_written ? writable_data() : const_cast<void*>(array_.data()));
  view.order = batch_first ? BatchOrder::batch_first : BatchOrder::sequence_first;
  view.batch = is_one ? 1 : array_.shape(batch);
  view.rows = array_.shape(rows);
  view.columns = array_.shape(array_.ndim() - 1);
  view.row_stride = stride(rows);
  view.batch_stride = is_one ? view.rows * view.columns : stride(batch);
  WritableSequences sequences(view);
  sequences.type = type();
  return sequences;
}

ArrayArgument table_of(const py::object& given, const char* name, const Shape& shape,
                       const py::dtype& type) {
  if (!given.is_none()) {
    ArrayArgument table(given, name);
    if (table.shape() != shape) table.refuse("shape", text(py::tuple(py::cast(shape))));
    return table;
  }
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  table_bytes({.d_model = shape.back()}, rows, type.itemsize());
  return {py::array(type, shape), name};
}

}  // namespace posenc::python
