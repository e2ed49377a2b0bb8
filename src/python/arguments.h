// Converts arguments of the module's functions to types and views of the library. An argument that
// is not allowed raises ValueError (InvalidArgument) or TypeError, with one line that names the
// argument, its value and the allowed values.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/check/frequencies.h"
#include "posenc/check/heads.h"
#include "posenc/check/report.h"
#include "posenc/check/table.h"
#include "posenc/data_type.h"
#include "posenc/error.h"
#include "posenc/frequency_rule.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/grid.h"
#include "posenc/model/rotary.h"
#include "posenc/spec.h"
#include "posenc/suite/parity.h"
#include "posenc/support/enum_names.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace posenc::python {

namespace py = pybind11;
using namespace py::literals;

using Shape = std::vector<py::ssize_t>;
using Sizes = std::vector<std::int64_t>;

/// Releases the GIL during its lifetime. At the end of a program, Python ends daemon threads that
/// request the GIL. Before version 3.14 it does so by unwinding their stacks, through functions
/// that must not throw and destructors that need the GIL. Here, a thread that requests the GIL
/// after the interpreter has begun to end sleeps until the process ends, as in Python 3.14.
class ReleasedGil {
 public:
  ReleasedGil() noexcept : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() {
#if PY_VERSION_HEX >= 0x030D0000
    const bool is_ending = Py_IsFinalizing() != 0;
#else
    const bool is_ending = _Py_IsFinalizing() != 0;
#endif
    if (is_ending) sleep_for_ever();
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      // The interpreter began to end while this thread waited for the GIL, and is unwinding its
      // stack. The program would abort if control left this handler.
      sleep_for_ever();
    }
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  [[noreturn]] static void sleep_for_ever() noexcept {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }

  PyThreadState* state_;
};

/// Calls call() without the GIL, and returns its result.
template <class Call>
auto without_gil(const Call& call) {
  const ReleasedGil no_gil;
  return call();
}

/// str(object)
std::string text(const py::handle& object);

/// Raises ValueError: "NAME is VALUE; allowed: ALLOWED".
[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& allowed);

// ---- Classes ------------------------------------------------------------------------------------

struct PyAxesEncoder;
struct PyEncoder;
struct PyRotary;

template <class T, class... Classes>
concept OneOf = (std::same_as<T, Classes> || ...);
/// The classes that the module binds.
template <class T>
concept Bound =
    OneOf<T, Accuracy, model::AxesSpec, model::AxisPairs, check::TableReport,
          check::FrequencyReport, PyAxesEncoder, PyEncoder, PyRotary, check::HeadsReport>;

/// True for an object of the class whose __init__ has run. Class.__new__(Class) makes objects whose
/// memory is uninitialised.
template <Bound T>
bool is_object_of(const py::handle& object) {
  return py::isinstance<T>(object) && reinterpret_cast<py::detail::instance*>(object.ptr())
                                          ->get_value_and_holder()
                                          .holder_constructed();
}

// ---- Types in signatures ------------------------------------------------------------------------

/// Text as a template argument.
template <std::size_t size>
struct Literal {
  constexpr Literal(const char (&from)[size]) { std::copy_n(from, size, text); }
  char text[size] = {};
};

inline bool any_object(PyObject*) { return true; }

/// A Python object. Signatures call its type `type`, and the stubs of the module are made from
/// signatures.
template <Literal type>
class Typed : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(Typed, py::object, any_object)
};
using Positions = Typed<"Positions">;  ///< positions that rows_of() converts
using Array = Typed<"Array">;          ///< an array of NumPy, or a tensor
using Table = Typed<"NDArray[Any]">;   ///< a new array, or the caller's

/// The type of an array that a function returns.
struct ArrayType {
  DataType of_element = DataType::float32;
  bool is_bits = false;  ///< bfloat16 as its bits, in uint16
};

/// The name of the type, or "bfloat16_bits".
std::string to_string(ArrayType type);

/// How an array of 16-bit integers is treated.
enum class BFloat16Bits {
  refused,  ///< refused
  offered,  ///< refused, with a message that offers the dtype for bits
  taken,    ///< taken as bfloat16
};

// ---- Names --------------------------------------------------------------------------------------

/// A layout of cosines and sines in one table; complex numbers are interleaved.
enum class CacheLayout { halves, interleaved, complex };

/// Names of the enumerators, for enumerations that have no names in the library.
template <class Enum>
inline constexpr auto names_of = nullptr;
template <>
inline constexpr auto names_of<model::RotaryLayout> =
    enum_names<model::RotaryLayout>("channels", "halves", "interleaved");
template <>
inline constexpr auto names_of<model::GridConvention> =
    enum_names<model::GridConvention>("convention", "mae", "simple_vit", "detr");
template <>
inline constexpr auto names_of<model::Repeat> = enum_names<model::Repeat>("repeat", "once",
                                                                          "halves", "interleaved");
template <>
inline constexpr auto names_of<CacheLayout> = enum_names<CacheLayout>("layout", "halves",
                                                                      "interleaved", "complex");

/// The function that parses a name.
template <class Enum>
inline constexpr auto parser_of = [](std::string_view name) { return names_of<Enum>.parse(name); };
template <>
inline constexpr auto parser_of<Layout> = &parse_layout;
template <>
inline constexpr auto parser_of<Spacing> = &parse_spacing;
template <>
inline constexpr auto parser_of<suite::System> = &suite::parse_system;
template <>
inline constexpr auto parser_of<check::Arrangement> = &check::parse_arrangement;

template <class T>
concept Named = OneOf<T, Layout, Spacing, suite::System, check::Arrangement, model::RotaryLayout,
                      model::Repeat, CacheLayout, model::GridConvention>;

// ---- Conversions --------------------------------------------------------------------------------

/// The positions of rows.
struct Rows {
  model::RowPositions positions;
  Shape shape;       ///< (rows), or (batch, rows)
  py::object array;  ///< keeps the memory of the positions, if they are in an array

  /// The shape of a table with these columns.
  Shape table_shape(std::int64_t columns) const;
};

/// Converts a range, an array of int32 or int64, an object that converts itself to an array, or a
/// sequence of integers. If `first_of_count` is given, it also takes a number of rows, which begin
/// at that position. An array has shape (rows) or (batch, rows). If there are several axes, a
/// dimension for them may come first.
Rows rows_of(const Positions& from, std::int64_t axes,
             std::optional<std::int64_t> first_of_count = {});

/// Converts a range of step 1, or a number of rows.
RowRange range_of(const Positions& from, std::int64_t first_of_count);

/// Parses a name.
template <class T>
T parse(const py::object& from) {
  return parser_of<T>(text(from));
}
/// Takes None (float32), a string, or a type of NumPy or PyTorch.
template <>
DataType parse(const py::object& type);
/// Takes the same types, or "bfloat16_bits".
template <>
ArrayType parse(const py::object& type);
/// Takes None, a text, a rule of frequencies.py, or a sequence or array of frequencies.
template <>
FrequencyRule parse(const py::object& from);
/// Takes None, an Accuracy, or a number, which is the largest absolute error.
template <>
std::optional<Accuracy> parse(const py::object& from);

// ---- Arrays -------------------------------------------------------------------------------------

/// The NumPy type. For bfloat16, it is the type of the package ml_dtypes; throws InvalidArgument if
/// the package is not installed.
py::dtype numpy_type(ArrayType type);

/// The values of an array, a tensor, an object that converts itself to an array, or a sequence. The
/// result shares the memory of the values if they have memory of their own.
py::array values_of(const py::object& from, const std::string& name, const char* allowed);

/// Raises ValueError: "NAME has dtype DTYPE and shape SHAPE; allowed: ALLOWED".
[[noreturn]] void refuse_values(const char* name, const py::array& values,
                                const std::string& allowed);

/// An argument that is a NumPy array or shares memory with one, such as a PyTorch tensor on the CPU
/// (also one of bfloat16). Properties that a view cannot have are refused under the name of the
/// argument.
class ArrayArgument {
 public:
  /// Refuses an object that only has __array__: it may return a copy, and results written to a copy
  /// would be lost.
  ArrayArgument(const py::object& from, std::string name,
                BFloat16Bits bits = BFloat16Bits::refused);

  const py::object& object() const { return object_; }  ///< the caller's object
  const py::array& array() const { return array_; }
  Shape shape() const { return {array_.shape(), array_.shape() + array_.ndim()}; }
  /// The type of an element.
  DataType type() const;
  /// Number of elements from one index of a dimension to the next.
  std::int64_t stride(py::ssize_t dimension) const;
  /// Raises ValueError: "NAME.ATTRIBUTE is VALUE; allowed: ALLOWED".
  [[noreturn]] void refuse(const char* attribute, const std::string& allowed) const;

  /// Views complex numbers as pairs of real numbers, in the same memory.
  void view_as_real();

  /// The array as a table. All dimensions but the last are rows, in their order; the rows must be
  /// at equal distances in memory.
  OutputView output() const;
  /// The array as writable heads: (rows, columns), (rows, heads, columns), or (batch, rows, heads,
  /// columns). If heads_first, the heads come before the rows.
  model::HeadsView heads(bool heads_first) const;

  /// Calls fill(output()) without the GIL, and returns the caller's object.
  template <class Fill>
  py::object written_by(const Fill& fill) const {
    const OutputView to = output();
    without_gil([&] { fill(to); });
    return object_;
  }

 private:
  /// Checks the number of dimensions, and that the last dimension is contiguous.
  void check_dimensions(py::ssize_t least, py::ssize_t most, const char* allowed) const;
  void* writable_data() const;

  py::object object_;
  py::array array_;
  std::string name_;
  BFloat16Bits bits_;
};

/// The array that a function writes and returns: the caller's array, or a new one if `given` is
/// None. The caller's array must have exactly this shape: further rows or columns would keep their
/// old values and be returned as if they were results. `type` is the type of a new array (default:
/// float32); the caller's array must have it if it is given.
ArrayArgument table_of(const py::object& given, const Shape& shape, std::optional<ArrayType> type,
                       const char* name = "out", bool is_complex = false);

}  // namespace posenc::python

namespace pybind11::detail {

template <posenc::python::Literal type>
struct handle_type_name<posenc::python::Typed<type>> {
  static constexpr auto name = const_name(type.text);
};

/// Accepts only objects that were initialised.
template <posenc::python::Bound T>
class type_caster<T> : public type_caster_base<T> {
 public:
  bool load(handle from, bool convert) {
    return type_caster_base<T>::load(from, convert) &&
           (from.is_none() || posenc::python::is_object_of<T>(from));
  }
};

#if PYBIND11_VERSION_MAJOR >= 3
/// These enumerations are strings in Python, and no Python enumerations.
template <posenc::python::Named Enum>
struct type_caster_enum_type_enabled<Enum> : std::false_type {};
#endif

/// Converts arguments with parse(). Signatures call their type `type_name`.
template <class T, posenc::python::Literal type_name>
class ParsedCaster {
  PYBIND11_TYPE_CASTER(T, const_name(type_name.text));
  bool load(handle from, bool) {
    if (posenc::python::Named<T> && !isinstance<str>(from)) return false;
    value = posenc::python::parse<T>(reinterpret_borrow<object>(from));
    return true;
  }
  static handle cast(const T& from, return_value_policy, handle) {
    if constexpr (std::is_same_v<T, std::optional<posenc::Accuracy>>) {
      return from ? pybind11::cast(*from).release() : none().release();
    } else if constexpr (requires { is_base(from); }) {
      return is_base(from) ? none().release() : str(to_string(from)).release();
    } else if constexpr (requires { to_string(from); }) {
      return str(std::string(to_string(from))).release();
    } else {
      return str(std::string(posenc::python::names_of<T>[from])).release();
    }
  }
};

template <posenc::python::Named Enum>
class type_caster<Enum> : public ParsedCaster<Enum, "str"> {};
template <>
class type_caster<posenc::DataType> : public ParsedCaster<posenc::DataType, "DType"> {};
template <>
class type_caster<posenc::python::ArrayType>
    : public ParsedCaster<posenc::python::ArrayType, "DType"> {};
template <>
class type_caster<posenc::FrequencyRule>
    : public ParsedCaster<posenc::FrequencyRule, "Frequencies"> {};
template <>
class type_caster<std::optional<posenc::Accuracy>>
    : public ParsedCaster<std::optional<posenc::Accuracy>, "AccuracyLike"> {};

}  // namespace pybind11::detail
