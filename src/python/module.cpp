// The Python module posenc._posenc. Memory is never copied: results are written into an array of
// the caller. The GIL is released while the library plans, encodes and measures.
#include "python/module.h"
#include "posenc/cpu.h"
#include "posenc/real_positions.h"
#include "posenc/registry.h"
#include "posenc/version.h"

#include <span>
#include <string>
#include <vector>

namespace posenc::python {
namespace {

py::tuple round_positions(const py::array_t<double, py::array::c_style>& positions,
                          Optional<double, "denominator"> denominator) {
  const RealPositions real = real_positions(
      std::span(positions.data(), static_cast<std::size_t>(positions.size())), denominator);
  return py::make_tuple(py::array_t<std::int64_t>(static_cast<py::ssize_t>(real.multiples.size()),
                                                  real.multiples.data()),
                        real.denominator, real.max_error);
}

void bind_library(py::module_& module) {
  module.attr("__version__") = library_version();
  module.def("backends", [] {
    std::vector<std::string> names;
    for (const Backend* each : backends()) {
      if (each->runs_here()) names.push_back(each->full_name());
    }
    return names;
  });
  module.def("cpu", [] { return cpu().model; });
  module.def("frequency_rule",
             [](const Arg<FrequencyRule, "frequencies">& rule) { return to_string(rule.value); });
  module.def("dynamic_ntk_factor", [](Arg<double, "factor"> factor,
                                      Integer<"trained_rows"> trained_rows, Integer<"rows"> rows) {
    return dynamic_ntk_scaling(factor, trained_rows, rows).factor;
  });
  module.def("round_positions", &round_positions);
  module.def("check_rows", [](Integer<"first position"> first, Integer<"rows"> count) {
    validate(RowRange{first, count});
  });
}

}  // namespace
}  // namespace posenc::python

PYBIND11_MODULE(_posenc, module) {
  posenc::python::bind_library(module);
  posenc::python::bind_encoders(module);
  posenc::python::bind_reports(module);
}
