// The parts of the module posenc._posenc.
#pragma once

#include "python/bound.h"

#include <pybind11/pybind11.h>

namespace posenc::python {

void bind_axes(pybind11::module_& module);
void bind_encoders(pybind11::module_& module);
void bind_positional_encoding(pybind11::module_& module);
void bind_rotary(pybind11::module_& module);
void bind_rotary_config(pybind11::module_& module);
void bind_tuning(pybind11::module_& module);
void bind_checks(pybind11::module_& module);

}  // namespace posenc::python
