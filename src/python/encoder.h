// The class Encoder of the module.
#pragma once

#include "posenc/encoder.h"
#include "python/arguments.h"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace posenc::python {

/// Selection needs rows and a type, so that an encoder knows what it will mostly encode.
class PyEncoder {
 public:
  PyEncoder(std::int64_t d_model, double base, const std::string& layout,
            const std::string& spacing, const py::object& frequencies, std::int64_t first,
            const std::optional<std::string>& name, const py::object& accuracy, std::int64_t rows,
            const py::object& type, int threads);

  const Encoder& encoder() const { return *encoder_; }
  std::string backend() const;
  const std::string& reason() const { return reason_; }
  std::int64_t first() const { return first_; }

  py::object encode(const py::object& from, const py::object& out, const py::object& type,
                    int threads, const std::string& stores) const;

 private:
  py::object new_table(const Positions& positions, DataType type) const;

  std::int64_t first_;
  std::unique_ptr<const Encoder> encoder_;
  std::string reason_;
};

}  // namespace posenc::python
