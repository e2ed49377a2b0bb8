// The rotary embeddings of a model's config.json.
#include "posenc/model/rotary_config.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/gil.h"
#include "python/rotary.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace posenc::python {
namespace {

RotaryReading read_config(const std::string& text, std::optional<std::int64_t> rows,
                          const std::optional<std::string>& channels, bool strict) {
  RotaryConfigOptions options = {.rows = rows, .channels = {}, .strict = strict};
  if (channels) options.channels = parse_rotary_layout("channels", *channels);
  return read_rotary_config(text, options);
}

/// A rotary embedding that says what it was read from.
std::unique_ptr<PyRotary> rotary_of(const RotaryReading& reading, const std::string& kind) {
  const ReleasedGil no_gil;
  const RotaryReading::Layers& layers = layers_of(reading, kind);
  return std::make_unique<PyRotary>(
      layers.rotary, Accuracy(),
      to_string(RotaryReading{reading.model_type, {layers}, reading.unturned}));
}

std::vector<std::string> kinds_of(const RotaryReading& reading) {
  std::vector<std::string> kinds;
  for (const RotaryReading::Layers& each : reading.layers) kinds.push_back(each.kind);
  return kinds;
}

}  // namespace

void bind_rotary_config(py::module_& module) {
  using py::arg;
  py::class_<RotaryReading>(module, "RotaryReading", "What a model's config.json says.")
      .def(py::init(&read_config), arg("text"), arg("rows") = py::none(),
           arg("channels") = py::none(), arg("strict") = true)
      .def("rotary", &rotary_of, arg("kind") = "")
      .def_property_readonly("kinds", &kinds_of)
      .def_readonly("model_type", &RotaryReading::model_type)
      .def_readonly("most_rows", &RotaryReading::most_rows)
      .def_readonly("unturned", &RotaryReading::unturned)
      .def_readonly("warnings", &RotaryReading::warnings)
      .def("__repr__", [](const RotaryReading& each) { return to_string(each); });
  module.def("known_model_types", &known_model_types,
             "The model types that rotary_from_config() reads.");
}

}  // namespace posenc::python
