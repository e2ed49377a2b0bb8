#include "python/arguments.h"

#include "python/arrays.h"

#include "posenc/support/frequency_parameters.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace posenc::python {
namespace {

std::int64_t integer(const py::handle& value, const char* name) {
  const std::int64_t number = PyLong_AsLongLong(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw InvalidArgument(std::string(name) + " is " + text(py::repr(value)) +
                          "; allowed: a 64-bit integer");
  }
  return number;
}

FrequencyRule frequencies_of_array(const py::array& array) {
  const char kind = array.dtype().kind();
  if (array.ndim() == 1 && (kind == 'f' || kind == 'i' || kind == 'u')) {
    return OwnFrequencies{array.attr("tolist")().cast<std::vector<double>>()};
  }
  throw InvalidArgument("frequencies has dtype " + text(array.dtype()) + " and shape " +
                        shape_of(array) + "; allowed: one dimension of real numbers");
}

FrequencyRule cast_rule(const py::object& from) {
  if (from.is_none()) return {};
  if (py::isinstance<py::str>(from)) return parse_frequency_rule(text(from));
  if (is_readable_array(from)) return frequencies_of_array(readable_array_of(from, "frequencies"));
  if (!py::hasattr(from, "rule")) return OwnFrequencies{from.cast<std::vector<double>>()};
  FrequencyRule rule = parse_frequency_rule(text(from.attr("rule")));
  const auto read = [&]<class T>(std::string_view name, T& value) {
    const std::string attribute(name);
    const py::object given = from.attr(attribute.c_str());
    if constexpr (std::is_same_v<T, std::int64_t>) {
      value = integer(given, attribute.c_str());
    } else {
      value = given.cast<T>();
    }
  };
  std::visit([&](auto& each) { for_each_parameter(each, read); }, rule);
  return rule;
}

/// All elements of an array of positions.
Positions elements_of(const py::array& array) {
  const bool is_integer = array.dtype().kind() == 'i';
  const RowRange all = {0, array.size()};
  if (is_integer && array.itemsize() == 4) {
    return {all, py::array_t<std::int32_t, py::array::c_style>(array)};
  }
  if (is_integer && array.itemsize() == 8) {
    return {all, py::array_t<std::int64_t, py::array::c_style>(array)};
  }
  throw InvalidArgument("positions has dtype " + text(array.dtype()) + " and shape " +
                        shape_of(array) + "; allowed: int32 or int64");
}

[[noreturn]] void throw_type_of_positions(const py::object& from, bool counts_are_allowed) {
  throw py::type_error("positions is " + text(py::repr(from)) +
                       "; allowed: a range, an array of int32 or int64, a sequence of integers" +
                       (counts_are_allowed ? ", or a number of rows" : ""));
}

/// True of an integer, also of NumPy's or an array of no dimension.
bool is_count(const py::object& from) {
  if (PyLong_Check(from.ptr())) return true;
  if (PyIndex_Check(from.ptr()) == 0) return false;
  // A tensor of one element has an index, and is a position.
  return !py::hasattr(from, "ndim") || py::object(from.attr("ndim")).equal(py::int_(0));
}

/// From an integer of at least 0.
std::int64_t row_count(const py::object& from) {
  const std::int64_t count = integer(from, "rows");
  if (count >= 0) return count;
  throw InvalidArgument("rows is " + std::to_string(count) + "; allowed: at least 0");
}

}  // namespace

EncodingSource parse_source(const std::string& name) {
  if (name == "automatic") return EncodingSource::automatic;
  if (name == "fused") return EncodingSource::fused;
  if (name == "cached") return EncodingSource::cached;
  throw InvalidArgument("source is '" + name + "'; allowed: automatic, fused, cached");
}

RotaryLayout parse_rotary_layout(const char* argument, const std::string& name) {
  if (name == "halves") return RotaryLayout::halves;
  if (name == "interleaved") return RotaryLayout::interleaved;
  throw InvalidArgument(std::string(argument) + " is '" + name + "'; allowed: halves, interleaved");
}

Accuracy accuracy_of(const py::object& accuracy) {
  if (accuracy.is_none()) return {};
  if (is_object_of<Accuracy>(accuracy)) return accuracy.cast<Accuracy>();
  const double error = PyFloat_AsDouble(accuracy.ptr());
  if (PyErr_Occurred() == nullptr) return Accuracy::within(error);
  PyErr_Clear();
  throw py::type_error("accuracy is " + text(py::repr(accuracy)) +
                       "; allowed: None, a largest error, or an Accuracy");
}

std::int64_t count_of_rows(const py::object& from) {
  if (is_count(from)) return row_count(from);
  const py::ssize_t count = PyObject_Length(from.ptr());
  if (count >= 0) return count;
  const bool is_too_long = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  PyErr_Clear();
  if (!is_too_long) throw_type_of_positions(from, true);
  throw InvalidArgument("positions is " + text(py::repr(from)) + "; allowed: up to 2^53 + 1 rows");
}

Positions positions_of(const py::object& from, std::optional<std::int64_t> first_of_count) {
  if (first_of_count && is_count(from)) return {{*first_of_count, row_count(from)}, {}};
  if (PyRange_Check(from.ptr()) != 0) {
    const std::int64_t start = integer(from.attr("start"), "first position"),
                       step = integer(from.attr("step"), "step"), count = count_of_rows(from);
    if (step == 1) return {{start, count}, {}};
    if (count > 0) integer(from[py::int_(-1)], "last position");  // no sum below overflows
    std::vector<std::int64_t> each;
    for (std::int64_t i = 0; i < count; ++i) each.push_back(start + i * step);
    return {{0, count}, std::move(each)};
  }
  if (is_readable_array(from)) {
    const py::array array = readable_array_of(from, "positions");
    if (array.ndim() == 1) return elements_of(array);
    throw InvalidArgument("positions has dtype " + text(array.dtype()) + " and shape " +
                          shape_of(array) + "; allowed: one dimension of int32 or int64");
  }
  if (!py::isinstance<py::sequence>(from) || py::isinstance<py::str>(from)) {
    throw_type_of_positions(from, first_of_count.has_value());
  }
  std::vector<std::int64_t> each;
  for (const py::handle value : from) each.push_back(integer(value, "a position"));
  const auto count = static_cast<std::int64_t>(each.size());
  return {{0, count}, std::move(each)};
}

RowPositions AxisPositions::view() const {
  const std::int64_t rows = of_all_axes.count() / std::max<std::int64_t>(axes, 1);
  // Without rows, a list may have no memory, and is as good as a range.
  if (rows == 0) return RowRange{0, 0};
  const auto list = [&](const auto* data) { return RowPositions(data, axes, rows, rows); };
  if (const auto* own = std::get_if<1>(&of_all_axes.each)) return list(own->data());
  if (const auto* wide = std::get_if<2>(&of_all_axes.each)) return list(wide->data());
  if (const auto* narrow = std::get_if<3>(&of_all_axes.each)) return list(narrow->data());
  return of_all_axes.rows;
}

AxisPositions axis_positions_of(const py::object& from, std::int64_t axes,
                                std::optional<std::int64_t> first_of_count) {
  if (!is_readable_array(from) || (first_of_count && is_count(from))) {
    Positions positions = positions_of(from, first_of_count);
    const auto count = static_cast<py::ssize_t>(positions.count());
    return {std::move(positions), 0, {count}};
  }
  const py::array array = readable_array_of(from, "positions");
  const py::ssize_t of_axes = axes > 1 && array.ndim() > 1 ? 1 : 0, rest = array.ndim() - of_axes;
  if (rest < 1 || rest > 2 || (of_axes == 1 && array.shape(0) != axes)) {
    const std::string count = std::to_string(axes);
    throw InvalidArgument("positions.shape is " + shape_of(array) + "; allowed: (rows), " +
                          (axes > 1 ? "(" + count + ", rows), (" + count + ", batch, rows)"
                                    : std::string("(batch, rows)")));
  }
  return {elements_of(array), of_axes == 1 ? axes : 0,
          std::vector<py::ssize_t>(array.shape() + of_axes, array.shape() + array.ndim())};
}

namespace {

std::vector<py::ssize_t> shape_of_table(const AxisPositions& positions, std::int64_t columns) {
  std::vector<py::ssize_t> shape = positions.shape;
  shape.push_back(columns);
  return shape;
}

}  // namespace

py::array new_table(const AxisPositions& positions, std::int64_t columns, DataType type) {
  const RowPositions rows = positions.view();
  if (rows.is_range()) validate(RowRange{rows.first(), rows.count()});
  table_bytes({.d_model = columns}, rows.count(), size_of(type));
  return py::array(numpy_type(type), shape_of_table(positions, columns));
}

void check_table(const py::array& table, const char* name, const AxisPositions& positions,
                 std::int64_t columns) {
  check_shape(table, name, shape_of_table(positions, columns));
}

RowRange rows_of(const py::object& from, std::optional<std::int64_t> first_of_count) {
  const Positions positions = positions_of(from, first_of_count);
  if (std::holds_alternative<std::monostate>(positions.each)) return positions.rows;
  throw InvalidArgument("positions is " + text(py::repr(from)) + "; allowed: a range of step 1" +
                        (first_of_count ? ", or a number of rows" : ""));
}

FrequencyRule rule_of(const py::object& from) {
  try {
    return cast_rule(from);
  } catch (const py::cast_error&) {
    throw py::type_error("frequencies is " + text(py::repr(from)) +
                         "; allowed: None, a sequence of numbers, a rule of numbers, or its text");
  }
}

EncodingSpec spec_of(std::int64_t d_model, double base, const std::string& layout,
                     const std::string& spacing, const py::object& frequencies) {
  return {d_model, base, parse_layout(layout), parse_spacing(spacing), rule_of(frequencies)};
}

}  // namespace posenc::python
