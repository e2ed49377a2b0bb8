// What objects are pickled as: tuples of arguments, from which they are planned again.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/frequency_rule.h"
#include "posenc/model/axes.h"
#include "posenc/spec.h"

#include <pybind11/pybind11.h>

namespace posenc::python {

namespace py = pybind11;

py::tuple state_of(const Accuracy& accuracy);
Accuracy accuracy_of_state(const py::tuple& state);

/// (d_model, base, layout, spacing, frequencies): the arguments of spec_of().
py::tuple state_of(const EncodingSpec& spec);
EncodingSpec spec_of_state(const py::tuple& state);

py::tuple state_of(const AxisPairs& pairs);
AxisPairs axis_pairs_of_state(const py::tuple& state);

py::tuple state_of(const AxesSpec& spec);
AxesSpec axes_of_state(const py::tuple& state);

/// Binds copies. Of an object that never changes, every copy is the object itself.
template <class Class>
Class& bind_copies(Class& bound) {
  bound.def("__copy__", [](const py::object& self) { return self; });
  bound.def(
      "__deepcopy__", [](const py::object& self, const py::object&) { return self; },
      py::arg("memo"));
  return bound;
}

}  // namespace posenc::python
