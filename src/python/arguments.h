// Arguments of the module's functions, as types of the library. Functions throw InvalidArgument,
// which names the argument, or TypeError.
#pragma once

#include "python/bound.h"

#include "posenc/encode_options.h"
#include "posenc/frequency_rule.h"
#include "posenc/model/axes.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/selection.h"
#include "posenc/spec.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace posenc::python {

namespace py = pybind11;

EncodingSource parse_source(const std::string& name);
RotaryLayout parse_rotary_layout(const char* argument, const std::string& name);

/// None, a largest absolute error (any real number), or an Accuracy.
Accuracy accuracy_of(const py::object& accuracy);

/// Rows in order, or positions of which each is a row.
struct Positions {
  RowRange rows;  ///< if `each` is empty
  std::variant<std::monostate, std::vector<std::int64_t>,
               py::array_t<std::int64_t, py::array::c_style>,
               py::array_t<std::int32_t, py::array::c_style>>
      each;

  std::int64_t count() const { return rows.count; }
};

/// From range(first, last + 1), a one-dimensional array of int32 or int64, what converts itself to
/// one, or a sequence of integers; or from a number of rows, if the position of its first is given.
Positions positions_of(const py::object& from, std::optional<std::int64_t> first_of_count = {});

/// Positions on axes, and their memory: those of each axis one behind the other.
struct AxisPositions {
  Positions of_all_axes;
  std::int64_t axes;               ///< 0 if positions are equal on all axes
  std::vector<py::ssize_t> shape;  ///< of the rows: (rows), or (batch, rows)

  RowPositions view() const;
};

/// Also from an array of shape (batch, rows). If there are several axes, the first of two or three
/// dimensions is the axis.
AxisPositions axis_positions_of(const py::object& from, std::int64_t axes,
                                std::optional<std::int64_t> first_of_count = {});

/// A new array for these rows, whose number of elements is checked.
py::array new_table(const AxisPositions& positions, std::int64_t columns, DataType type);

/// Throws unless the array has these rows and columns. More of them would keep what they held, and
/// be returned as if they were results.
void check_table(const py::array& table, const char* name, const AxisPositions& positions,
                 std::int64_t columns);

/// The number of rows that positions or a count stand for, without a look at the positions.
std::int64_t count_of_rows(const py::object& from);

/// From a range of step 1; or from a number of rows, if the position of its first is given.
RowRange rows_of(const py::object& from, std::optional<std::int64_t> first_of_count = {});

/// From None, one of the classes in frequencies.py, or a sequence of frequencies.
FrequencyRule rule_of(const py::object& from);

EncodingSpec spec_of(std::int64_t d_model, double base, const std::string& layout,
                     const std::string& spacing, const py::object& frequencies);

}  // namespace posenc::python
