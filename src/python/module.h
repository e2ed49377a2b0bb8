// The parts of the module posenc._posenc, and what several of them have.
#pragma once

#include "posenc/encoder.h"
#include "posenc/model/rotary.h"
#include "python/arguments.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace posenc::python {

/// An encoder, and the arguments that it was made of, besides its spec.
struct PyEncoder {
  std::int64_t first;  ///< the position of the first row, where no positions are given
  std::optional<std::string> backend;  ///< if the program names one
  std::optional<Accuracy> accuracy;
  std::int64_t rows;
  ArrayType type;
  std::unique_ptr<const Encoder> encoder;
  std::string reason;  ///< why it was selected
};

/// A rotary embedding, and the arguments that it was made of, besides its spec.
struct PyRotary : Rotary {
  PyRotary(const RotarySpec& spec, const std::optional<Accuracy>& asked, std::string text)
      : Rotary(spec, asked.value_or(Accuracy())), accuracy(asked), said(std::move(text)) {}

  std::optional<Accuracy> accuracy;
  std::string said;  ///< by repr(), in parentheses: the spec, or what it was read from
};

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

/// The arguments of an encoding, as in Encoder(), and others.
template <class... Arguments>
py::dict convention_of(const EncodingSpec& spec, Arguments... others) {
  return py::dict("d_model"_a = spec.d_model, "base"_a = spec.base, "layout"_a = spec.layout,
                  "spacing"_a = spec.spacing, "frequencies"_a = spec.frequencies,
                  std::move(others)...);
}

using Descriptions = Typed<"dict[str, str]">;

/// The names of presets, and what each describes.
template <class Presets>
Descriptions descriptions_of(const Presets& presets) {
  py::dict all;
  for (const auto& each : presets) all[py::str(each.name)] = each.description;
  return all;
}

void bind_axes(py::module_& module);
void bind_encoders(py::module_& module);
void bind_layers(py::module_& module);
void bind_reports(py::module_& module);

}  // namespace posenc::python
