// Checks of tables from elsewhere.
#include "posenc/suite/checking/check.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/bindings.h"
#include "python/gil.h"
#include "python/rotary.h"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

namespace posenc::python {

using namespace suite;
namespace {

/// A view of an array of any strides, whose dimensions of size 1 are left out.
TableView table_of(const py::array& array) {
  TableView view;
  view.type = type_of(array, "table");
  view.data = array.data();
  std::vector<py::ssize_t> kept;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    if (array.strides(i) % array.itemsize() != 0) {
      throw InvalidArgument("table.strides is " + text(array.attr("strides")) +
                            "; allowed: multiples of an element");
    }
    if (array.shape(i) != 1) kept.push_back(i);
  }
  // (1, 8) is one row, and (8, 1) has eight.
  if (array.ndim() >= 2 && kept.size() == 1) {
    const py::ssize_t last = array.ndim() - 1;
    kept = kept[0] == last ? std::vector<py::ssize_t>{0, last}
                           : std::vector<py::ssize_t>{kept[0], last};
  }
  if (kept.size() != 2) {
    throw InvalidArgument("table.shape is " + shape_of(array) +
                          "; allowed: two dimensions, besides those of size 1");
  }
  view.rows = array.shape(kept[0]);
  view.columns = array.shape(kept[1]);
  view.row_stride = stride_of(array, kept[0]);
  view.column_stride = stride_of(array, kept[1]);
  return view;
}

/// The spec, if any of its parts is given.
std::optional<EncodingSpec> spec_if_given(std::optional<std::int64_t> d_model,
                                          std::optional<double> base,
                                          const std::optional<std::string>& spacing,
                                          const py::object& frequencies) {
  if (!d_model && !base && !spacing && frequencies.is_none()) return {};
  EncodingSpec spec;
  spec.d_model = d_model.value_or(0);
  spec.base = base.value_or(spec.base);
  if (spacing) spec.spacing = parse_spacing(*spacing);
  spec.frequencies = rule_of(frequencies);
  return spec;
}

CheckReport check_array(const py::object& from, std::optional<std::int64_t> d_model,
                        std::optional<double> base, const std::optional<std::string>& layout,
                        const std::optional<std::string>& spacing, const py::object& frequencies,
                        std::optional<std::int64_t> first, std::optional<double> max_error,
                        int threads, const PyRotary* rotary) {
  const py::array array = array_of(from, "table");
  const TableView table = table_of(array);
  CheckOptions options;
  options.spec = spec_if_given(d_model, base, spacing, frequencies);
  if (layout) options.arrangements = {parse_arrangement(*layout)};
  options.first = first;
  if (rotary != nullptr) {
    options.spec = spec_of_equal_positions(rotary->spec().angles);
    options.factor = rotary->spec().attention_factor;
    options.first = first.value_or(0);
  }
  options.max_error = max_error;
  options.threads = threads;
  const ReleasedGil no_gil;
  return check(table, options);
}

FrequencyReport check_frequency_array(const std::vector<double>& values, std::optional<double> base,
                                      const std::optional<std::string>& spacing,
                                      const py::object& frequencies) {
  return check_frequencies(values, spec_if_given({}, base, spacing, frequencies));
}

py::list causes_of(const CheckReport& report) {
  py::list causes;
  for (const Cause& each : report.causes)
    causes.append(py::make_tuple(std::string(to_string(each.kind)), each.text));
  return causes;
}

py::dict identity_of(const CheckReport& report) {
  py::dict result;
  if (!report.is_identified) return result;
  const TableIdentity& identity = report.identity;
  result["layout"] = std::string(to_string(identity.arrangement));
  result["d_model"] = identity.spec.d_model;
  result["base"] = identity.spec.base;
  result["spacing"] = std::string(to_string(identity.spec.spacing));
  result["frequencies"] = to_string(identity.spec.frequencies);
  result["first"] = identity.first;
  result["factor"] = identity.factor;
  result["presets"] = identity.presets;
  return result;
}

}  // namespace

void bind_checks(py::module_& module) {
  using py::arg;
  using Report = CheckReport;
  py::class_<Report>(module, "CheckReport", R"(What check() says of a table.

Printed, it is three lines: the verdict, what the table is, and why it is wrong.)")
      .def_property_readonly("is_good", [](const Report& each) { return each.is_good; })
      .def_property_readonly("is_identified", [](const Report& each) { return each.is_identified; })
      .def_property_readonly("identity", &identity_of,
                             "What the table was judged as: a dictionary, empty if not known.")
      .def_property_readonly("causes", &causes_of,
                             "A list of (kind, text): ('shifted_rows', 'the first row is ...').")
      .def_property_readonly("max_abs",
                             [](const Report& each) { return each.errors.error.max_abs; })
      .def_property_readonly("max_ulp",
                             [](const Report& each) { return each.errors.error.max_ulp; })
      .def_property_readonly("rms", [](const Report& each) { return each.errors.error.rms; })
      .def_property_readonly("correctly_rounded",
                             [](const Report& each) { return each.errors.correctly_rounded; })
      .def_property_readonly("allowed_error", [](const Report& each) { return each.allowed_error; })
      .def_property_readonly("entries", [](const Report& each) { return each.errors.entries; })
      .def_property_readonly("entries_off", [](const Report& each) { return each.entries_off; })
      .def_property_readonly("entries_not_finite",
                             [](const Report& each) { return each.entries_not_finite; })
      .def_property_readonly("worst_position",
                             [](const Report& each) { return each.errors.worst.position; })
      .def_property_readonly("worst_column",
                             [](const Report& each) { return each.errors.worst.channel; })
      .def_property_readonly("verdict", &verdict_text)
      .def_property_readonly("description", &identity_text)
      .def_property_readonly("cause", &cause_text)
      .def("__repr__", [](const Report& each) { return to_string(each); });

  module.def("check_table", &check_array, arg("table"), py::kw_only(), arg("d_model") = py::none(),
             arg("base") = py::none(), arg("layout") = py::none(), arg("spacing") = py::none(),
             arg("frequencies") = py::none(), arg("first") = py::none(),
             arg("max_error") = py::none(), arg("threads") = 1, arg("rotary") = py::none(),
             "What check() calls.");

  py::class_<FrequencyReport>(module, "FrequencyReport",
                              "What check_frequencies() says of an inv_freq.")
      .def_readonly("is_good", &FrequencyReport::is_good)
      .def_readonly("is_identified", &FrequencyReport::is_identified)
      .def_readonly("max_relative_error", &FrequencyReport::max_relative_error)
      .def_readonly("cause", &FrequencyReport::cause)
      .def_property_readonly("description",
                             [](const FrequencyReport& each) { return frequencies_text(each); })
      .def("__repr__", [](const FrequencyReport& each) { return to_string(each); });
  module.def("check_frequencies", &check_frequency_array, arg("inv_freq"), py::kw_only(),
             arg("base") = py::none(), arg("spacing") = py::none(), arg("frequencies") = py::none(),
             R"(Says whether these are the frequencies of a convention, in radians per position.

They are good if each is within 2**-19 of itself of the exact one, as in float32.)");
}

}  // namespace posenc::python
