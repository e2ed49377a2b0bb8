// Accuracy reports, picks, and checks of tables from elsewhere.
#include "posenc/check/heads.h"
#include "posenc/check/table.h"
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/document.h"
#include "posenc/suite/measure_accuracy.h"
#include "posenc/suite/measurement.h"
#include "posenc/suite/pick.h"
#include "python/module.h"

namespace posenc::python {

using namespace model;

namespace {

Typed<"dict[str, Any]"> measured_accuracy(const PyEncoder& self, const Positions& from,
                                          DataType type, int threads) {
  const RowRange positions = range_of(from, self.first);
  const suite::AccuracyReport report = without_gil([&] {
    const Encoder* const one[] = {self.encoder.get()};
    return suite::measure_accuracy(one, positions,
                                   {.threads = threads, .type = type, .progress = {}})
        .front();
  });
  return py::dict(
      "backend"_a = self.encoder->backend().full_name(), "reference"_a = report.reference,
      "entries"_a = report.entries, "max_abs"_a = report.error.max_abs,
      "max_ulp"_a = report.error.max_ulp, "rms"_a = report.error.rms, "mean"_a = report.error.mean,
      "error_bound"_a = report.promise.max_abs,
      "correctly_rounded"_a = report.error.correctly_rounded,
      "wrongly_rounded"_a = report.wrongly_rounded, "worst_position"_a = report.worst().position,
      "worst_channel"_a = report.worst().channel);
}

py::dict candidate_of(const suite::Candidate& from) {
  return py::dict("backend"_a = from.full_name(), "gfloats_per_second"_a = from.gfloats_per_second,
                  "time_ratio"_a = from.time.ratio,
                  "time_ratio_interval"_a = py::make_tuple(from.time.low, from.time.high),
                  "tied"_a = from.tied, "error_bound"_a = from.promise.max_abs,
                  "max_abs"_a = from.max_abs);
}

Typed<"list[dict[str, Any]]"> pick_from_file(const std::string& file,
                                             const std::optional<Accuracy>& accuracy) {
  const suite::Measurements document = suite::read_measurements(file);
  py::list classes;
  for (const suite::Verdict& verdict : suite::pick(document, accuracy.value_or(Accuracy()))) {
    py::list others;
    for (const suite::Candidate& other : verdict.others) {
      if (other.compared) others.append(candidate_of(other));
    }
    classes.append(
        py::dict("shape"_a = to_string(verdict.measured.shape), "dtype"_a = verdict.measured.type,
                 "threads"_a = verdict.measured.threads,
                 "pick"_a = verdict.pick ? py::object(candidate_of(*verdict.pick)) : py::none(),
                 "noise_floor"_a = verdict.measured.noise_floor, "disturbed"_a = document.disturbed,
                 "others"_a = others));
  }
  return classes;
}

// ---- Checks -------------------------------------------------------------------------------------

/// A view of an array of any strides. Dimensions of size 1 are left out.
check::TableView view_of(const ArrayArgument& table) {
  const Shape shape = table.shape();
  Shape kept;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) kept.push_back(static_cast<py::ssize_t>(i));
  }
  // Shape (1, 8) is one row, and shape (8, 1) is eight rows.
  const auto last = static_cast<py::ssize_t>(shape.size()) - 1;
  if (last > 0 && kept.size() == 1) kept = {kept[0] == last ? 0 : kept[0], last};
  if (kept.size() != 2) table.refuse("shape", "two dimensions, besides those of size 1");
  check::TableView view;
  view.type = table.type();
  view.data = table.array().data();
  view.rows = table.array().shape(kept[0]);
  view.columns = table.array().shape(kept[1]);
  view.row_stride = table.stride(kept[0]);
  view.column_stride = table.stride(kept[1]);
  return view;
}

/// The spec if any of its parts is given; otherwise none.
std::optional<EncodingSpec> spec_if_given(std::optional<std::int64_t> d_model,
                                          std::optional<double> base,
                                          std::optional<Spacing> spacing,
                                          const FrequencyRule& frequencies) {
  if (!d_model && !base && !spacing && is_base(frequencies)) return {};
  const EncodingSpec usual;
  return EncodingSpec{.d_model = d_model.value_or(0),
                      .base = base.value_or(usual.base),
                      .spacing = spacing.value_or(usual.spacing),
                      .frequencies = frequencies};
}

check::TableReport check_table(const Array& from, std::optional<std::int64_t> d_model,
                               std::optional<double> base, std::optional<check::Arrangement> layout,
                               std::optional<Spacing> spacing, const FrequencyRule& frequencies,
                               std::optional<std::int64_t> first, std::optional<double> max_error,
                               int threads, const PyRotary* rotary, bool is_whole) {
  const ArrayArgument array(from, "table");
  const check::TableView table = view_of(array);
  check::TableOptions options;
  options.spec = spec_if_given(d_model, base, spacing, frequencies);
  if (!is_whole) {
    options.claimed = {.base = base.has_value(),
                       .spacing = spacing.has_value(),
                       .frequencies = !is_base(frequencies)};
  }
  if (layout) options.arrangements = {*layout};
  options.first = first;
  if (rotary != nullptr) {
    options.spec = spec_of_equal_positions(rotary->spec().angles);
    if (rotary->spec().angles.axes() > 1 || !options.spec)
      options.axes = check::TableAxes{.spec = rotary->spec().angles};
    options.claimed = {};
    if (!layout && rotary->spec().channels == RotaryLayout::halves)
      options.excluded = {check::Arrangement::cosines_repeated, check::Arrangement::sines_repeated};
    options.factor = rotary->spec().attention_factor;
    options.first = first.value_or(0);
  }
  options.max_error = max_error;
  options.threads = threads;
  const ReleasedGil no_gil;
  return check::table(table, options);
}

/// A view of queries or keys: (rows, heads, channels), or with rows and heads exchanged.
check::HeadsTable heads_of(const ArrayArgument& array) {
  check::HeadsTable heads = {.data = array.array().data(), .type = array.type()};
  const py::ssize_t dimensions = array.array().ndim();
  std::vector<py::ssize_t> kept;
  for (py::ssize_t i = 0; i < dimensions; ++i)
    if (dimensions <= 3 || array.array().shape(i) != 1) kept.push_back(i);
  if (kept.size() != 2 && kept.size() != 3)
    array.refuse("shape", "(rows, heads, channels), besides dimensions of size 1");
  heads.sizes[1] = heads.strides[1] = 1;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::size_t to = i + 1 == kept.size() ? 2 : i;
    heads.sizes[to] = array.array().shape(kept[i]);
    heads.strides[to] = array.stride(kept[i]);
  }
  return heads;
}

check::HeadsReport check_rotated_heads(const Array& from_before, const Array& from_after,
                                       const Positions& from, const PyRotary& rotary,
                                       std::optional<double> max_error, int threads) {
  const ArrayArgument before(from_before, "before"), after(from_after, "after");
  const Rows rows = rows_of(from, rotary.spec().angles.axes(), 0);
  const check::HeadsTable heads = heads_of(before), turned = heads_of(after);
  const ReleasedGil no_gil;
  return check::heads(heads, turned, rotary.spec(),
                      {.positions = rows.positions, .max_error = max_error, .threads = threads});
}

Typed<"dict[str, float]"> errors_of(const check::AngleErrors& errors) {
  return py::dict("max"_a = errors.max, "rms"_a = errors.rms, "noise"_a = errors.noise);
}

template <class Report>
Typed<"list[tuple[str, str]]"> causes_of(const Report& report) {
  py::list causes;
  for (const check::Cause& each : report.causes)
    causes.append(py::make_tuple(to_string(each.kind), each.text));
  return causes;
}

py::dict identity_of(const check::TableReport& report) {
  if (!report.is_identified) return {};
  const check::TableIdentity& identity = report.identity;
  py::dict result = convention_of(identity.spec, "first"_a = identity.first,
                                  "factor"_a = identity.factor, "presets"_a = identity.presets);
  result["layout"] = identity.arrangement;
  return result;
}

void bind_checks(py::module_& module) {
  using Report = check::TableReport;
  py::class_<Report> report(module, "CheckReport", R"(What check() says of a table.

Printed, it is three lines: the verdict, what the table is, and why it is wrong; and one for each
finding.)");
  const auto bind = [&report](const char* name, auto get) {
    report.def_property_readonly(name, get);
  };
  bind("max_abs", [](const Report& each) { return each.errors.error.max_abs; });
  bind("max_ulp", [](const Report& each) { return each.errors.error.max_ulp; });
  bind("rms", [](const Report& each) { return each.errors.error.rms; });
  bind("correctly_rounded", [](const Report& each) { return each.errors.error.correctly_rounded; });
  bind("entries", [](const Report& each) { return each.errors.entries; });
  bind("worst_position", [](const Report& each) { return each.errors.worst().position; });
  bind("worst_column", [](const Report& each) { return each.errors.worst().channel; });
  bind("verdict", &check::verdict_text);
  bind("description", &check::identity_text);
  bind("cause", [](const Report& each) { return check::cause_text(each); });
  report.def_readonly("is_good", &Report::is_good)
      .def_readonly("is_identified", &Report::is_identified)
      .def_readonly("allowed_error", &Report::allowed_error)
      .def_readonly("entries_off", &Report::entries_off)
      .def_readonly("entries_not_finite", &Report::entries_not_finite)
      .def_property_readonly("identity", &identity_of,
                             "What the table was judged as: a dictionary, empty if not known.")
      .def_property_readonly("causes", &causes_of<Report>,
                             "A list of (kind, text): ('shifted_rows', 'the first row is ...').")
      .def_readonly("findings", &Report::findings,
                    "Texts: which columns and frequencies are off, if no cause is known.")
      .def("__repr__", [](const Report& each) { return to_string(each); });
  module.def("check_table", &check_table, "table"_a, py::kw_only(), "d_model"_a = py::none(),
             "base"_a = py::none(), "layout"_a = py::none(), "spacing"_a = py::none(),
             "frequencies"_a = py::none(), "first"_a = py::none(), "max_error"_a = py::none(),
             "threads"_a = 1, "rotary"_a = py::none(), "is_whole"_a = false,
             "What check() calls. is_whole: all of the spec is expected, also what is not named.");

  using Rotated = check::HeadsReport;
  py::class_<Rotated>(module, "RotatedReport", R"(What check_rotated() says of a kernel.

Printed, it is three lines: the verdict, what was judged, and the causes.)")
      .def_readonly("is_good", &Rotated::is_good)
      .def_readonly("angles_off", &Rotated::angles_off)
      .def_readonly("max_length_error", &Rotated::max_length_error)
      .def_property_readonly(
          "errors", [](const Rotated& each) { return errors_of(each.errors); },
          "Of the angles, in radians: the largest, the RMS, and the noise.")
      .def_property_readonly(
          "by_position",
          [](const Rotated& each) {
            py::list all;
            for (const auto& [least, most, errors] : each.by_position)
              all.append(py::make_tuple(least, most, errors_of(errors)));
            return Typed<"list[tuple[int, int, dict[str, float]]]">(all);
          },
          "(least, most, errors) for each octave of positions.")
      .def_property_readonly("causes", &causes_of<Rotated>, "A list of (kind, text).")
      .def_readonly("findings", &Rotated::findings,
                    "Texts: which pairs are off, if no cause is known.")
      .def("__repr__", [](const Rotated& each) { return to_string(each); });
  module.def("check_rotated_heads", &check_rotated_heads, "before"_a, "after"_a, "positions"_a,
             "rotary"_a, py::kw_only(), "max_error"_a = py::none(), "threads"_a = 1,
             "What check_rotated() calls.");

  py::class_<check::FrequencyReport>(module, "FrequencyReport",
                                     "What check_frequencies() says of an inv_freq.")
      .def_readonly("is_good", &check::FrequencyReport::is_good)
      .def_readonly("is_identified", &check::FrequencyReport::is_identified)
      .def_readonly("max_relative_error", &check::FrequencyReport::max_relative_error)
      .def_readonly("cause", &check::FrequencyReport::cause)
      .def_property_readonly("description", &check::frequencies_text)
      .def("__repr__", [](const check::FrequencyReport& each) { return to_string(each); });
  module.def(
      "check_frequencies",
      [](const std::vector<double>& values, std::optional<double> base,
         std::optional<Spacing> spacing, const FrequencyRule& frequencies) {
        return check::frequencies(values, spec_if_given({}, base, spacing, frequencies));
      },
      "inv_freq"_a, py::kw_only(), "base"_a = py::none(), "spacing"_a = py::none(),
      "frequencies"_a = py::none(),
      R"(Says whether these are the frequencies of a convention, in radians per position.

They are good if each is within 2**-19 of itself of the exact one, as in float32.)");
}

}  // namespace

void bind_reports(py::module_& module) {
  module.def("accuracy", &measured_accuracy, "encoder"_a, "positions"_a,
             "dtype"_a = DataType::float32, "threads"_a = 1,
             "Compares a table with the reference: a dictionary of errors.");
  module.def("pick", &pick_from_file, "file"_a, "accuracy"_a = py::none(),
             R"(The fastest backends that promise an accuracy, by a document of measurements.

file: JSON of `posenc measure`.
accuracy: a largest absolute error, or an Accuracy; None means correctly rounded.

Returns a list with a dictionary for each class of table sizes: its "pick" (None if no backend
promises the accuracy) and the "others", the fastest first, each with its speed, the ratio of its
time to that of the pick, and its error. "disturbed" says why the times are not reliable, or is
empty. Raises ValueError if the file is not such a document.)");
  bind_checks(module);
}

}  // namespace posenc::python
