// The parts of the module posenc._posenc, and the types and functions that they share.
#pragma once

#include "posenc/encoder.h"
#include "posenc/model/rotary.h"
#include "python/arguments.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace posenc::python {

/// An encoder, and the arguments that it was made from, besides its spec.
struct PyEncoder {
  std::int64_t first;                  ///< the position of the first row if a call gives none
  std::optional<std::string> backend;  ///< set if the program named a backend
  std::optional<Accuracy> accuracy;
  std::int64_t rows;
  ArrayType type;
  std::unique_ptr<const Encoder> encoder;
  std::string reason;  ///< why the backend was selected
};

/// A rotary embedding, and the arguments that it was made from, besides its spec.
struct PyRotary : model::Rotary {
  PyRotary(const model::RotarySpec& spec, const std::optional<Accuracy>& asked, std::string text)
      : model::Rotary(spec, asked.value_or(Accuracy())), accuracy(asked), said(std::move(text)) {}

  std::optional<Accuracy> accuracy;
  std::string said;  ///< shown by repr() in parentheses: the spec, or the configuration
};

/// Binds copies and pickles. A copy is the object itself, because it never changes. `reduced` is
/// the
/// __reduce__ of the class: it returns a callable, made by functools.partial() or
/// operator.methodcaller(), and the arguments of the callable, for every pickle protocol.
template <class T, class Reduced>
py::class_<T>& bind_reduced(py::class_<T>& bound, const Reduced& reduced) {
  bound.def("__copy__", [](const py::object& self) { return self; });
  bound.def(
      "__deepcopy__", [](const py::object& self, const py::object&) { return self; }, "memo"_a);
  bound.def("__reduce__", reduced);
  return bound;
}

/// The same for a class whose objects can be made again from `arguments`.
template <class T, class Arguments>
py::class_<T>& bind_remaking(py::class_<T>& bound, const Arguments& arguments) {
  return bind_reduced(bound, [arguments](const T& self) {
    const py::object partial = py::module_::import("functools").attr("partial");
    return py::make_tuple(partial(py::type::of<T>(), **arguments(self)), py::tuple());
  });
}

/// The arguments of an encoding, as in Encoder(), and further arguments.
template <class... Arguments>
py::dict convention_of(const EncodingSpec& spec, Arguments... others) {
  return py::dict("d_model"_a = spec.d_model, "base"_a = spec.base, "layout"_a = spec.layout,
                  "spacing"_a = spec.spacing, "frequencies"_a = spec.frequencies,
                  std::move(others)...);
}

using Descriptions = Typed<"dict[str, str]">;

/// The names of presets, and the description of each.
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
