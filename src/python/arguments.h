// Arguments of the module's functions, as types of the library: what all functions share. Whatever
// is not allowed raises ValueError (InvalidArgument) or TypeError, with one line that names the
// argument, its value and what is allowed.
#pragma once

#include "python/bound.h"

#include "posenc/accuracy.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/error.h"
#include "posenc/frequency_rule.h"
#include "posenc/model/axes.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary_cache_view.h"
#include "posenc/model/rotary_spec.h"
#include "posenc/spec.h"
#include "posenc/suite/checking/check.h"
#include "posenc/suite/parity.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

// ---- Names --------------------------------------------------------------------------------------

/// A layout of cosines and sines in one table; complex numbers are interleaved.
enum class CacheLayout { halves, interleaved, complex };

/// The name of the argument, and those of an enumeration's values in their order, where the library
/// has none.
template <class Enum>
inline constexpr auto names_of = nullptr;
template <class... Names>
constexpr std::array<std::string_view, sizeof...(Names)> list(Names... names) {
  return {names...};
}
template <>
inline constexpr auto names_of<RotaryLayout> = list("channels", "halves", "interleaved");
template <>
inline constexpr auto names_of<EncodingSource> = list("source", "automatic", "fused", "cached");
template <>
inline constexpr auto names_of<Repeat> = list("repeat", "once", "halves", "interleaved");
template <>
inline constexpr auto names_of<CacheLayout> = list("layout", "halves", "interleaved", "complex");

template <class Enum>
std::string name_of(Enum value) {
  if constexpr (requires { to_string(value); }) {
    return std::string(to_string(value));
  } else {
    return std::string(names_of<Enum>[static_cast<std::size_t>(value) + 1]);
  }
}

template <class Enum>
Enum parse_named(std::string_view argument, std::string_view name) {
  std::string allowed;
  for (std::size_t i = 1; i < names_of<Enum>.size(); ++i) {
    if (names_of<Enum>[i] == name) return static_cast<Enum>(i - 1);
    allowed += (i > 1 ? ", " : "") + std::string(names_of<Enum>[i]);
  }
  refuse(std::string(argument), "'" + std::string(name) + "'", allowed);
}
template <class Enum>
Enum parse_name(std::string_view name) {
  return parse_named<Enum>(names_of<Enum>[0], name);
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

/// The positions of rows, and their memory: those of each axis one behind the other.
struct Rows {
  std::variant<RowRange, std::vector<std::int64_t>, py::array_t<std::int64_t, py::array::c_style>,
               py::array_t<std::int32_t, py::array::c_style>>
      memory;
  std::int64_t axes = 0;  ///< 0 if positions are equal on all axes
  Shape shape = {};       ///< of the rows: (rows), or (batch, rows)

  std::int64_t count() const;
  RowPositions view() const;
  /// That of a table with these columns.
  Shape table_shape(std::int64_t columns) const;
};

/// From a range, an array of int32 or int64, what converts itself to one, or a sequence of
/// integers; or from a number of rows, if the position of its first is given. An array has shape
/// (rows) or (batch, rows); if there are several axes, they may be a dimension before these.
Rows rows_of(const Positions& from, std::int64_t axes,
             std::optional<std::int64_t> first_of_count = {});

// ---- Conversions --------------------------------------------------------------------------------

/// None, which is float32, a string, or a type of NumPy or PyTorch.
DataType parse_type(const py::object& type);

/// None, a text, one of the rules in frequencies.py, or a sequence or an array of frequencies.
FrequencyRule parse_rule(const py::object& from);

/// A number is the largest absolute error.
std::optional<Accuracy> parse_accuracy(const py::object& from);

/// From a range of step 1. Nothing if it is no range.
std::optional<RowRange> parse_range(const py::object& from);

/// base, layout, spacing and frequencies, as in Encoder().
py::dict convention_of(const EncodingSpec& spec);

/// Binds copies, which are the object itself since it never changes, and pickles of every protocol:
/// the class and the arguments that make the object again. (Without __reduce__, protocols before 2
/// make an object of pybind11's base class, which ends the process.)
template <class T, class Arguments>
py::class_<T>& bind_remaking(py::class_<T>& bound, const Arguments& arguments) {
  bound.def("__copy__", [](const py::object& self) { return self; });
  bound.def(
      "__deepcopy__", [](const py::object& self, const py::object&) { return self; }, "memo"_a);
  bound.def("__reduce__", [arguments](const T& self) {
    const py::object partial = py::module_::import("functools").attr("partial");
    const py::type type = py::type::of(py::cast(&self, py::return_value_policy::reference));
    return py::make_tuple(partial(type, **arguments(self)), py::tuple());
  });
  return bound;
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

/// An enumeration, from a name.
template <class Enum, auto parse>
struct NameCaster {
  PYBIND11_TYPE_CASTER(Enum, const_name("str"));

  bool load(handle from, bool) {
    if (!isinstance<str>(from)) return false;
    value = parse(posenc::python::text(from));
    return true;
  }
  static handle cast(Enum from, return_value_policy, handle) {
    return str(posenc::python::name_of(from)).release();
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
class type_caster<posenc::System> : public NameCaster<posenc::System, posenc::parse_system> {};
template <>
class type_caster<posenc::Arrangement>
    : public NameCaster<posenc::Arrangement, posenc::parse_arrangement> {};
template <>
class type_caster<posenc::RotaryLayout>
    : public NameCaster<posenc::RotaryLayout, posenc::python::parse_name<posenc::RotaryLayout>> {};
template <>
class type_caster<posenc::EncodingSource>
    : public NameCaster<posenc::EncodingSource,
                        posenc::python::parse_name<posenc::EncodingSource>> {};
template <>
class type_caster<posenc::Repeat>
    : public NameCaster<posenc::Repeat, posenc::python::parse_name<posenc::Repeat>> {};
template <>
class type_caster<posenc::python::CacheLayout>
    : public NameCaster<posenc::python::CacheLayout,
                        posenc::python::parse_name<posenc::python::CacheLayout>> {};

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
  PYBIND11_TYPE_CASTER(std::optional<posenc::Accuracy>, const_name("Accuracy | float | None"));
  bool load(handle from, bool) {
    value = posenc::python::parse_accuracy(reinterpret_borrow<object>(from));
    return true;
  }
  static handle cast(const std::optional<posenc::Accuracy>& from, return_value_policy, handle) {
    return from ? pybind11::cast(*from).release() : none().release();
  }
};

template <>
class type_caster<posenc::RowRange> {
  PYBIND11_TYPE_CASTER(posenc::RowRange, const_name("range"));
  bool load(handle from, bool) {
    const auto rows = posenc::python::parse_range(reinterpret_borrow<object>(from));
    if (rows) value = *rows;
    return rows.has_value();
  }
};

}  // namespace pybind11::detail
