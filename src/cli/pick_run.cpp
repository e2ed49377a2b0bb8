#include "cli/pick_run.h"

#include "cli/pick_text.h"

#include "posenc/support/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace posenc::cli {
namespace {

Json entry_of(const PickMeasurement& measured) {
  Json entry = {{"backend", measured.backend},
                {"isa", to_string(measured.isa)},
                {"name", measured.name},
                {"shape_class", to_string(measured.shape)},
                {"spec", to_json(measured.spec)},
                {"rows", to_json(measured.rows)},
                {"max_abs", measured.max_abs},
                {"max_ulp", measured.max_ulp},
                {"error_bound", measured.error_bound},
                {"within_budget", measured.within_budget},
                {"can_be_picked", !measured.is_peer},
                {"seconds", measured.seconds},
                {"self_ratios", measured.self_ratios},
                {"picked", measured.picked},
                {"tied", measured.tied}};
  if (measured.is_timed()) {
    entry["median_seconds"] = median_seconds(measured);
    entry["relative_iqr"] = relative_iqr(measured);
    entry["gfloats_per_second"] = gfloats_per_second(measured);
  }
  return entry;
}

/// JSON has no infinity: an unbounded interval ends in null.
Json end_of(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json entry_of(const ClassDecision& decision, const PickRun& run) {
  const ComparedCandidate& pick = *decision.pick;
  const ComparedCandidate* const next = decision.next();
  Json entry = {{"shape_class", to_string(decision.shape)},
                {"dtype", to_string(run.type)},
                {"threads", run.threads},
                {"backend", pick.backend},
                {"isa", to_string(pick.isa)},
                {"ties", tied_with_pick(decision)},
                {"gfloats_per_second", pick.gfloats_per_second},
                {"relative_iqr", pick.relative_iqr},
                {"noise_floor", decision.noise_floor},
                {"next", next != nullptr ? next->full_name() : ""},
                {"margin", next != nullptr ? next->ratio - 1 : 0}};
  if (next != nullptr) {
    entry["next_over_pick"] = {
        {"ratio", next->ratio}, {"low", next->low}, {"high", end_of(next->high)}};
  }
  entry.update({{"max_abs", pick.max_abs},
                {"max_ulp", pick.max_ulp},
                {"shapes", decision.shapes},
                {"reason", reason_text(decision)}});
  return entry;
}

/// JSON has no NaN: such an error is written as null.
double error_of(const Json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

std::vector<double> samples_of(const Json& values) {
  const auto samples = values.get<std::vector<double>>();
  const auto is_sample = [](double value) { return std::isfinite(value) && value > 0; };
  if (!std::ranges::all_of(samples, is_sample))
    throw InvalidArgument("a sample is not a time above 0");
  return samples;
}

PickMeasurement measurement_of(const Json& json) {
  PickMeasurement measured;
  measured.backend = json.at("backend").get<std::string>();
  measured.isa = parse_isa(json.at("isa").get<std::string>());
  measured.is_peer = !json.value("can_be_picked", true);
  measured.name = json.at("name").get<std::string>();
  measured.spec = spec_of(json.at("spec"));
  measured.rows = rows_of(json.at("rows"));
  measured.shape = parse_shape_class(json.at("shape_class").get<std::string>());
  measured.max_abs = error_of(json.at("max_abs"));
  measured.max_ulp = error_of(json.at("max_ulp"));
  measured.error_bound = error_of(json.at("error_bound"));
  measured.seconds = samples_of(json.at("seconds"));
  measured.self_ratios = samples_of(json.at("self_ratios"));
  return measured;
}

ErrorBudget budget_of(const Json& document) {
  if (!document.at("max_ulp").is_null())
    return {document.at("max_ulp").get<double>(), ErrorBudget::Measure::ulp};
  return {document.at("max_error").get<double>(), ErrorBudget::Measure::absolute};
}

PickRun run_of(const std::string& file) {
  const Json document = read_json(file);
  PickRun run;
  try {
    if (document.at("version") != 1) throw InvalidArgument("it is of another format version");
    run.cpu = document.at("cpu").at("model").get<std::string>();
    run.isas = document.at("cpu").at("isas").get<std::vector<std::string>>();
    run.type = parse_data_type(document.at("dtype").get<std::string>());
    run.threads = document.at("threads").get<int>();
    run.processes = document.at("processes").get<int>();
    if (!document.at("disturbed").is_null())
      run.disturbed = document.at("disturbed").get<std::string>();
    // Not in older results.
    if (const Json most = document.value("most_cached_bytes", Json()); !most.is_null())
      run.most_cached_bytes = most.get<std::int64_t>();
    run.budget = budget_of(document);
    for (const Json& each : document.at("measurements"))
      run.measurements.push_back(measurement_of(each));
    if (run.measurements.empty()) throw InvalidArgument("it has no measurements");
  } catch (const Json::exception&) {
    throw InvalidArgument(fmt::format(
        "--from is {}, which is not a complete result; allowed: JSON of posenc pick", file));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(
        fmt::format("--from is {}: {}; allowed: JSON of posenc pick", file, error.what()));
  }
  run.files = {file};
  return run;
}

/// Adds a measurement to those of the same backend and shape.
void add(const PickMeasurement& measured, std::vector<PickMeasurement>& all) {
  const auto same = [&](const PickMeasurement& known) {
    return known.full_name() == measured.full_name() && known.name == measured.name &&
           known.spec == measured.spec && known.rows == measured.rows;
  };
  const auto found = std::ranges::find_if(all, same);
  if (found == all.end()) {
    all.push_back(measured);
    return;
  }
  const auto append = [](std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  append(found->seconds, measured.seconds);
  append(found->self_ratios, measured.self_ratios);
  found->max_abs = worst(found->max_abs, measured.max_abs);
  found->max_ulp = worst(found->max_ulp, measured.max_ulp);
}

}  // namespace

EncodingSpec spec_of(const Json& json) {
  const EncodingSpec spec = {
      .d_model = json.at("d_model").get<std::int64_t>(),
      .base = json.at("base").get<double>(),
      .layout = parse_layout(json.at("layout").get<std::string>()),
      .spacing = parse_spacing(json.at("spacing").get<std::string>()),
      .frequencies = parse_frequency_rule(json.value("frequencies", std::string("base")))};
  validate(spec);
  return spec;
}

RowRange rows_of(const Json& json) {
  const RowRange rows = {json.at("first").get<std::int64_t>(),
                         json.at("count").get<std::int64_t>()};
  validate(rows);
  return rows;
}

Json to_json(const PickRun& run) {
  const bool is_ulp = run.budget.measure == ErrorBudget::Measure::ulp;
  Json document = {
      {"cpu", {{"model", run.cpu}, {"isas", run.isas}}},
      {"dtype", to_string(run.type)},
      {"threads", run.threads},
      {"processes", run.processes},
      {"disturbed", run.disturbed.empty() ? Json() : Json(run.disturbed)},
      {"most_cached_bytes", run.most_cached_bytes ? Json(*run.most_cached_bytes) : Json()},
      {"max_error", is_ulp ? Json() : Json(run.budget.most)},
      {"max_ulp", is_ulp ? Json(run.budget.most) : Json()},
      {"measurements", Json::array()},
      {"picks", Json::array()}};
  for (const PickMeasurement& each : run.measurements)
    document["measurements"].push_back(entry_of(each));
  for (const ClassDecision& each : run.decisions) {
    if (each.pick) document["picks"].push_back(entry_of(each, run));
  }
  return document;
}

std::vector<PickRun> read_runs(const std::vector<std::string>& files,
                               const std::optional<ErrorBudget>& budget) {
  std::vector<PickRun> runs;
  for (auto each = files.begin(); each != files.end(); ++each) {
    const std::string& file = *each;
    if (std::find(files.begin(), each, file) != each) {
      throw InvalidArgument(fmt::format("--from is {} twice; allowed: every result once", file));
    }
    PickRun read = run_of(file);
    const auto same = [&](const PickRun& run) {
      return run.cpu == read.cpu && run.isas == read.isas && run.type == read.type &&
             run.threads == read.threads;
    };
    const auto found = std::ranges::find_if(runs, same);
    if (found == runs.end()) {
      runs.push_back(std::move(read));
      continue;
    }
    if (!budget && found->budget != read.budget) {
      throw InvalidArgument(
          fmt::format("--from is {} with another error budget than {}; allowed then: with "
                      "--max-error or --max-ulp",
                      file, found->files.front()));
    }
    for (const PickMeasurement& measured : read.measurements) add(measured, found->measurements);
    found->processes += read.processes;
    if (found->disturbed.empty()) found->disturbed = read.disturbed;
    if (!found->most_cached_bytes) found->most_cached_bytes = read.most_cached_bytes;
    found->files.push_back(file);
  }
  for (PickRun& run : runs) {
    if (budget) run.budget = *budget;
    run.decisions = decide(run.measurements, run.budget);
  }
  return runs;
}

}  // namespace posenc::cli
