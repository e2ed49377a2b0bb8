// Converts the arguments of the module's functions to types and views of the library. An argument
// that is not allowed raises ValueError (InvalidArgument) or TypeError, with one line that names
// the argument, its value and the allowed values. posenc/arguments.py converts arrays, tensors and
// positions before they come here.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/check/report.h"
#include "posenc/data_type.h"
#include "posenc/frequency_rule.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/axes_presets.h"
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

/// Releases the GIL while a function of the module runs.
inline constexpr py::call_guard<ReleasedGil> without_gil{};

// ---- Types of arguments -------------------------------------------------------------------------

using Heads = std::vector<model::HeadsView>;

/// An array with the type of its elements. Strides that a view cannot have are refused under the
/// name of the argument.
struct Memory {
  explicit Memory(const py::handle& from);

  std::int64_t size(py::ssize_t dimension) const { return array.shape(dimension); }
  /// Number of elements from one index of a dimension to the next.
  std::int64_t stride(py::ssize_t dimension) const;
  /// The data, if the last dimension is contiguous.
  void* contiguous_data() const;
  [[noreturn]] void refuse_strides(const char* allowed) const;

  py::array array;
  DataType type;
  std::string name;
};

/// A layout of cosines and sines in one table; complex numbers are interleaved.
enum class CacheLayout { halves, interleaved, complex };

/// Parses the name of an enumerator.
template <class Enum>
Enum parsed(const std::string& name) {
  using detail::enum_names;
  if constexpr (std::is_same_v<Enum, Layout>) {
    return parse_layout(name);
  } else if constexpr (std::is_same_v<Enum, Spacing>) {
    return parse_spacing(name);
  } else if constexpr (std::is_same_v<Enum, DataType>) {
    return parse_data_type(name);
  } else if constexpr (std::is_same_v<Enum, suite::System>) {
    return suite::parse_system(name);
  } else if constexpr (std::is_same_v<Enum, check::Arrangement>) {
    return check::parse_arrangement(name);
  } else if constexpr (std::is_same_v<Enum, model::RotaryLayout>) {
    return enum_names<Enum>("channels", "halves", "interleaved").parse(name);
  } else if constexpr (std::is_same_v<Enum, model::GridConvention>) {
    return enum_names<Enum>("convention", "mae", "simple_vit", "detr").parse(name);
  } else if constexpr (std::is_same_v<Enum, model::Repeat>) {
    return enum_names<Enum>("repeat", "once", "halves", "interleaved").parse(name);
  } else {
    static_assert(std::is_same_v<Enum, CacheLayout>);
    return enum_names<Enum>("layout", "halves", "interleaved", "complex").parse(name);
  }
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// The values that arguments of type T may have, in messages.
template <class T>
std::string kind_of() {
  if constexpr (is_optional<T>) {
    return kind_of<typename T::value_type>() + ", None";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "True, False";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(8 * sizeof(T)) + "-bit integers";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "numbers";
  } else if constexpr (std::is_same_v<T, Accuracy>) {
    return "a largest error, a text such as '1 ulp', None";
  } else if constexpr (std::is_same_v<T, model::GridSizes>) {
    return "sequences of three 64-bit integers";
  } else {
    return std::is_same_v<T, Sizes> ? "sequences of 64-bit integers" : "texts";
  }
}

/// Raises TypeError: "NAME is VALUE; allowed: ALLOWED".
[[noreturn]] void refuse_type(const char* name, const py::handle& value,
                              const std::string& allowed);

/// Converts a value, or throws py::cast_error.
template <class T>
T converted(const py::handle& value) {
  if constexpr (is_optional<T>) {
    return value.is_none() ? T() : T(converted<typename T::value_type>(value));
  } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, std::string>) {
    if (!py::isinstance<py::str>(value)) throw py::cast_error();  // bytes are no text
    if constexpr (std::is_enum_v<T>)
      return parsed<T>(value.cast<std::string>());
    else
      return value.cast<T>();
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    // pybind11 would also take objects with __int__, and truncate their fractions.
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!index) {
      PyErr_Clear();
      throw py::cast_error();
    }
    return index.cast<T>();
  } else {
    return value.cast<T>();
  }
}
/// Converts None, the text of a rule, or a list of frequencies.
template <>
FrequencyRule converted(const py::handle& value);
/// Converts (d_model, base, layout, spacing, frequencies).
template <>
EncodingSpec converted(const py::handle& value);
/// Converts (parts, layout, parts_have_layouts), of which each part is (axis, d_model, base,
/// layout, spacing, frequencies, picks, pairs).
template <>
model::AxesSpec converted(const py::handle& value);
/// Converts posenc.arguments.Rows, whose array must outlive the result.
template <>
model::RowPositions converted(const py::handle& value);
/// Converts posenc.arguments.Memory of two dimensions.
template <>
OutputView converted(const py::handle& value);
/// Converts a list of posenc.arguments.Memory, each of shape (batch, heads, rows, columns).
template <>
Heads converted(const py::handle& value);
/// Converts None, a number, which is the largest absolute error, or a text such as "1 ulp".
template <>
Accuracy converted(const py::handle& value);

/// Converts an argument of that name.
template <class T>
T argument(const py::handle& value, const char* name) {
  try {
    return converted<T>(value);
  } catch (const py::cast_error&) {
    refuse_type(name, value, kind_of<T>());
  }
}

/// Text as a template argument.
template <std::size_t size>
struct Literal {
  constexpr Literal(const char (&from)[size]) { std::copy_n(from, size, text); }
  char text[size] = {};
};

/// A parameter of a function of the module, converted by argument().
template <class T, Literal name>
struct Arg {
  T value;
  operator const T&() const { return value; }  // NOLINT: implicit
};
template <Literal name>
using Integer = Arg<std::int64_t, name>;
template <class T, Literal name>
using Optional = Arg<std::optional<T>, name>;
using AskedAccuracy = Arg<Accuracy, "accuracy">;
using Convention = Arg<EncodingSpec, "convention">;
using Positions = Arg<model::RowPositions, "positions">;
using Out = Arg<OutputView, "out">;
using Threads = Arg<int, "threads">;
using Type = Arg<DataType, "dtype">;

/// The tuple that converted() takes. Frequencies are None or a text.
py::tuple tuple_of(const EncodingSpec& spec);
/// The tuple that converted() takes.
py::tuple tuple_of(const model::AxesSpec& axes);

}  // namespace posenc::python

namespace pybind11::detail {

template <class T, posenc::python::Literal argument>
class type_caster<posenc::python::Arg<T, argument>> {
  using Parameter = posenc::python::Arg<T, argument>;

 public:
  static constexpr auto name = const_name("object");
  template <class>
  using cast_op_type = const Parameter&;

  bool load(handle from, bool) {
    value_ = Parameter{posenc::python::argument<T>(from, argument.text)};
    return true;
  }
  operator const Parameter&() { return *value_; }  // NOLINT: implicit

 private:
  std::optional<Parameter> value_;  // set by load(); some types have no default
};

}  // namespace pybind11::detail
