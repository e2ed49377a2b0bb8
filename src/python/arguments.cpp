#include "python/arguments.h"

#include "python/arrays.h"

#include <utility>

namespace posenc::python {

std::string text(const py::handle& object) { return py::str(object); }

void refuse(const std::string& name, const std::string& value, const std::string& allowed) {
  throw InvalidArgument(name + " is " + value + "; allowed: " + allowed);
}

void refuse_type(const char* name, const py::handle& object, const char* allowed) {
  throw py::type_error(name + (" is " + text(py::repr(object))) + "; allowed: " + allowed);
}

// ---- Positions ----------------------------------------------------------------------------------

namespace {

std::int64_t integer(const py::handle& value, const char* name) {
  const std::int64_t number = PyLong_AsLongLong(value.ptr());
  if (number != -1 || PyErr_Occurred() == nullptr) return number;
  PyErr_Clear();
  refuse(name, text(py::repr(value)), "a 64-bit integer");
}

/// True of an integer, also of NumPy's or an array of no dimension.
bool is_count(const py::object& from) {
  if (PyLong_Check(from.ptr())) return true;
  if (PyIndex_Check(from.ptr()) == 0) return false;
  // A tensor of one element has an index, and is a position.
  return !py::hasattr(from, "ndim") || py::object(from.attr("ndim")).equal(py::int_(0));
}

Rows rows_of_range(RowRange range) {
  validate(range);
  return {range, {static_cast<py::ssize_t>(range.count)}, {}, {}};
}

/// Of a dense array, whose positions on each axis are one behind the other.
template <class Integer>
Rows rows_in(const py::array_t<Integer, py::array::c_style>& memory, std::int64_t axes,
             const Shape& shape) {
  std::int64_t count = 1;
  for (const py::ssize_t size : shape) count *= size;
  // No rows may have no memory, and are as good as a range.
  if (count == 0) return {RowRange{0, 0}, shape, {}, {}};
  return {RowPositions(memory.data(), axes, count, count), shape, memory, {}};
}

Rows rows_of_list(std::vector<std::int64_t> each) {
  const auto count = static_cast<py::ssize_t>(each.size());
  if (count == 0) return rows_of_range({0, 0});
  const RowPositions positions(each);  // of memory that moves with its vector
  return {positions, {count}, {}, std::move(each)};
}

Rows rows_of_array(const py::array& array, std::int64_t axes) {
  const py::ssize_t of_axes = axes > 1 && array.ndim() > 1 ? 1 : 0, rest = array.ndim() - of_axes;
  if (rest < 1 || rest > 2 || (of_axes == 1 && array.shape(0) != axes)) {
    const std::string count = std::to_string(axes);
    refuse("positions.shape", shape_text(array),
           axes > 1 ? "(rows), (" + count + ", rows), (" + count + ", batch, rows)"
                    : "(rows), (batch, rows)");
  }
  const Shape shape(array.shape() + of_axes, array.shape() + array.ndim());
  const std::int64_t its_axes = of_axes == 1 ? axes : 0;
  const bool is_integer = array.dtype().kind() == 'i';
  if (is_integer && array.itemsize() == 4) return rows_in<std::int32_t>(array, its_axes, shape);
  if (is_integer && array.itemsize() == 8) return rows_in<std::int64_t>(array, its_axes, shape);
  throw InvalidArgument("positions has dtype " + text(array.dtype()) + " and shape " +
                        shape_text(array) + "; allowed: int32 or int64");
}

}  // namespace

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
    if (count < 0) {  // an OverflowError
      PyErr_Clear();
      refuse("positions", text(py::repr(from)), "up to 2^53 + 1 rows");
    }
    const std::int64_t start = integer(from.attr("start"), "first position"),
                       step = integer(from.attr("step"), "step");
    if (step == 1) return rows_of_range({start, count});
    if (count > 0) integer(from[py::int_(-1)], "last position");  // no sum below overflows
    std::vector<std::int64_t> each;
    for (std::int64_t i = 0; i < count; ++i) each.push_back(start + i * step);
    return rows_of_list(std::move(each));
  }
  if (is_readable_array(from)) return rows_of_array(readable_array_of(from, "positions"), axes);
  if (!py::isinstance<py::sequence>(from) || py::isinstance<py::str>(from)) {
    refuse_type("positions", from,
                first_of_count ? "a range, an array of int32 or int64, a sequence of integers, or "
                                 "a number of rows"
                               : "a range, an array of int32 or int64, a sequence of integers");
  }
  std::vector<std::int64_t> each;
  for (const py::handle value : from) each.push_back(integer(value, "a position"));
  return rows_of_list(std::move(each));
}

RowRange range_of(const Positions& from, std::int64_t first_of_count) {
  const RowPositions positions = rows_of(from, 1, first_of_count).positions;
  if (positions.is_range()) return {positions.first(), positions.count()};
  refuse("positions", text(py::repr(from)), "a range of step 1");
}

// ---- Conversions --------------------------------------------------------------------------------

FrequencyRule parse_rule(const py::object& from) {
  if (from.is_none()) return {};
  try {
    if (py::isinstance<py::str>(from) || py::hasattr(from, "rule")) {
      return parse_frequency_rule(text(from));
    }
    if (!is_readable_array(from)) return OwnFrequencies{from.cast<std::vector<double>>()};
  } catch (const InvalidArgument&) {
    throw;
  } catch (const std::exception&) {  // of a cast, or of Python
    refuse_type("frequencies", from, "None, a sequence of numbers, a rule of numbers, or its text");
  }
  const py::array array = readable_array_of(from, "frequencies");
  const char kind = array.dtype().kind();
  if (array.ndim() == 1 && (kind == 'f' || kind == 'i' || kind == 'u')) {
    return OwnFrequencies{array.attr("tolist")().cast<std::vector<double>>()};
  }
  throw InvalidArgument("frequencies has dtype " + text(array.dtype()) + " and shape " +
                        shape_text(array) + "; allowed: one dimension of real numbers");
}

std::optional<Accuracy> parse_accuracy(const py::object& from) {
  if (from.is_none()) return {};
  if (is_object_of<Accuracy>(from)) return from.cast<Accuracy>();
  const double error = PyFloat_AsDouble(from.ptr());
  if (PyErr_Occurred() == nullptr) return Accuracy::within(error);
  PyErr_Clear();
  refuse_type("accuracy", from, "None, a largest error, or an Accuracy");
}

}  // namespace posenc::python
