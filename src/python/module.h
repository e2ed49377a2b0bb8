// The parts of the module posenc._posenc, and the classes that several of them have.
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
  DataType type;
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

void bind_axes(py::module_& module);
void bind_encoders(py::module_& module);
void bind_positional_encoding(py::module_& module);
void bind_rotary(py::module_& module);
void bind_reports(py::module_& module);

}  // namespace posenc::python
