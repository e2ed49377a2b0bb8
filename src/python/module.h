// The parts of the module posenc._posenc, and the types and functions that they share. The module
// is private: posenc/ in Python has the signatures, the defaults and the documentation.
#pragma once

#include "python/arguments.h"

namespace posenc::python {

void bind_encoders(py::module_& module);
void bind_reports(py::module_& module);

}  // namespace posenc::python
