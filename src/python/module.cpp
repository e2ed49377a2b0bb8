// The Python module posenc._posenc. Memory is never copied: results are written into the caller's
// array, or into a new one. The GIL is released while the library plans, encodes and measures.
#include "python/module.h"
#include "posenc/cpu.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/version.h"

#include <exception>
#include <string>
#include <system_error>
#include <vector>

namespace py = pybind11;
using namespace py::literals;

namespace {

void bind_library(py::module_& module) {
  using namespace posenc;
  module.attr("__version__") = library_version();
  py::class_<Accuracy> accuracy(module, "Accuracy", "The accuracy that a program asks for.");
  posenc::python::bind_reduced(
      accuracy,
      [](const Accuracy& self) {
        constexpr const char* makers[] = {"correctly_rounded", "within", "within_ulp"};
        const py::str maker = makers[static_cast<std::size_t>(self.measure())];
        const py::object call = py::module_::import("operator").attr("methodcaller");
        return py::make_tuple(self == Accuracy() ? call(maker) : call(maker, self.most()),
                              py::make_tuple(py::type::of<Accuracy>()));
      })
      .def_static("correctly_rounded", &Accuracy::correctly_rounded,
                  "Every entry is the value nearest to the exact one: the default.")
      .def_static("within", &Accuracy::within, "error"_a,
                  "Every entry is within this absolute error.")
      .def_static("within_ulp", &Accuracy::within_ulp, "ulp"_a,
                  "Every entry is within this error in ulp.")
      .def("__repr__", [](const Accuracy& self) { return "Accuracy(" + to_string(self) + ")"; });
  module.def(
      "backends",
      [] {
        std::vector<std::string> names;
        for (const Backend* each : backends()) {
          if (each->runs_here()) names.push_back(each->full_name());
        }
        return names;
      },
      "The backends that run on this CPU, such as 'rotation:avx2'.");
  module.def(
      "cpu", [] { return cpu().model; }, "The CPU's name, as profiles and benchmarks have it.");
  module.def(
      "frequency_rule", [](const FrequencyRule& rule) { return to_string(rule); }, "frequencies"_a,
      "The text of a rule, with all its parameters: \"linear:factor=4\".");
  module.def(
      "dynamic_ntk_factor",
      [](double factor, std::int64_t trained_rows, std::int64_t rows) {
        return dynamic_ntk_scaling(factor, trained_rows, rows).factor;
      },
      "factor"_a, "trained_rows"_a, "rows"_a,
      "The factor of dynamic_ntk_scaling() for a sequence of `rows` rows.");
}

}  // namespace

PYBIND11_MODULE(_posenc, module) {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const std::system_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
  bind_library(module);  // first, because the other parts take its types as arguments
  posenc::python::bind_encoders(module);
  posenc::python::bind_axes(module);
  posenc::python::bind_layers(module);
  posenc::python::bind_reports(module);
}
