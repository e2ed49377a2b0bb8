// posenc accuracy: the accuracy report of some or all backends.
#include "cli/commands.h"

#include "posenc/check/report.h"
#include "posenc/cpu.h"
#include "posenc/suite/document.h"
#include "posenc/suite/measure_accuracy.h"

#include <fmt/format.h>

#include <utility>

namespace posenc::cli {

using namespace suite;
namespace {

/// The rows of one table in the document: measurements with their reports, and then the backends
/// that refuse the table.
struct TableRows {
  Json reported = Json::array();
  Json refused = Json::array();
};

TableRows measured(const Options& options, const MeasuredTable& table, Measurements& document) {
  const PlannedEncoders planned = plan_all(backends_of(options, table.type), table);
  Progress progress;
  const std::vector<AccuracyReport> reports = measure_accuracy(
      planned.pointers(), table.rows,
      {.threads = options.thread_count(cpu().logical_cores),
       .type = table.type,
       .worst = options.worst.value_or(1),
       .progress = [&](double share) { progress(share, "measuring " + table.text()); }});
  TableRows rows;
  for (const AccuracyReport& each : reports) {
    document.all.push_back(each.measurement());
    document.all.back().table.name = table.name;  // a preset's name, as in posenc measure
    Json& row = rows.reported.emplace_back(to_json(document.all.back()));
    row["report"] = to_json(each);
  }
  for (const Measurement& each : planned.refused) {
    document.all.push_back(each);
    rows.refused.push_back(to_json(each));
  }
  return rows;
}

/// The page of one table.
std::string page_of(const TableRows& measured, const MeasuredTable& of, const Options& options) {
  Json rows = joined_by_isa(measured.reported);
  const Json& first = rows[0].at("report");
  const auto type = to_string(of.type);
  const Column backend = backend_column(), isa = text("ISA", "/isa");
  std::string page = wrapped(fmt::format(
      "{}{} entries, compared with exact values computed in {}; 1 ulp is the spacing of {} at the "
      "exact value\n"
      "bound: the proven bound, rounded up; mean: the mean of entry minus exact value\n"
      "correct, wrong: entries that are, or are not, the {} nearest to the exact value\n"
      "to div_term: largest difference from the float32 formula of PyTorch's tutorial\n",
      table_title(of), count_text(first.at("entries").get<double>()),
      first.at("reference").get<std::string>(), type, type));
  Json with_refused = rows;
  for (const Json& each : joined_by_isa(measured.refused)) add_refusal(with_refused, each);
  page +=
      "\n" + table(with_refused, {backend, isa, number("max |error|", "/error/max_abs", error_text),
                                  number("bound", "/bound/max_abs", bound_text),
                                  number("RMS", "/error/rms", error_text),
                                  number("mean", "/error/mean", error_text),
                                  number("99.9 %", "/report/quantiles/3/abs_error", bound_text)});
  page += "\n" + table(rows, {backend, isa, number("max ulp", "/error/max_ulp", ulp_text),
                              text("at position", "/report/worst_by_ulp/0/position", Align::right),
                              text("channel", "/report/worst_by_ulp/0/channel", Align::right),
                              number("median ulp", "/report/quantiles/0/ulp", ulp_text),
                              number("99.9 % ulp", "/report/quantiles/3/ulp", ulp_text)});
  page +=
      "\n" + table(rows, {backend, isa, number("correct", "/error/correctly_rounded", percent_text),
                          number("wrong", "/report/wrongly_rounded", count_text),
                          number("to div_term", "/report/max_abs_from_div_term", error_text),
                          text("worst position", "/report/worst/position", Align::right),
                          text("channel", "/report/worst/channel", Align::right)});
  page += explained_mark(rows);
  for (const Json& each : rows) {
    if (rows.size() > 1 && !options.worst) break;
    if (rows.size() > 1) page += "\n" + name_of(each) + "\n";
    page += worst_page(each.at("report"), of.type);
  }
  if (rows.size() == 1) return page + details_page(first, check::arrangement_of(of.spec.layout));
  return page + side_by_side_page(rows);
}

int accuracy(const Options& options) {
  // A document of measurements without times, whose rows also have a "report".
  Measurements document = measurements_of_this_machine();
  Json all = Json::array();
  std::string page;
  // --threads sets how many threads compute a table, which has the same bits in any case.
  Options of_one_thread = options;
  of_one_thread.threads.clear();
  for (const MeasuredTable& table : tables_of(of_one_thread)) {
    const TableRows rows = measured(options, table, document);
    for (const Json* part : {&rows.reported, &rows.refused})
      all.insert(all.end(), part->begin(), part->end());
    page += (page.empty() ? "" : "\n") + page_of(rows, table, options);
  }
  Json json = to_json(document);
  json["measurements"] = std::move(all);
  write_document(options, json, page);
  return check_promises(document);
}

}  // namespace

void add_accuracy_command(CLI::App& program, Options& options) {
  CLI::App& app = add_command(
      program, options, accuracy, "accuracy",
      "Measure the errors of backends; exit 1 if a backend breaks its bound",
      {{"posenc accuracy --preset whisper", "all backends on one model's table"},
       {"posenc accuracy --backend rotation32 --backend div_term", "two methods side by side"},
       {"posenc accuracy --backend rotation32 --rows 131072 --d-model 128",
        "one backend in detail: by position and channel, with its worst entry"},
       {"posenc accuracy --shape 777x768 --dtype float32,bfloat16",
        "a shape of your own, in two types"},
       {"posenc accuracy --rows 1000 --first 0,1000000,1000000000000",
        "large positions, where float32 phases fail"},
       {"posenc accuracy --format json --output report.json",
        "a report that posenc compare can read"}});
  add_preset(app, options, Values::list);
  add_size(app, options, Values::list);
  add_first(app, options, Values::list);
  add_convention(app, options);
  add_backends(app, options);
  add_type(app, options, Values::list);
  add_threads(app, options, Values::one, "all cores");
  add_integer(
      app, "--worst", options.worst,
      "number of entries to show with the largest |error|, and with the largest error in ulp "
      "(default: 1; none if there are several backends)",
      1, 10000);
  add_output(app, options);
}

}  // namespace posenc::cli
