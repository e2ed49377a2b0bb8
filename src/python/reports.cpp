// Picks, and checks of tables from elsewhere, as dictionaries.
#include "posenc/check/frequencies.h"
#include "posenc/check/heads.h"
#include "posenc/check/table.h"
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/document.h"
#include "posenc/suite/measurement.h"
#include "posenc/suite/pick.h"
#include "python/module.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace posenc::python {

using namespace model;

/// Converts posenc.arguments.Memory of two dimensions.
template <>
check::TableView converted(const py::handle& value) {
  const Memory table(value);
  check::TableView view;
  view.data = table.array.data();
  view.type = table.type;
  view.rows = table.size(0);
  view.columns = table.size(1);
  view.row_stride = table.stride(0);
  view.column_stride = table.stride(1);
  return view;
}

/// Converts posenc.arguments.Memory of shape (rows, heads, channels).
template <>
check::HeadsTable converted(const py::handle& value) {
  const Memory x(value);
  return {.data = x.array.data(),
          .type = x.type,
          .sizes = {x.size(0), x.size(1), x.size(2)},
          .strides = {x.stride(0), x.stride(1), x.stride(2)}};
}

namespace {

py::dict candidate_of(const suite::Candidate& from) {
  return py::dict("backend"_a = from.full_name(), "gfloats_per_second"_a = from.gfloats_per_second,
                  "time_ratio"_a = from.time.ratio,
                  "time_ratio_interval"_a = py::make_tuple(from.time.low, from.time.high),
                  "tied"_a = from.tied, "error_bound"_a = from.promise.max_abs,
                  "max_abs"_a = from.max_abs);
}

py::list pick_from_file(const Arg<std::string, "file">& file, AskedAccuracy accuracy) {
  const suite::Measurements document = suite::read_measurements(file.value);
  py::list classes;
  for (const suite::Verdict& verdict : suite::pick(document, accuracy)) {
    py::list others;
    for (const suite::Candidate& other : verdict.others) {
      if (other.compared) others.append(candidate_of(other));
    }
    classes.append(py::dict(
        "shape"_a = to_string(verdict.measured.shape), "dtype"_a = to_string(verdict.measured.type),
        "threads"_a = verdict.measured.threads,
        "pick"_a = verdict.pick ? py::object(candidate_of(*verdict.pick)) : py::none(),
        "noise_floor"_a = verdict.measured.noise_floor, "disturbed"_a = document.disturbed,
        "others"_a = others));
  }
  return classes;
}

// ---- Checks -------------------------------------------------------------------------------------

py::list causes_of(const std::vector<check::Cause>& from) {
  py::list causes;
  for (const check::Cause& each : from)
    causes.append(py::make_tuple(to_string(each.kind), each.text));
  return causes;
}

py::dict identity_of(const check::TableReport& report) {
  if (!report.is_identified) return {};
  const check::TableIdentity& identity = report.identity;
  const py::tuple spec = tuple_of(identity.spec);
  return py::dict("d_model"_a = spec[0], "base"_a = spec[1], "spacing"_a = spec[3],
                  "frequencies"_a = spec[4], "layout"_a = to_string(identity.arrangement),
                  "first"_a = identity.first, "factor"_a = identity.factor,
                  "presets"_a = identity.presets);
}

py::dict check_table(const Arg<check::TableView, "table">& table,
                     const Optional<EncodingSpec, "convention">& spec,
                     const std::array<bool, 3>& claimed,
                     Optional<check::Arrangement, "layout"> layout,
                     Optional<std::int64_t, "first"> first,
                     const Optional<RowPositions, "positions">& rows, double denominator,
                     const Rotary* rotary, Optional<double, "max_error"> max_error,
                     Threads threads) {
  check::TableOptions options;
  if (rotary != nullptr) {
    options = check::cache_of(rotary->spec());
  } else {
    options.spec = spec;
    options.claimed = {.base = claimed[0], .spacing = claimed[1], .frequencies = claimed[2]};
  }
  if (layout.value) {
    options.arrangements = {*layout.value};
    options.excluded.clear();
  }
  if (first.value) options.first = first;
  if (rows.value) {
    const RowPositions& positions = *rows.value;
    const bool are_equal = positions.axes() == 0;
    std::vector<std::int64_t>& to =
        are_equal || !options.axes ? options.positions : options.axes->positions;
    for (std::int64_t axis = 0; axis < std::max<std::int64_t>(positions.axes(), 1); ++axis)
      for (std::int64_t row = 0; row < positions.count(); ++row) to.push_back(positions(axis, row));
    options.first.reset();
    if (!are_equal) options.spec.reset();
    options.denominator = denominator;
  }
  options.max_error = max_error;
  options.threads = threads;
  const check::TableReport report = [&] {
    const ReleasedGil no_gil;
    return check::table(table, options);
  }();
  const suite::AccuracyReport& errors = report.errors;
  return py::dict(
      "is_good"_a = report.is_good, "is_inexact"_a = report.is_inexact(),
      "is_identified"_a = report.is_identified, "verdict"_a = check::verdict_text(report),
      "description"_a = check::identity_text(report), "cause"_a = check::cause_text(report),
      "causes"_a = causes_of(report.causes), "findings"_a = report.findings,
      "identity"_a = identity_of(report), "allowed_error"_a = report.allowed_error,
      "entries"_a = errors.entries, "entries_off"_a = report.entries_off,
      "entries_not_finite"_a = report.entries_not_finite, "max_abs"_a = errors.error.max_abs,
      "max_ulp"_a = errors.error.max_ulp, "rms"_a = errors.error.rms,
      "correctly_rounded"_a = errors.error.correctly_rounded,
      "worst_position"_a = errors.worst().position, "worst_column"_a = errors.worst().channel,
      "text"_a = to_string(report));
}

py::dict errors_of(const check::AngleErrors& errors) {
  return py::dict("max"_a = errors.max, "rms"_a = errors.rms, "noise"_a = errors.noise);
}

py::dict check_rotated_heads(const Arg<check::HeadsTable, "before">& before,
                             const Arg<check::HeadsTable, "after">& after, const Positions& rows,
                             double denominator, const Rotary& rotary, std::int64_t offset,
                             const std::vector<std::pair<std::string, const Rotary*>>& others,
                             Optional<double, "max_error"> max_error, Threads threads) {
  check::HeadsOptions options = {.positions = rows.value,
                                 .denominator = denominator,
                                 .offset = offset,
                                 .max_error = max_error,
                                 .threads = threads};
  for (const auto& [name, other] : others) options.others.push_back({name, other->spec()});
  const check::HeadsReport report = [&] {
    const ReleasedGil no_gil;
    return check::heads(before, after, rotary.spec(), options);
  }();
  py::list octaves;
  for (const auto& [least, most, errors] : report.by_position)
    octaves.append(py::make_tuple(least, most, errors_of(errors)));
  return py::dict("is_good"_a = report.is_good, "errors"_a = errors_of(report.errors),
                  "by_position"_a = octaves, "angles_off"_a = report.angles_off,
                  "max_length_error"_a = report.max_length_error,
                  "causes"_a = causes_of(report.causes), "findings"_a = report.findings,
                  "text"_a = to_string(report));
}

py::dict check_frequencies(const std::vector<double>& values,
                           const Optional<EncodingSpec, "convention">& spec) {
  const check::FrequencyReport report = check::frequencies(values, spec);
  return py::dict("is_good"_a = report.is_good, "is_identified"_a = report.is_identified,
                  "max_relative_error"_a = report.max_relative_error, "cause"_a = report.cause,
                  "description"_a = check::frequencies_text(report));
}

}  // namespace

void bind_reports(py::module_& module) {
  module.def("pick", &pick_from_file);
  module.def("check_table", &check_table);
  module.def("check_rotated_heads", &check_rotated_heads);
  module.def("check_frequencies", &check_frequencies);
}

}  // namespace posenc::python
