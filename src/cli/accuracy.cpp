// posenc accuracy: the accuracy report of some or all backends.
#include "cli/commands.h"

#include "posenc/check/report.h"
#include "posenc/cpu.h"
#include "posenc/suite/document.h"
#include "posenc/suite/measure_accuracy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  std::vector<const Backend*> backends = backends_of(options);
  std::erase_if(backends, [&](const Backend* each) {
    if (!options.backends.empty()) each->check_supports(table.type);
    return !each->supports(table.type);
  });
  const PlannedEncoders planned = plan_all(backends, table);
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
      "{}{} entries against their exact values, computed in {}; 1 ulp is the spacing of {} there\n"
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
  constexpr std::size_t most_channels = 8;
  return page + "\nLargest |error| by position\n" +
         parts_page(rows, "by_position", positions_column("positions"), rows.size() + 64) +
         "\nLargest |error| of the worst channels\n" +
         parts_page(rows, "by_channel", text("channel", "/channel", Align::right), most_channels);
}

/// One line per part of a report: the whole table, octaves of positions, channels, quantiles, bars
/// of the histogram in ulp, and worst entries. The columns are the keys of the JSON. If a part has
/// no value for a key, its cell is empty.
std::string csv_of(const Json& rows, const Measurements& document) {
  constexpr const char* columns[] = {"backend",
                                     "isa",
                                     "dtype",
                                     "table",
                                     "part",
                                     "first",
                                     "count",
                                     "channel",
                                     "share",
                                     "above",
                                     "to",
                                     "position",
                                     "entries",
                                     "max_abs",
                                     "max_ulp",
                                     "rms",
                                     "mean",
                                     "bound",
                                     "correctly_rounded",
                                     "abs_error",
                                     "ulp",
                                     "got",
                                     "expected",
                                     "not_available"};
  constexpr std::pair<const char*, const char*> parts[] = {{"positions", "by_position"},
                                                           {"channel", "by_channel"},
                                                           {"quantile", "quantiles"},
                                                           {"ulp", "by_ulp"},
                                                           {"worst_by_error", "worst_by_error"},
                                                           {"worst_by_ulp", "worst_by_ulp"}};
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  const auto add = [&text, &columns](const char* part, Json line, const Json& values) {
    line.update(values);
    line["part"] = part;
    Names cells;
    for (const char* const column : columns) {
      const Json value = line.value(column, Json());
      std::string cell = value.is_null()     ? ""
                         : value.is_string() ? value.get<std::string>()
                                             : value.dump();
      for (std::size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2)
        cell.insert(at, 1, '"');
      cells.push_back(cell.find_first_of(",\"") == std::string::npos ? cell : '"' + cell + '"');
    }
    text += join(cells, ",") + "\n";
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    const Json base = {{"backend", row.at("backend")},
                       {"isa", row.at("isa")},
                       {"dtype", row.at("table").at("dtype")},
                       {"table", document.all.at(i).table.text()}};
    Json whole = row.at("table").at("rows");
    whole["not_available"] = at(row, "/not_available");
    whole["entries"] = at(row, "/report/entries");
    whole["bound"] = at(row, "/bound/max_abs");
    if (row.at("error").is_object()) whole.update(row.at("error"));
    add("table", base, whole);
    for (const auto& [part, list] : parts)
      for (const Json& each : at(row, std::string("/report/") + list)) add(part, base, each);
  }
  return text;
}

int accuracy(const Options& options) {
  // A document of measurements without times, whose rows also have a "report".
  Measurements document = measurements_of_this_machine();
  Json all = Json::array();
  std::string page;
  // --threads sets how many threads compute a table, which has the same bits in any case.
  Options of_one_thread = options;
  of_one_thread.threads.clear();
  const Preset& usual = preset("tutorial");
  for (const MeasuredTable& table :
       tables_of(of_one_thread, {{.name = {}, .spec = usual.spec, .rows = usual.rows}})) {
    const TableRows rows = measured(options, table, document);
    for (const Json* part : {&rows.reported, &rows.refused})
      all.insert(all.end(), part->begin(), part->end());
    page += (page.empty() ? "" : "\n") + page_of(rows, table, options);
  }
  if (options.format == "csv") {
    write_all(options.output, csv_of(all, document));
  } else {
    Json json = to_json(document);
    json["measurements"] = std::move(all);
    write_document(options, json, page);
  }
  return check_promises(document);
}

}  // namespace

Subcommand accuracy_command() {
  return {.name = "accuracy",
          .description = "Measure the errors of backends; exit 1 if one breaks its error bound",
          .run = accuracy,
          .options = "--preset... --shape... --rows --first..." + spec_options +
                     "--backend... --isa --dtype... --threads --worst",
          .examples = {{"posenc accuracy --preset whisper", "all backends over one model's table"},
                       {"posenc accuracy --backend rotation32 --backend div_term",
                        "two methods side by side"},
                       {"posenc accuracy --backend rotation32 --rows 131072 --d-model 128",
                        "one backend in detail: by position and channel, with its worst entry"},
                       {"posenc accuracy --shape 777x768 --dtype float32,bfloat16",
                        "a shape of your own, in two types"},
                       {"posenc accuracy --rows 1000 --first 0,1000000,1000000000000",
                        "large positions, where float32 phases fail"},
                       {"posenc accuracy --backend rotation32 --worst 10",
                        "the ten worst entries, by error and in ulp"},
                       {"posenc accuracy --format csv --output report.csv",
                        "every figure of a report as a row, for a spreadsheet or pandas"},
                       {"posenc accuracy --format json --output report.json",
                        "a report to keep, for posenc compare"}},
          .descriptions = {{"--threads", "number of threads (default: all cores)"}},
          .excludes = {shape_or_its_parts},
          .formats = {"table", "json", "csv"}};
}

}  // namespace posenc::cli
