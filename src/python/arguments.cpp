#include "python/arguments.h"

#include "posenc/support/with_type.h"

#include <string>
#include <string_view>
#include <utility>

namespace posenc::python {

using namespace model;
namespace {

[[noreturn]] void refuse_type(const std::string& name, const py::handle& object,
                              const char* allowed) {
  throw py::type_error(name + " is " + text(py::repr(object)) + "; allowed: " + allowed);
}

std::int64_t integer(const py::handle& value, const char* name) {
  const std::int64_t number = PyLong_AsLongLong(value.ptr());
  if (number != -1 || PyErr_Occurred() == nullptr) return number;
  PyErr_Clear();
  refuse(name, text(py::repr(value)), "a 64-bit integer");
}

/// True for an integer, including integers of NumPy and arrays without dimensions.
bool is_count(const py::object& from) {
  if (PyLong_Check(from.ptr())) return true;
  if (PyIndex_Check(from.ptr()) == 0) return false;
  // A tensor of one dimension with one element has an index, too, but it holds a position.
  return !py::hasattr(from, "ndim") || py::object(from.attr("ndim")).equal(py::int_(0));
}

Rows rows_of_range(RowRange range) {
  validate(range);
  return {range, {static_cast<py::ssize_t>(range.count)}, {}};
}

/// The rows of a dense array, in which the positions on each axis are contiguous.
template <class Integer>
Rows rows_in(const py::array_t<Integer, py::array::c_style>& memory, std::int64_t axes,
             const Shape& shape) {
  std::int64_t count = 1;
  for (const py::ssize_t size : shape) count *= size;
  return {RowPositions(memory.data(), axes, count, count), shape, memory};
}

Rows rows_of_array(const py::array& array, std::int64_t axes) {
  const py::ssize_t of_axes = axes > 1 && array.ndim() > 1 ? 1 : 0, rest = array.ndim() - of_axes;
  if (rest < 1 || rest > 2 || (of_axes == 1 && array.shape(0) != axes)) {
    const std::string count = std::to_string(axes);
    refuse("positions.shape", text(array.attr("shape")),
           axes > 1 ? "(rows), (" + count + ", rows), (" + count + ", batch, rows)"
                    : "(rows), (batch, rows)");
  }
  const Shape shape(array.shape() + of_axes, array.shape() + array.ndim());
  // An array without rows may have no memory and any type, so an empty range replaces it.
  if (array.size() == 0) return {RowRange{0, 0}, shape, {}};
  const std::int64_t its_axes = of_axes == 1 ? axes : 0;
  const bool is_integer = array.dtype().kind() == 'i';
  if (is_integer && array.itemsize() == 4) return rows_in<std::int32_t>(array, its_axes, shape);
  if (is_integer && array.itemsize() == 8) return rows_in<std::int64_t>(array, its_axes, shape);
  refuse_values("positions", array, "int32 or int64");
}

// Objects of PyTorch are recognised by name, because the package does not import PyTorch.
constexpr std::string_view prefix_of_torch = "torch.", bfloat16_of_torch = "torch.bfloat16";

/// The dtype that stands for the bits of bfloat16 in uint16.
constexpr std::string_view bits_name = "bfloat16_bits";

bool is_tensor(const py::object& object) {
  return text(py::type::of(object).attr("__module__")).starts_with("torch") &&
         py::hasattr(object, "requires_grad") && py::hasattr(object, "__array__");
}

/// An array that shares the memory of a tensor.
py::array array_of_tensor(const py::object& tensor, const std::string& name) {
  if (tensor.attr("requires_grad").cast<bool>()) {
    throw InvalidArgument(name +
                          " requires a gradient, which would be lost; allowed: "
                          "a tensor that does not, such as that of detach()");
  }
  py::object shared = tensor;
  if (text(tensor.attr("dtype")) == bfloat16_of_torch) {
    // View the tensor as int16, because NumPy has no bfloat16.
    shared = tensor.attr("view")(tensor.attr("new_empty")(0).attr("short")().attr("dtype"));
  }
  try {
    return shared.attr("numpy")().cast<py::array>();
  } catch (py::error_already_set&) {
    throw InvalidArgument(name + " is a tensor on " + text(tensor.attr("device")) + " of " +
                          text(tensor.attr("layout")) + " and " + text(tensor.attr("dtype")) +
                          ", which shares no memory with an array; allowed: a dense one on cpu");
  }
}

DataType type_named(const py::dtype& type, const std::string& name, BFloat16Bits bits) {
  if (type.is(py::dtype::of<float>())) return DataType::float32;  // avoids calls of Python
  const char kind = type.kind();
  if (type.attr("isnative").cast<bool>()) {
    if (kind == 'f' && type.itemsize() == 4) return DataType::float32;
    if (kind == 'f' && type.itemsize() == 8) return DataType::float64;
    if (kind == 'f' && type.itemsize() == 2) return DataType::float16;
    if (text(type) == "bfloat16") return DataType::bfloat16;  // from ml_dtypes
    if (bits == BFloat16Bits::taken && (kind == 'u' || kind == 'i') && type.itemsize() == 2)
      return DataType::bfloat16;
  }
  const std::string offer =
      bits == BFloat16Bits::offered ? "; or uint16, with dtype=\"bfloat16_bits\"" : "";
  refuse(name, text(type),
         "float32, float64, float16, bfloat16 of ml_dtypes or PyTorch, in the byte order of this "
         "machine" +
             offer);
}

}  // namespace

std::string text(const py::handle& object) { return py::str(object); }

void refuse(const std::string& name, const std::string& value, const std::string& allowed) {
  throw InvalidArgument(name + " is " + value + "; allowed: " + allowed);
}

void refuse_values(const char* name, const py::array& values, const std::string& allowed) {
  throw InvalidArgument(name + (" has dtype " + text(values.dtype())) + " and shape " +
                        text(values.attr("shape")) + "; allowed: " + allowed);
}

// ---- Conversions --------------------------------------------------------------------------------

Shape Rows::table_shape(std::int64_t columns) const {
  Shape result = shape;
  result.push_back(columns);
  return result;
}

Rows rows_of(const Positions& from, std::int64_t axes, std::optional<std::int64_t> first_of_count) {
  if (first_of_count && is_count(from)) {
    const std::int64_t count = integer(from, "rows");
    if (count < 0) refuse("rows", std::to_string(count), "at least 0");
    return rows_of_range({*first_of_count, count});
  }
  if (PyRange_Check(from.ptr()) != 0) {
    const py::ssize_t count = PyObject_Length(from.ptr());
    if (count < 0) {  // Python has set OverflowError
      PyErr_Clear();
      refuse("positions", text(py::repr(from)), "up to 2^53 + 1 rows");
    }
    if (py::object(from.attr("step")).equal(py::int_(1)))
      return rows_of_range({integer(from.attr("start"), "first position"), count});
  }
  return rows_of_array(values_of(from, "positions",
                                 first_of_count ? "a range, an array of int32 or int64, a sequence "
                                                  "of integers, or a number of rows"
                                                : "a range, an array of int32 or int64, a sequence "
                                                  "of integers"),
                       axes);
}

RowRange range_of(const Positions& from, std::int64_t first_of_count) {
  const RowPositions positions = rows_of(from, 1, first_of_count).positions;
  if (positions.is_range()) return {positions.first(), positions.count()};
  refuse("positions", text(py::repr(from)), "a range of step 1");
}

DataType data_type_of(const py::object& type, BFloat16Bits bits) {
  if (type.is_none()) return DataType::float32;
  const std::string name = text(type);
  if (py::isinstance<py::str>(type)) return parse_data_type(name);
  if (name.starts_with(prefix_of_torch)) {
    return parse_data_type(std::string_view(name).substr(prefix_of_torch.size()));
  }
  return type_named(py::dtype::from_args(type), "dtype", bits);
}

template <>
DataType parse(const py::object& type) {
  return data_type_of(type, BFloat16Bits::refused);
}

template <>
ArrayType parse(const py::object& type) {
  if (py::isinstance<py::str>(type) && text(type) == bits_name) return {DataType::bfloat16, true};
  return {data_type_of(type, BFloat16Bits::offered)};
}

template <>
FrequencyRule parse(const py::object& from) {
  if (from.is_none()) return {};
  if (py::isinstance<py::str>(from) || py::hasattr(from, "rule"))
    return parse_frequency_rule(text(from));
  const py::array values =
      values_of(from, "frequencies", "None, a sequence of numbers, a rule, or its text");
  const char kind = values.dtype().kind();
  if (values.ndim() == 1 && (kind == 'f' || kind == 'i' || kind == 'u')) {
    return OwnFrequencies{values.attr("tolist")().cast<std::vector<double>>()};
  }
  refuse_values("frequencies", values, "one dimension of real numbers");
}

template <>
std::optional<Accuracy> parse(const py::object& from) {
  if (from.is_none()) return {};
  if (is_object_of<Accuracy>(from)) return from.cast<Accuracy>();
  const double error = PyFloat_AsDouble(from.ptr());
  if (PyErr_Occurred() == nullptr) return Accuracy::within(error);
  PyErr_Clear();
  refuse_type("accuracy", from, "None, a largest error, or an Accuracy");
}

// ---- Arrays -------------------------------------------------------------------------------------

std::string to_string(ArrayType type) {
  return std::string(type.is_bits ? bits_name : posenc::to_string(type.of_element));
}

py::dtype numpy_type(ArrayType type) {
  if (type.is_bits) return py::dtype("uint16");
  if (type.of_element != DataType::bfloat16)
    return py::dtype(std::string(posenc::to_string(type.of_element)));
  try {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
  } catch (const py::error_already_set&) {
    throw InvalidArgument(
        "dtype is bfloat16, a type that NumPy lacks and the package ml_dtypes adds; allowed "
        "without the package: out= a tensor of torch.bfloat16, or dtype=\"bfloat16_bits\", which "
        "returns the bits as uint16");
  }
}

py::array values_of(const py::object& from, const std::string& name, const char* allowed) {
  if (py::isinstance<py::array>(from)) return py::reinterpret_borrow<py::array>(from);
  if (is_tensor(from)) return array_of_tensor(from, name);
  const bool is_text = py::isinstance<py::str>(from) || py::isinstance<py::bytes>(from);
  if (is_text || (!py::isinstance<py::sequence>(from) &&
                  !py::hasattr(from, "__array_interface__") && !py::hasattr(from, "__array__"))) {
    refuse_type(name, from, allowed);
  }
  return py::module_::import("numpy").attr("asarray")(from).cast<py::array>();
}

ArrayArgument::ArrayArgument(const py::object& from, std::string name, BFloat16Bits bits)
    : object_(from), name_(std::move(name)), bits_(bits) {
  const bool is_array = py::isinstance<py::array>(from), has_tensor = !is_array && is_tensor(from);
  // array_of_tensor() views a tensor of bfloat16 as integers.
  if (has_tensor && text(from.attr("dtype")) == bfloat16_of_torch) bits_ = BFloat16Bits::taken;
  if (!is_array && !has_tensor && !py::hasattr(from, "__array_interface__")) {
    throw py::type_error(name_ + " is of type " + text(py::type::of(from).attr("__name__")) +
                         "; allowed: an array of NumPy, or what shares its memory with one");
  }
  array_ = values_of(from, name_, "");
}

void ArrayArgument::refuse(const char* attribute, const std::string& allowed) const {
  python::refuse(name_ + "." + attribute, text(array_.attr(attribute)), allowed);
}

DataType ArrayArgument::type() const { return type_named(array_.dtype(), name_ + ".dtype", bits_); }

std::int64_t ArrayArgument::stride(py::ssize_t dimension) const {
  // In NumPy, a dimension of size 1 may have any stride.
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
  // Autograd may have saved the tensor for a gradient, and detects later changes by the tensor's
  // version. Writing to an empty view raises the version, which the view shares with the tensor.
  if (is_tensor(object_) && !object_.attr("is_inference")().cast<bool>())
    object_.attr("narrow")(0, 0, 0).attr("zero_")();
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

OutputView ArrayArgument::output() const {
  check_dimensions(2, 64, "at least two dimensions");
  const std::int64_t columns = array_.shape(array_.ndim() - 1);
  std::int64_t rows = 1, row_stride = columns;
  for (py::ssize_t i = array_.ndim() - 2; i >= 0; --i) {
    const std::int64_t size = array_.shape(i);
    if (size != 1 && rows == 1) {
      row_stride = stride(i);
    } else if (size > 1 && array_.size() > 0 && stride(i) != rows * row_stride) {
      refuse("strides", "rows at equal distances");
    }
    rows *= size;
  }
  if (rows == 0) row_stride = columns;
  return with_type(type(), [&]<class T>(T) {
    return OutputView(static_cast<T*>(writable_data()), rows, columns, row_stride);
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

ArrayArgument table_of(const py::object& given, const Shape& shape, std::optional<ArrayType> type,
                       const char* name, bool is_complex) {
  if (!given.is_none()) {
    const bool takes_bits = type && type->is_bits;
    ArrayArgument table(given, name, takes_bits ? BFloat16Bits::taken : BFloat16Bits::offered);
    if (table.shape() != shape) table.refuse("shape", text(py::tuple(py::cast(shape))));
    if (is_complex) table.view_as_real();
    if (type && table.type() != type->of_element)
      table.refuse("dtype", std::string(to_string(*type)) + ", the dtype that is given");
    return table;
  }
  const ArrayType of_new = type.value_or(ArrayType{});
  py::dtype of_array = numpy_type(of_new);
  if (is_complex)
    of_array = py::dtype(of_new.of_element == DataType::float32 ? "complex64" : "complex128");
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  table_bytes({.d_model = shape.back()}, rows, of_array.itemsize());
  ArrayArgument table = {py::array(of_array, shape), name, BFloat16Bits::taken};
  if (is_complex) table.view_as_real();
  return table;
}

}  // namespace posenc::python
