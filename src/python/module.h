// The parts of the module posenc._posenc, and the types and functions that they share. The module
// is private: posenc/ in Python has the signatures, the defaults and the documentation.
#pragma once

#include "posenc/encoder.h"
#include "python/arguments.h"

#include <memory>
#include <string>

namespace posenc::python {

/// An encoder, and why its backend was selected.
struct PyEncoder {
  std::unique_ptr<const Encoder> encoder;
  std::string reason;
};

void bind_encoders(py::module_& module);
void bind_reports(py::module_& module);

}  // namespace posenc::python
