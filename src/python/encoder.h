// The class Encoder of the module.
#pragma once

#include "posenc/encoder.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "python/arguments.h"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace posenc::python {

/// What an encoder is planned for. Selection needs rows, a type and threads, so that it knows what
/// will mostly be encoded.
struct EncoderPlan {
  EncodingSpec spec;
  std::int64_t first = 0;                   ///< the position of the first row
  std::optional<std::string> backend = {};  ///< if the program names one
  SelectionOptions selection = {};
  std::int64_t rows = 0;
};

class PyEncoder {
 public:
  explicit PyEncoder(EncoderPlan plan);

  const Encoder& encoder() const { return *encoder_; }
  std::string backend() const;
  const std::string& reason() const { return reason_; }
  const EncoderPlan& plan() const { return plan_; }
  std::int64_t first() const { return plan_.first; }

  py::object encode(const py::object& from, const py::object& out, const py::object& type,
                    int threads, const std::string& stores) const;

 private:
  EncoderPlan plan_;
  std::unique_ptr<const Encoder> encoder_;
  std::string reason_;
};

}  // namespace posenc::python
