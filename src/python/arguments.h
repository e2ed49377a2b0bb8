// Arguments of the module's functions, as types of the library. Whatever is not allowed raises
// ValueError (InvalidArgument) or TypeError, with one line that names the argument, its value and
// what is allowed.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/error.h"
#include "posenc/frequency_rule.h"
#include "posenc/model/axes.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/spec.h"
#include "posenc/suite/checking/check.h"
#include "posenc/suite/parity.h"
#include "posenc/support/enum_names.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc {
struct RotaryReading;
}

namespace posenc::python {

using namespace suite;

namespace py = pybind11;
using namespace py::literals;

using Shape = std::vector<py::ssize_t>;
using Sizes = std::vector<std::int64_t>;

/// str(object)
std::string text(const py::handle& object);

/// ValueError: "NAME is VALUE; allowed: ALLOWED".
[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& allowed);
/// The same as TypeError, with the object's repr().
[[noreturn]] void refuse_type(const char* name, const py::handle& object, const char* allowed);

// ---- Classes ------------------------------------------------------------------------------------

struct PyAxesEncoder;
class PyCursor;
struct PyEncoder;
struct PyPositionalEncoding;
struct PyRotary;

template <class T, class... Classes>
concept OneOf = (std::same_as<T, Classes> || ...);
/// The classes that the module binds.
template <class T>
concept Bound = OneOf<T, Accuracy, AxesSpec, AxisPairs, CheckReport, FrequencyReport, RotaryReading,
                      PyAxesEncoder, PyCursor, PyEncoder, PyPositionalEncoding, PyRotary>;

/// True of an object of that class whose __init__ has run. Python makes others by
/// Class.__new__(Class), whose memory nothing has written.
template <Bound T>
bool is_object_of(const py::handle& object) {
  if (!py::isinstance<T>(object)) return false;
  py::detail::values_and_holders parts(reinterpret_cast<py::detail::instance*>(object.ptr()));
  for (const auto& part : parts) {
    if (!part.holder_constructed()) return false;
  }
  return true;
}

/// Binds copies, which are the object itself since it never changes, and pickles of every protocol,
/// as arguments of functools.partial() or operator.methodcaller(), and of what that returns.
template <class T, class Reduced>
py::class_<T>& bind_reduced(py::class_<T>& bound, const Reduced& reduced) {
  bound.def("__copy__", [](const py::object& self) { return self; });
  bound.def(
      "__deepcopy__", [](const py::object& self, const py::object&) { return self; }, "memo"_a);
  bound.def("__reduce__", reduced);
  return bound;
}

/// The same, where arguments of the class make the object again.
template <class T, class Arguments>
py::class_<T>& bind_remaking(py::class_<T>& bound, const Arguments& arguments) {
  return bind_reduced(bound, [arguments](const T& self) {
    const py::object partial = py::module_::import("functools").attr("partial");
    return py::make_tuple(partial(py::type::of<T>(), **arguments(self)), py::tuple());
  });
}

/// The names of presets, and what each describes.
template <class Presets>
py::dict descriptions_of(const Presets& presets) {
  py::dict all;
  for (const auto& each : presets) all[py::str(each.name)] = each.description;
  return all;
}

// ---- Names --------------------------------------------------------------------------------------

/// A layout of cosines and sines in one table; complex numbers are interleaved.
enum class CacheLayout { halves, interleaved, complex };

/// Those of the enumerations for which the library has none.
template <class Enum>
inline constexpr auto names_of = nullptr;
template <>
inline constexpr auto names_of<RotaryLayout> = enum_names<RotaryLayout>("channels", "halves",
                                                                        "interleaved");
template <>
inline constexpr auto names_of<EncodingSource> = enum_names<EncodingSource>("source", "automatic",
                                                                            "fused", "cached");
template <>
inline constexpr auto names_of<Repeat> = enum_names<Repeat>("repeat", "once", "halves",
                                                            "interleaved");
template <>
inline constexpr auto names_of<CacheLayout> = enum_names<CacheLayout>("layout", "halves",
                                                                      "interleaved", "complex");

template <class Enum>
Enum parse_name(std::string_view name) {
  return names_of<Enum>.parse(name);
}

// ---- Positions ----------------------------------------------------------------------------------

inline bool any_object(PyObject*) { return true; }

/// An argument that rows_of() converts, and one that is an array or a tensor. Their names stand in
/// signatures, of which the types of the module are written.
class Positions : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(Positions, py::object, any_object)
};
class Array : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(Array, py::object, any_object)
};

/// The positions of rows, which view what is in the members below: moved, never copied.
struct Rows {
  RowPositions positions;
  Shape shape;                     ///< (rows), or (batch, rows)
  py::object array;                ///< that the positions are in, if they are in one
  std::vector<std::int64_t> list;  ///< likewise

  /// The shape of a table with these columns.
  Shape table_shape(std::int64_t columns) const;
};

/// From a range, an array of int32 or int64, what converts itself to one, or a sequence of
/// integers; or from a number of rows, if the position of its first is given. An array has shape
/// (rows) or (batch, rows); if there are several axes, they may be a dimension before these.
Rows rows_of(const Positions& from, std::int64_t axes,
             std::optional<std::int64_t> first_of_count = {});

/// From a range of step 1, or from a number of rows.
RowRange range_of(const Positions& from, std::int64_t first_of_count);

// ---- Conversions --------------------------------------------------------------------------------

/// None, which is float32, a string, or a type of NumPy or PyTorch.
DataType parse_type(const py::object& type);

/// None, a text, one of the rules in frequencies.py, or a sequence or an array of frequencies.
FrequencyRule parse_rule(const py::object& from);

/// A number is the largest absolute error.
std::optional<Accuracy> parse_accuracy(const py::object& from);

/// The arguments of an encoding, as in Encoder(), and others.
template <class... Arguments>
py::dict convention_of(const EncodingSpec& spec, Arguments... others) {
  return py::dict("d_model"_a = spec.d_model, "base"_a = spec.base, "layout"_a = spec.layout,
                  "spacing"_a = spec.spacing, "frequencies"_a = spec.frequencies,
                  std::move(others)...);
}

}  // namespace posenc::python

namespace pybind11::detail {

template <>
struct handle_type_name<posenc::python::Positions> {
  static constexpr auto name = const_name("Positions");
};
template <>
struct handle_type_name<posenc::python::Array> {
  static constexpr auto name = const_name("Array");
};

/// An object that was initialised.
template <posenc::python::Bound T>
class type_caster<T> : public type_caster_base<T> {
 public:
  bool load(handle from, bool convert) {
    return type_caster_base<T>::load(from, convert) &&
           (from.is_none() || posenc::python::is_object_of<T>(from));
  }
};

/// An enumeration, from a name.
template <class Enum, auto parse = &posenc::python::parse_name<Enum>>
struct NameCaster {
  PYBIND11_TYPE_CASTER(Enum, const_name("str"));

  bool load(handle from, bool) {
    if (!isinstance<str>(from)) return false;
    value = parse(posenc::python::text(from));
    return true;
  }
  static handle cast(Enum from, return_value_policy, handle) {
    if constexpr (requires { to_string(from); }) {
      return str(std::string(to_string(from))).release();
    } else {
      return str(std::string(posenc::python::names_of<Enum>[from])).release();
    }
  }
};

template <>
class type_caster<posenc::Layout> : public NameCaster<posenc::Layout, posenc::parse_layout> {};
template <>
class type_caster<posenc::Spacing> : public NameCaster<posenc::Spacing, posenc::parse_spacing> {};
template <>
class type_caster<posenc::StorePolicy>
    : public NameCaster<posenc::StorePolicy, posenc::parse_store_policy> {};
template <>
class type_caster<posenc::suite::System>
    : public NameCaster<posenc::suite::System, posenc::suite::parse_system> {};
template <>
class type_caster<posenc::suite::Arrangement>
    : public NameCaster<posenc::suite::Arrangement, posenc::suite::parse_arrangement> {};
template <>
class type_caster<posenc::RotaryLayout> : public NameCaster<posenc::RotaryLayout> {};
template <>
class type_caster<posenc::EncodingSource> : public NameCaster<posenc::EncodingSource> {};
template <>
class type_caster<posenc::Repeat> : public NameCaster<posenc::Repeat> {};
template <>
class type_caster<posenc::python::CacheLayout> : public NameCaster<posenc::python::CacheLayout> {};

template <>
class type_caster<posenc::DataType> {
  PYBIND11_TYPE_CASTER(posenc::DataType, const_name("DType"));
  bool load(handle from, bool) {
    value = posenc::python::parse_type(reinterpret_borrow<object>(from));
    return true;
  }
  static handle cast(posenc::DataType from, return_value_policy, handle) {
    return str(std::string(to_string(from))).release();
  }
};

template <>
class type_caster<posenc::FrequencyRule> {
  PYBIND11_TYPE_CASTER(posenc::FrequencyRule, const_name("Frequencies"));
  bool load(handle from, bool) {
    value = posenc::python::parse_rule(reinterpret_borrow<object>(from));
    return true;
  }
  /// A text, or None for the frequencies of the base.
  static handle cast(const posenc::FrequencyRule& from, return_value_policy, handle) {
    if (is_base(from)) return none().release();
    return str(to_string(from)).release();
  }
};

template <>
class type_caster<std::optional<posenc::Accuracy>> {
  PYBIND11_TYPE_CASTER(std::optional<posenc::Accuracy>, const_name("AccuracyLike"));
  bool load(handle from, bool) {
    value = posenc::python::parse_accuracy(reinterpret_borrow<object>(from));
    return true;
  }
  static handle cast(const std::optional<posenc::Accuracy>& from, return_value_policy, handle) {
    return from ? pybind11::cast(*from).release() : none().release();
  }
};

}  // namespace pybind11::detail
