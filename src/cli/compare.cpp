// posenc compare: compares two documents of one machine, and two accuracy reports. Other files show
// several machines side by side, and time two builds in turn.
#include "posenc/suite/compare.h"

#include "cli/commands.h"

#include "posenc/model/internal/json_text.h"
#include "posenc/suite/document.h"
#include "posenc/suite/files.h"
#include "posenc/suite/microarchitecture.h"
#include "posenc/support/printable.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>

namespace posenc::cli {

using namespace suite;
namespace {

Json to_json(const ComparedRow& row) {
  const auto measured = [](const Measurement* each) { return each ? to_json(*each) : Json(); };
  return {{"backend", row.any().full_name()}, {"table", row.any().table.name},
          {"before", measured(row.before)},   {"after", measured(row.after)},
          {"time_ratio", row.time.ratio},     {"time_low", row.time.low},
          {"time_high", row.time.high},       {"verdict", row.verdict()}};
}

/// The row with the values that the page shows.
Json shown(const ComparedRow& row) {
  Json json = to_json(row);
  json["table"] = row.any().table.text();
  for (const auto& [side, each] : {std::pair("before", row.before), {"after", row.after}})
    if (each != nullptr && each->is_timed()) json[side]["speed"] = each->gfloats_per_second();
  std::string ratio = row.is_timed() ? fmt::format("{:.3f}", row.time.ratio) : "-";
  if (row.is_timed() && std::isfinite(row.time.high))
    ratio += fmt::format(" ({:.3f}..{:.3f})", row.time.low, row.time.high);
  json["ratio"] = ratio;
  return json;
}

/// The rows of an accuracy report; empty if the document is none. ISAs with the same errors share a
/// row.
Json reports_in(const std::string& origin, const std::string& file) {
  Json reports = Json::array();
  const auto document = parse_json_text<Json>(read_document(file), "the document");
  for (Json row : document.json.at("measurements")) {
    if (!row.contains("report")) continue;
    row["origin"] = origin;
    reports.push_back(std::move(row));
  }
  return joined_by_isa(reports);
}

/// The errors of two accuracy reports over the whole table, by position, and by channel. Empty
/// unless both documents are accuracy reports of the same table.
std::string reports_page(const Names& files) {
  Json reports = reports_in("A", files[0]);
  const Json others = reports_in("B", files[1]);
  if (reports.empty() || others.empty()) return "";
  reports.insert(reports.end(), others.begin(), others.end());
  for (const Json& each : reports)
    if (each.at("table") != reports[0].at("table")) return "";
  const MeasuredTable table = measurement_from(reports[0]).table;
  const auto worst = [](const Json& row) {
    return at(row, "/report/worst/position").dump() + ", " +
           at(row, "/report/worst/channel").dump();
  };
  return wrapped(table_title(table)) + "\n" +
         cli::table(reports, {text("in", "/origin"),
                              text("backend", "/backend"),
                              text("ISA", "/isa"),
                              number("max |error|", "/error/max_abs", error_text),
                              number("RMS", "/error/rms", error_text),
                              number("correct", "/error/correctly_rounded", percent_text),
                              {"position, channel", worst}}) +
         side_by_side_page(reports);
}

/// The same for reports that may be damaged. A report is only shown, so nothing checked its values.
std::string readable_reports_page(const Names& files) {
  try {
    return reports_page(files);
  } catch (const Json::exception& error) {
    throw_invalid(
        "the accuracy report in {} or {} is damaged: {}; allowed: reports as posenc "
        "accuracy writes them",
        files[0], files[1], error.what());
  }
}

bool has_times(const Measurements& document) {
  return std::ranges::any_of(document.all, &Measurement::is_timed);
}

/// Compares two documents of one machine, or two documents without times: errors do not depend on
/// the machine.
int compare_two(const Options& options, const Measurements& before, const Measurements& after) {
  const Comparison comparison =
      suite::compare(before, after, {.tolerance = options.tolerance.value_or(0)});
  const std::string reports = readable_reports_page(options.documents);
  const bool shares_rows = comparison.common > 0, judges_times = has_times(before);
  if (!shares_rows && reports.empty()) {
    throw_invalid(
        "{} and {} have no backend and table in common; allowed: documents that share one, or "
        "accuracy reports of one table",
        options.documents[0], options.documents[1]);
  }
  std::string page = origin_text("A", options.documents[0], before) +
                     origin_text("B", options.documents[1], after) + "\n";
  if (shares_rows) {
    page += fmt::format("{}\n{} compared, noise {:.1f} %; regressions: {}; missing in B: {}\n",
                        changes_page(comparison), comparison.common, 100 * comparison.noise,
                        comparison.regressions, comparison.missing);
    if (comparison.factor != 1) {
      page += wrapped(fmt::format(
          "The machine took {:.3f} times as long in B, also for store limits and copies. The times "
          "B/A are divided by this factor.\n",
          comparison.factor));
    }
    if (judges_times) {
      page += wrapped(
          "Times of two sessions are only a hint: a change of the machine looks like a change of "
          "the code. posenc compare --run OLD NEW times two builds in turn, in one session.\n");
    }
  }
  page += notes_of(before, "A") + notes_of(after, "B");
  if (!reports.empty()) page += (shares_rows ? "\n" : "") + reports;
  if (!shares_rows) page += "\nDifferent backends are not judged.\n";
  write_document(options, comparison_document(options, comparison, judges_times), page);
  return !shares_rows || comparison.regressions + comparison.missing == 0 ? good : check_failed;
}

int compare(const Options& options) {
  const Names& files = options.documents;
  if (options.runs) {
    if (files.size() != 2)
      throw_invalid("--run has {} argument(s); allowed: two programs, OLD and NEW", files.size());
#ifdef POSENC_STARTS_PROCESSES
    return compare_builds(options);
#else
    throw InvalidArgument("--run is given; allowed on systems that start processes");
#endif
  }
  std::vector<Measurements> documents;
  for (const std::string& file : files) documents.push_back(read_measurements(file));
  if (files.size() == 2) {
    const bool have_no_times = !has_times(documents[0]) && !has_times(documents[1]);
    if (have_no_times || are_of_one_machine(documents[0], documents[1]))
      return compare_two(options, documents[0], documents[1]);
  }
  if (options.tolerance)
    throw InvalidArgument("--tolerance is given; allowed with two documents of one machine");
  return compare_machines(options, documents);
}

}  // namespace

std::string changes_page(const Comparison& comparison) {
  std::vector<ComparedRow> changed = comparison.rows;
  std::erase_if(changed, [](const ComparedRow& row) { return row.changes.empty(); });
  std::ranges::stable_sort(changed, {}, [](const ComparedRow& row) {
    const std::string verdict = row.verdict();
    const bool is_slower = verdict.ends_with("slower");
    return std::tuple(!verdict.starts_with("error grew"), !is_slower, verdict != "only in A",
                      verdict == "only in B", is_slower ? -row.time.ratio : row.time.ratio);
  });
  constexpr std::size_t most_rows_shown = 24;
  changed.resize(std::min(changed.size(), most_rows_shown));
  std::map<std::string, int> others;
  for (const ComparedRow& row : comparison.rows) ++others[row.verdict()];
  Json rows = Json::array();
  bool shows_errors = false;  // true if an error has changed
  for (const ComparedRow& row : changed) {
    --others[row.verdict()];
    rows.push_back(shown(row));
    shows_errors |= row.verdict().starts_with("error");
  }
  std::vector<Column> columns = {text("backend", "/backend"),
                                 text("table", "/table", Align::wrapped)};
  if (shows_errors) {
    columns.push_back(number("|error| A", "/before/error/max_abs", error_text));
    columns.push_back(number("B", "/after/error/max_abs", error_text));
  }
  columns.push_back(speed_column("Gfloat/s A", "/before/speed"));
  columns.push_back(speed_column("B", "/after/speed"));
  columns.push_back(text("time B/A, 95 %", "/ratio", Align::right));
  columns.push_back(text("", "/verdict", Align::wrapped));
  const std::string page = rows.empty() ? "" : table(rows, columns);
  Names counted;
  for (const auto& [verdict, count] : others)
    if (count > 0) counted.push_back(fmt::format("{} {}", count, verdict));
  if (counted.empty()) return page;
  return page + (page.empty() ? "" : "\n") + wrapped("Not shown: " + join(counted, ", "));
}

Json comparison_document(const Options& options, const Comparison& comparison, bool judges_times) {
  Json rows = Json::array();
  for (const ComparedRow& each : comparison.rows) rows.push_back(to_json(each));
  Json document = new_document();
  document.update({{"before", options.documents[0]},
                   {"after", options.documents[1]},
                   {"noise_floor", comparison.noise},
                   {"common_factor", comparison.factor},
                   {"times_are_judged", judges_times},
                   {"regressions", comparison.regressions},
                   {"missing", comparison.missing},
                   {"rows", rows}});
  return document;
}

std::string origin_text(const std::string& name, const std::string& file,
                        const Measurements& document) {
  return fmt::format("{}  {}\n   {}\n   {}\n   {}, {}, posenc {}, kernels {}\n", name,
                     escaped(file), document.machine.model,
                     microarchitecture_text(document.machine), document.measured_at.substr(0, 10),
                     document.compiler, document.library_version, document.kernels);
}

void add_compare_command(CLI::App& program, Options& options) {
  CLI::App& app = add_command(
      program, options, compare, "compare",
      "Compare two measurement documents of one machine, show documents of several machines side "
      "by side, or time two builds in turn; exit 1 on a regression, or if the second document "
      "lacks a "
      "row of the first",
      {{"posenc compare before.json after.json", "what changed in errors and times"},
       {"posenc compare --run old/posenc new/posenc --shape 777x768",
        "whether a build is slower than another, in one session"},
       {"posenc compare zen4.json zen5.json xeon.json",
        "several machines side by side, without a verdict"},
       {"posenc compare --tolerance 0.01 gcc.json clang.json",
        "reports of two compilers, whose errors may differ by one percent"},
       {"posenc compare rotation32.json div_term.json",
        "accuracy reports of two backends side by side"}});
  // These options choose the tables and backends of --run, and how it times them.
  add_tables(app, options);
  add_backends(app, options);
  add_integer(app, "--rounds", options.rounds,
              "rounds of --run; in each, four processes time a table: OLD, NEW, NEW, "
              "OLD (default: 8)",
              2, 100);
  const auto needing_run = app.get_options();
  CLI::Option* const run =
      add_flag(app, "--run", options.runs,
               "run two posenc commands, OLD and NEW, in turn, and judge whether NEW is slower");
  for (CLI::Option* const each : needing_run) {
    if (each != app.get_help_ptr()) each->needs(run);
  }
  add_real(app, "--tolerance", options.tolerance,
           "accepted relative growth of an error, or of the share of wrongly rounded "
           "entries (default: 0; use 0.01 for builds of two compilers)",
           0, true)
      ->excludes(run);
  add_text(app, "DOCUMENT", "FILE ...", options.documents,
           "JSON of posenc measure or posenc accuracy; with --run, two posenc commands")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args();
  add_output(app, options);
}

}  // namespace posenc::cli
