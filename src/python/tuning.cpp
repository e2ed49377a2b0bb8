// Accuracy reports, measurements and picks.
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/measuring/measure.h"
#include "posenc/suite/measuring/measurement.h"
#include "posenc/suite/pick.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/bindings.h"
#include "python/encoder.h"
#include "python/gil.h"

#include <pybind11/stl.h>

#include <string_view>
#include <utility>
#include <vector>

namespace posenc::python {

using namespace suite;
namespace {

py::dict measured_accuracy(const PyEncoder& encoder, const py::object& positions,
                           const py::object& type, int threads) {
  AccuracyOptions options;
  options.threads = threads;
  options.type = parse_type(type);
  const RowRange rows = rows_of(positions);
  AccuracyReport report;
  {
    const ReleasedGil no_gil;
    const Encoder* const one[] = {&encoder.encoder()};
    report = measure_accuracy(one, rows, options).front();
  }
  py::dict result;
  result["backend"] = encoder.backend();
  result["reference"] = report.reference;
  result["entries"] = report.entries;
  result["max_abs"] = report.error.max_abs;
  result["max_ulp"] = report.error.max_ulp;
  result["rms"] = report.error.rms;
  result["error_bound"] = report.promise.max_abs;
  result["correctly_rounded"] = report.correctly_rounded;
  result["wrongly_rounded"] = report.wrongly_rounded;
  result["worst_position"] = report.worst.position;
  result["worst_channel"] = report.worst.channel;
  return result;
}

void measure_to_file(const std::string& file,
                     const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes,
                     const py::object& type, int threads, int samples, double seconds_per_sample) {
  MeasureOptions options;
  options.samples = samples;
  options.seconds_per_sample = seconds_per_sample;
  for (const auto& [rows, d_model] : shapes)
    options.tables.push_back(table_of({.d_model = d_model}, {0, rows}, parse_type(type), threads));
  if (shapes.empty()) options.tables = default_tables(parse_type(type), threads);
  ReleasedGil no_gil;
  options.progress = [&](double, std::string_view) {
    no_gil.with_gil([] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    });
  };
  write_measurements(measure(options), file);
}

py::dict candidate_of(const JudgedCandidate& from) {
  py::dict result;
  result["backend"] = from.candidate.full_name();
  result["gfloats_per_second"] = from.candidate.gfloats_per_second;
  result["time_ratio"] = from.ratio;
  result["time_ratio_interval"] = py::make_tuple(from.low, from.high);
  result["tied"] = from.tied;
  result["error_bound"] = from.candidate.promise.max_abs;
  result["max_abs"] = from.candidate.max_abs;
  return result;
}

py::list pick_from_file(const std::string& file, const py::object& accuracy) {
  const Measurements document = read_measurements(file);
  py::list classes;
  for (const Verdict& verdict : pick(document, accuracy_of(accuracy))) {
    py::dict each;
    each["shape"] = std::string(to_string(verdict.measured.shape));
    each["dtype"] = std::string(to_string(verdict.measured.type));
    each["threads"] = verdict.measured.threads;
    each["pick"] = verdict.pick ? py::object(candidate_of(*verdict.pick)) : py::none();
    each["noise_floor"] = verdict.measured.noise_floor;
    each["disturbed"] = document.disturbed;
    py::list others;
    for (const JudgedCandidate& other : verdict.others) {
      if (other.compared) others.append(candidate_of(other));
    }
    each["others"] = others;
    classes.append(each);
  }
  return classes;
}

}  // namespace

void bind_tuning(py::module_& module) {
  using py::arg;
  const py::str float32("float32");
  module.def("accuracy", &measured_accuracy, arg("encoder"), arg("positions"),
             arg("dtype") = float32, arg("threads") = 1,
             "Compares a table with the reference: a dictionary of errors.");
  const MeasureOptions usual;
  module.def("measure", &measure_to_file, arg("file"), py::kw_only(), arg("shapes") = py::tuple(),
             arg("dtype") = float32, arg("threads") = 1, arg("samples") = usual.samples,
             arg("seconds_per_sample") = usual.seconds_per_sample,
             R"(Measures errors and times of all backends on this CPU, and writes them to a file.

shapes: pairs (rows, d_model) to measure; if there are none, tables of all sizes.

The file is a document as `posenc measure` writes it, and selection uses it if $POSENC_PROFILE names
it. This process alone times: `posenc measure` does so in several, whose differences say which
backends tie. Raises OSError if the file cannot be written.)");
  module.def("pick", &pick_from_file, arg("file"), arg("accuracy") = py::none(),
             R"(The fastest backends that promise an accuracy, by a document of measurements.

file: JSON of `posenc measure`, or of measure().
accuracy: a largest absolute error, or an Accuracy; None means correctly rounded.

Returns a list with a dictionary for each class of table sizes: its "pick" (None if no backend
promises the accuracy) and the "others", the fastest first, each with its speed, the ratio of its
time to that of the pick, and its error. "disturbed" says why the times are not reliable, or is
empty. Raises ValueError if the file is not such a document.)");
}

}  // namespace posenc::python
