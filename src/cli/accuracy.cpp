// posenc accuracy: the accuracy report of some or all backends.
#include "cli/commands.h"

#include "posenc/cpu.h"

#include <fmt/format.h>

#include <memory>

namespace posenc::cli {
namespace {

std::vector<AccuracyReport> reports_of(const Options& options) {
  const Preset shape = shape_of(options);
  std::vector<std::unique_ptr<const Encoder>> planned;
  std::vector<const Encoder*> encoders;
  for (const Backend* each : backends_of(options)) {
    if (each->supports(options.data_type()) || !options.backends.empty())
      encoders.push_back(planned.emplace_back(each->plan(shape.spec)).get());
  }
  Progress progress;
  return measure_accuracy(encoders, shape.rows,
                          {.threads = options.threads.value_or(cpu().logical_cores),
                           .type = options.data_type(),
                           .progress = [&](double share) { progress(share, "measuring"); }});
}

std::string page_of(const Json& document, const AccuracyReport& first) {
  const Json& measurements = document.at("measurements");
  const Json rows = joined_by_isa(measurements);
  const auto type = to_string(first.table.type);
  const Column backend = backend_column(), isa = text("ISA", "/isa");
  std::string page = wrapped(fmt::format(
      "{}{} entries against their exact values, computed in {}; 1 ulp is the spacing of {} there\n"
      "correct, wrong: entries that are, or are not, the {} nearest to the exact value\n"
      "to div_term: largest difference from the float32 formula of PyTorch's tutorial\n",
      table_title(first.table), count_text(static_cast<double>(first.entries)), first.reference,
      type, type));
  page += "\n" + table(rows, {backend, isa, number("max |error|", "/error/max_abs", error_text),
                              number("bound", "/bound/max_abs", error_text),
                              number("max ulp", "/error/max_ulp", ulp_text),
                              number("RMS", "/error/rms", error_text),
                              number("median", "/report/quantiles/0/abs_error", error_text),
                              number("99.9 %", "/report/quantiles/3/abs_error", error_text)});
  page +=
      "\n" + table(rows, {backend, isa, number("correct", "/error/correctly_rounded", percent_text),
                          number("wrong", "/report/wrongly_rounded", count_text),
                          number("to div_term", "/report/max_abs_from_div_term", error_text),
                          text("worst at position", "/report/worst/position", Align::right),
                          text("channel", "/report/worst/channel", Align::right)});
  page += explained_mark(rows);
  if (measurements.size() > 1) {
    return page + "\nLargest |error| by position\n" +
           parts_page(rows, "by_position", positions_column("positions"), rows.size() + 64);
  }
  return page + "\n" +
         details_page(measurements[0].at("report"), first.table.type,
                      arrangement_of(first.table.spec.layout));
}

int accuracy(const Options& options) {
  std::vector<AccuracyReport> reports = reports_of(options);
  if (options.format != "json" && reports.size() > 1)  // not shown
    for (AccuracyReport& each : reports) each.by_channel.clear();
  // A document of measurements without times, whose rows also have a "report".
  Measurements measured = measurements_of_this_machine();
  for (const AccuracyReport& each : reports) measured.all.push_back(each.measurement());
  Json document = to_json(measured);
  for (std::size_t i = 0; i < reports.size(); ++i)
    document["measurements"][i]["report"] = to_json(reports[i]);
  write_document(options, document, page_of(document, reports.front()));
  return check_promises(measured);
}

}  // namespace

Subcommand accuracy_command() {
  return {.name = "accuracy",
          .description = "Measure the errors of backends; exit 1 if one breaks its error bound",
          .run = accuracy,
          .options = "--preset --rows" + spec_options + "--backend... --isa --dtype --threads",
          .examples = {{"posenc accuracy --preset whisper", "all backends over one model's table"},
                       {"posenc accuracy --backend rotation32 --backend div_term",
                        "two methods side by side"},
                       {"posenc accuracy --backend rotation32 --rows 131072 --d-model 128",
                        "one backend in detail: by position and channel, with its worst entry"},
                       {"posenc accuracy --first 1000000000000 --rows 1000",
                        "large positions, where float32 phases fail"},
                       {"posenc accuracy --format json --output report.json",
                        "a report to keep, for posenc compare"}},
          .descriptions = {{"--threads", "number of threads (default: all cores)"}}};
}

}  // namespace posenc::cli
