// The parts of the module posenc._posenc.
#pragma once

#include <pybind11/pybind11.h>

namespace posenc::python {

void bind_encoders(pybind11::module_& module);
void bind_layers(pybind11::module_& module);
void bind_tuning(pybind11::module_& module);
void bind_checks(pybind11::module_& module);

}  // namespace posenc::python
