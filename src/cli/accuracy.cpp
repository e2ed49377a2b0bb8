// posenc accuracy: the accuracy report of some or all backends.
#include "cli/commands.h"

#include "posenc/cpu.h"

#include <fmt/format.h>

#include <memory>

namespace posenc::cli {
namespace {

/// The reports of one table.
std::vector<AccuracyReport> reports_of(const Options& options, const MeasuredTable& table) {
  std::vector<std::unique_ptr<const Encoder>> planned;
  std::vector<const Encoder*> encoders;
  for (const Backend* each : backends_of(options)) {
    if (each->supports(table.type) || !options.backends.empty())
      encoders.push_back(planned.emplace_back(each->plan(table.spec)).get());
  }
  Progress progress;
  return measure_accuracy(
      encoders, table.rows,
      {.threads = options.thread_count(cpu().logical_cores),
       .type = table.type,
       .progress = [&](double share) { progress(share, "measuring " + table.text()); }});
}

/// The page of one table: `measurements` are its reports, as the document has them.
std::string page_of(const Json& measurements, const AccuracyReport& first) {
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
  // A document of measurements without times, whose rows also have a "report".
  Measurements measured = measurements_of_this_machine();
  Json all = Json::array();
  std::string page;
  Options of_one_thread =
      options;  // --threads is how many compute, and each table has the same bits
  of_one_thread.threads.clear();
  const Preset& usual = preset("tutorial");
  for (const MeasuredTable& table :
       tables_of(of_one_thread, {{.name = {}, .spec = usual.spec, .rows = usual.rows}})) {
    std::vector<AccuracyReport> reports = reports_of(options, table);
    Json rows = Json::array();
    for (AccuracyReport& each : reports) {
      if (options.format != "json" && reports.size() > 1) each.by_channel.clear();  // not shown
      measured.all.push_back(each.measurement());
      Json& row = rows.emplace_back(to_json(measured.all.back()));
      row["report"] = to_json(each);
      all.push_back(row);
    }
    page += (page.empty() ? "" : "\n") + page_of(rows, reports.front());
  }
  Json document = to_json(measured);
  document["measurements"] = std::move(all);
  write_document(options, document, page);
  return check_promises(measured);
}

}  // namespace

Subcommand accuracy_command() {
  return {.name = "accuracy",
          .description = "Measure the errors of backends; exit 1 if one breaks its error bound",
          .run = accuracy,
          .options = "--preset... --shape... --rows" + spec_options +
                     "--backend... --isa --dtype... --threads",
          .examples = {{"posenc accuracy --preset whisper", "all backends over one model's table"},
                       {"posenc accuracy --backend rotation32 --backend div_term",
                        "two methods side by side"},
                       {"posenc accuracy --backend rotation32 --rows 131072 --d-model 128",
                        "one backend in detail: by position and channel, with its worst entry"},
                       {"posenc accuracy --shape 777x768 --dtype float32,bfloat16",
                        "a shape of your own, in two types"},
                       {"posenc accuracy --first 1000000000000 --rows 1000",
                        "large positions, where float32 phases fail"},
                       {"posenc accuracy --format json --output report.json",
                        "a report to keep, for posenc compare"}},
          .descriptions = {{"--threads", "number of threads (default: all cores)"}},
          .excludes = {shape_or_its_parts}};
}

}  // namespace posenc::cli
