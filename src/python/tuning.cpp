// Accuracy reports and picks.
#include "posenc/profile.h"
#include "posenc/tuning/accuracy.h"
#include "posenc/tuning/pick.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/bindings.h"
#include "python/encoder.h"

#include <pybind11/stl.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::python {
namespace {

py::dict measured_accuracy(const PyEncoder& encoder, const py::object& positions,
                           const py::object& type, int threads) {
  AccuracyOptions options;
  options.threads = threads;
  options.type = parse_type(type);
  const RowRange rows = rows_of(positions);
  AccuracyReport report;
  {
    const py::gil_scoped_release no_gil;
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
  result["error_bound"] = report.error_bound;
  result["correctly_rounded"] = report.correctly_rounded;
  result["wrongly_rounded"] = report.wrongly_rounded;
  result["worst_position"] = report.worst.position;
  result["worst_channel"] = report.worst.channel;
  return result;
}

std::optional<ErrorBudget> budget_of(const py::object& accuracy) {
  if (accuracy.is_none()) return std::nullopt;
  const Accuracy asked = accuracy_of(accuracy);
  switch (asked.measure()) {
    case Accuracy::Measure::absolute:
      return ErrorBudget{asked.most(), ErrorBudget::Measure::absolute};
    case Accuracy::Measure::ulp: return ErrorBudget{asked.most(), ErrorBudget::Measure::ulp};
    case Accuracy::Measure::correctly_rounded: break;
  }
  throw InvalidArgument(
      "accuracy is correctly rounded; allowed for a pick: None, or a largest error, absolute or in "
      "ulp");
}

py::dict candidate_of(const ComparedCandidate& from) {
  py::dict result;
  result["backend"] = from.full_name();
  result["gfloats_per_second"] = from.gfloats_per_second;
  result["time_ratio"] = from.ratio;
  result["time_ratio_interval"] = py::make_tuple(from.low, from.high);
  result["tied"] = from.tied;
  result["error_bound"] = from.error_bound;
  result["max_abs"] = from.max_abs;
  return result;
}

py::dict pick_backends(const py::object& accuracy,
                       const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes,
                       const py::object& type, int threads, int processes, int samples,
                       double seconds_per_sample, const std::optional<std::string>& save) {
  PickOptions options;
  for (const auto& [rows, d_model] : shapes) {
    options.shapes.push_back(
        {std::to_string(rows) + "x" + std::to_string(d_model), {.d_model = d_model}, {0, rows}});
  }
  options.budget = budget_of(accuracy);
  options.type = parse_type(type);
  options.threads = threads;
  options.processes = processes;
  options.samples = samples;
  options.seconds_per_sample = seconds_per_sample;
  options.progress = [](double, std::string_view) {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
  PickResult picked;
  {
    const py::gil_scoped_release no_gil;
    picked = pick(options);
    if (save && picked.disturbed.empty()) {
      const LoadedProfile older = load_profile(*save);
      save_profile(older.profile ? merge(*older.profile, picked.profile) : picked.profile, *save);
    }
  }
  py::list classes;
  for (const ClassDecision& decision : picked.decisions) {
    py::dict each;
    each["shape"] = std::string(to_string(decision.shape));
    each["pick"] = decision.pick ? py::object(candidate_of(*decision.pick)) : py::none();
    each["noise_floor"] = decision.noise_floor;
    py::list others;
    for (const ComparedCandidate& other : decision.others) {
      if (other.compared) others.append(candidate_of(other));
    }
    each["others"] = others;
    classes.append(each);
  }
  py::dict result;
  result["classes"] = classes;
  result["disturbed"] = picked.disturbed;
  return result;
}

}  // namespace

void bind_tuning(py::module_& module) {
  using py::arg;
  const py::str float32("float32");
  module.def("accuracy", &measured_accuracy, arg("encoder"), arg("positions"),
             arg("dtype") = float32, arg("threads") = 1,
             "Compares a table with the reference: a dictionary of errors.");
  const PickOptions usual;
  module.def("pick", &pick_backends, py::kw_only(), arg("accuracy") = py::none(),
             arg("shapes") = py::tuple(), arg("dtype") = float32, arg("threads") = usual.threads,
             arg("processes") = usual.processes, arg("samples") = usual.samples,
             arg("seconds_per_sample") = usual.seconds_per_sample, arg("save") = py::none(),
             R"(Measures which backend is the fastest within an error on this CPU, in minutes.

accuracy: a largest absolute error, or an Accuracy; None means half an ulp of 1, and 1 %.
shapes: pairs (rows, d_model) to time; if there are none, tables of all sizes.
save: a file for the measurements, which selection then uses if $POSENC_PROFILE names it.

Returns a dictionary. "classes" holds, for each class of table sizes, the "pick" (None if no backend
is within the error) and the "others", the fastest first, each with its speed, the ratio of its
time to that of the pick, and its error. "disturbed" says why the times are not reliable, or is
empty; nothing is saved if they are not. `posenc pick` measures in several processes and is more
reliable. Raises OSError if the file cannot be written.)");
}

}  // namespace posenc::python
