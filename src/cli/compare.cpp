// posenc compare: compares two documents of one machine, shows documents of several machines side
// by side, or times two builds in turn.
#include "posenc/suite/compare.h"

#include "cli/commands.h"

#include "posenc/model/internal/json_text.h"
#include "posenc/suite/document.h"
#include "posenc/suite/files.h"
#include "posenc/suite/microarchitecture.h"
#include "posenc/suite/ties.h"
#include "posenc/support/printable.h"
#include "posenc/support/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>

namespace posenc::cli {

using namespace suite;
namespace {

constexpr std::size_t most_rows_shown = 24;

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

/// The rows that changed, the worst first; the others are counted.
std::string changes_page(const Comparison& comparison) {
  std::vector<ComparedRow> changed = comparison.rows;
  std::erase_if(changed, [](const ComparedRow& row) { return row.changes.empty(); });
  std::ranges::stable_sort(changed, {}, [](const ComparedRow& row) {
    const std::string verdict = row.verdict();
    const bool is_slower = verdict.ends_with("slower");
    return std::tuple(!verdict.starts_with("error grew"), !is_slower, verdict != "only in A",
                      verdict == "only in B", is_slower ? -row.time.ratio : row.time.ratio);
  });
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

Json document_of(const Options& options, const Comparison& comparison, bool judges_times) {
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

std::string count_text_of(const Comparison& comparison) {
  return fmt::format("{} compared, noise {:.1f} %; regressions: {}; missing in B: {}\n",
                     comparison.common, 100 * comparison.noise, comparison.regressions,
                     comparison.missing);
}

/// The rows of an accuracy report; empty if the document is none. ISAs with the same errors share a
/// row.
Json reports_in(const std::string& origin, const std::string& file) {
  Json reports = Json::array();
  const Json document = parse_json_text<Json>(read_document(file), "the document");
  for (Json row : document.at("measurements")) {
    if (!row.contains("report")) continue;
    row["origin"] = origin;
    reports.push_back(std::move(row));
  }
  return joined_by_isa(reports);
}

/// The errors of two accuracy reports over the whole table, by position, and by channel. Empty
/// unless both documents are accuracy reports of the same table.
std::string reports_page(const Names& files) try {
  constexpr std::size_t most_octaves = 128, most_channels = 8;
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
  return fmt::format(
      "{}\n{}\nLargest |error| by position\n{}\nLargest |error| of the worst channels\n{}",
      wrapped(table_title(table)),
      cli::table(reports, {text("in", "/origin"),
                           text("backend", "/backend"),
                           text("ISA", "/isa"),
                           number("max |error|", "/error/max_abs", error_text),
                           number("RMS", "/error/rms", error_text),
                           number("correct", "/error/correctly_rounded", percent_text),
                           {"worst: row, channel", worst}}),
      parts_page(reports, "by_position", positions_column("positions"), most_octaves),
      parts_page(reports, "by_channel", text("channel", "/channel", Align::right), most_channels));
} catch (const Json::exception& error) {
  throw_invalid("documents are {} and {}: {}; allowed: JSON of posenc accuracy", files[0], files[1],
                error.what());
}

std::string origin_text(const std::string& name, const std::string& file,
                        const Measurements& document) {
  return fmt::format("{}  {}\n   {}\n   {}\n   {}, {}, posenc {}, kernels {}\n", name,
                     escaped(file), document.machine.model,
                     microarchitecture_text(document.machine), document.measured_at.substr(0, 10),
                     document.compiler, document.library_version, document.kernels);
}

bool has_times(const Measurements& document) {
  return std::ranges::any_of(document.all, &Measurement::is_timed);
}

/// Compares two documents of one machine, or two documents without times: errors do not depend on
/// the machine.
int compare_two(const Options& options, const Measurements& before, const Measurements& after) {
  const Comparison comparison =
      suite::compare(before, after, {.tolerance = options.tolerance.value_or(0)});
  const std::string reports = reports_page(options.documents);
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
    page += changes_page(comparison) + "\n" + count_text_of(comparison);
    if (comparison.factor != 1) {
      page += wrapped(fmt::format(
          "The machine took {:.3f} times as long in B, its store limits and copies, too: times B/A "
          "are without that factor\n",
          comparison.factor));
    }
    if (judges_times) {
      page += wrapped(
          "Times of two sessions are a hint: what differed on the machine looks like a change of "
          "the code. posenc compare --run OLD NEW times two builds in turn, in one session.\n");
    }
  }
  for (const auto& [name, each] : {std::pair("A", &before), std::pair("B", &after)}) {
    if (const std::string notes = notes_of(*each); !notes.empty())
      page += fmt::format("\n{}: {}", name, notes.substr(1));
  }
  if (!reports.empty()) page += (shares_rows ? "\n" : "") + reports;
  if (!shares_rows) page += "\nDifferent backends are not judged.\n";
  write_document(options, document_of(options, comparison, judges_times), page);
  return !shares_rows || comparison.regressions + comparison.missing == 0 ? good : check_failed;
}

/// The machine and the day: "Zen 5, avx512, 2026-11-27". If the CPU has no known name, its place
/// among the documents identifies it.
std::string label_of(const Measurements& document, std::size_t place) {
  const Microarchitecture* const known = microarchitecture_of(document.machine);
  return fmt::format("{}, {}, {}",
                     known != nullptr ? std::string(known->name) : fmt::format("CPU of {}", place),
                     to_string(document.machine.isas.back()), document.measured_at.substr(0, 10));
}

/// The speed of each backend at its best ISA on a table, and the speeds of the copy and the limit.
Json speeds_of(const Measurements& document, const MeasuredTable& table) {
  Json speeds;
  double limit = 0;
  for (const Measurement& each : document.all) {  // ISAs ascend, so the best one is kept
    MeasuredTable its = each.table;
    its.name = table.name;
    if (its != table || !each.is_timed() || each.role == Role::peer) continue;
    const double speed = each.gfloats_per_second();
    if (each.role == Role::backend || each.backend == "copy")
      speeds[each.backend] = speed;
    else
      limit = std::max(limit, speed);
  }
  if (limit > 0) speeds["limit"] = limit;
  return speeds;
}

/// Shows the speeds of several machines side by side, without a verdict.
int show_side_by_side(const Options& options, const std::vector<Measurements>& documents) {
  std::vector<MeasuredTable> common;
  for (const Measurement& row : documents.front().all) {
    const auto has_it = [&row](const Measurements& each) {
      const Measurement* const found = find_row(each, row);
      return found != nullptr && found->is_timed();
    };
    if (row.role == Role::backend && std::ranges::all_of(documents, has_it))
      add_once(common, row.table);
  }
  if (common.empty()) {
    throw_invalid(
        "{} have no times of one backend on one table in common; allowed: documents of "
        "posenc measure that share one",
        join(options.documents, " and "));
  }
  std::ranges::stable_sort(common, {}, &MeasuredTable::bytes);
  Json rows = Json::array(), tables = Json::array();
  Names names, outside;
  for (const MeasuredTable& each : common) {
    if (!rows.empty()) rows.push_back(nullptr);
    rows.push_back(
        fmt::format("{}: {}", each.text(), bytes_text(static_cast<double>(each.bytes()))));
    Json entry = {{"table", each.name},
                  {"dtype", to_string(each.type)},
                  {"threads", each.threads},
                  {"gfloats_per_second", Json::array()}};
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const Json speeds = speeds_of(documents[i], each);
      Json& row = rows.emplace_back(Json{{"label", "  " + label_of(documents[i], i + 1)}});
      row["speed"] = speeds;
      entry["gfloats_per_second"].push_back(speeds);
      for (const auto& [name, speed] : speeds.items())
        if (name != "copy" && name != "limit") add_once(names, name);
    }
    tables.push_back(std::move(entry));
  }
  names.emplace_back("copy");
  names.emplace_back("limit");
  std::vector<Column> columns = {text("table, CPU", "/label")};
  for (const std::string& name : names) columns.push_back(speed_column(name, "/speed/" + name));
  std::string page = "Gfloat/s of each backend at the best ISA of each CPU\n\n";
  Json machines = Json::array();
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const Measurements& each = documents[i];
    page += origin_text(std::to_string(i + 1), options.documents[i], each);
    machines.push_back({{"document", options.documents[i]},
                        {"machine", suite::to_json(each.machine)},
                        {"compiler", each.compiler},
                        {"kernels", each.kernels},
                        {"measured_at", each.measured_at}});
    for (const Measurement& row : each.all)
      if (std::ranges::count(common, row.table) == 0) add_once(outside, row.table.text());
  }
  page += "\n" + table(rows, columns);
  if (!outside.empty())
    page += "\n" + wrapped("Not in all documents: " + join(outside, "; ") + "\n");
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (const std::string notes = notes_of(documents[i]); !notes.empty())
      page += fmt::format("\n{}: {}", i + 1, notes.substr(1));
  }
  page += "\nSpeeds of different machines, compilers and days are shown, and not judged.\n";
  Json document = new_document();
  document.update({{"times_are_judged", false}, {"machines", machines}, {"tables", tables}});
  write_document(options, document, page);
  return good;
}

#ifdef POSENC_STARTS_PROCESSES

/// Full names of the backends of a posenc command that run on this machine.
Names backends_of_program(const std::string& program) {
  Json listed;
  try {
    listed = Json::parse(output_of_program(program, {"list", "--format", "json"}));
  } catch (const std::exception& error) {
    throw_invalid("{} is no posenc command ({}); allowed with --run: two posenc commands", program,
                  error.what());
  }
  Names names;
  for (const Json& each : listed.at("backends")) {
    if (each.at("runs_here").get<bool>())
      names.push_back(each.at("backend").get<std::string>() + ":" +
                      each.at("isa").get<std::string>());
  }
  return names;
}

/// Times two builds in turn and compares their times.
int compare_builds(const Options& options) {
  const std::string &old_build = options.documents[0], &new_build = options.documents[1];
  const Names in_old = backends_of_program(old_build), in_new = backends_of_program(new_build);
  Names left_out;
  BuildsRequest request;
  request.time_before = [&](const auto& asked) { return time_by_program(old_build, asked); };
  request.time_after = [&](const auto& asked) { return time_by_program(new_build, asked); };
  auto tables = tables_to_measure(options);
  const std::string too_large = leave_out_large(tables);
  for (const MeasuredTable& table : tables) {
    for (const Backend* each : backends_of(options)) {
      const std::string name = each->full_name();
      if (!options.backends.empty()) each->check_supports(table.type);
      if (!each->supports(table.type)) continue;
      try {
        each->plan(table.spec);
      } catch (const InvalidArgument& refusal) {
        add_once(left_out, fmt::format("{} (not available: {})", name, refusal.what()));
        continue;
      }
      if (std::ranges::count(in_old, name) == 0 || std::ranges::count(in_new, name) == 0) {
        add_once(left_out, name);
        continue;
      }
      request.rows.push_back({row_of(*each, table)});
    }
  }
  if (request.rows.empty())
    throw_invalid("{} and {} have no backend in common", old_build, new_build);
  request.rounds = options.rounds.value_or(request.rounds);
  Progress progress;
  request.progress = [&](double share, std::string_view doing) { progress(share, doing); };
  const BuildTimes times = time_builds(request);
  Measurements before = measurements_of_this_machine(), after = before;
  before.all = times.before;
  after.all = times.after;
  const Comparison comparison = suite::compare(before, after, {.noise_of_session = times.noise});
  std::string page = fmt::format(
      "A  {}\nB  {}\n   {}\n\n{}\n{}", escaped(old_build), escaped(new_build), before.machine.model,
      changes_page(comparison),
      wrapped(fmt::format("{} compared in {} rounds, each of four processes per table (A B B A); a "
                          "build differs from itself by {:.1f} %; regressions: {}\n"
                          "95 %: all intervals together hold with that probability\n",
                          comparison.common, request.rounds, 100 * comparison.noise,
                          comparison.regressions)));
  if (!too_large.empty()) page += wrapped("Not compared: " + too_large + "\n");
  if (!left_out.empty()) page += wrapped("Not in both: " + join(left_out, ", ") + "\n");
  page += "Times alone are compared: posenc accuracy of each build has its errors.\n";
  const std::string disturbed = disturbance(times.lost_share, 0);
  if (!disturbed.empty()) page += wrapped("\nNot to be trusted: " + disturbed + "\n");
  Json document = document_of(options, comparison, true);
  document["rounds"] = request.rounds;
  document["disturbed"] = disturbed;
  write_document(options, document, page);
  if (!disturbed.empty()) print_message(disturbed);
  return comparison.regressions == 0 && disturbed.empty() ? good : check_failed;
}

#endif

/// The options that choose how --run times the builds, and on which tables. Each needs --run.
std::vector<std::pair<std::string, std::string>> needs_of_run() {
  std::vector<std::pair<std::string, std::string>> needs;
  for (const std::string& each : words_of("--rounds" + tables_options + "--backend --isa"))
    needs.emplace_back(each.substr(0, each.find('.')), "--run");
  return needs;
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
  return show_side_by_side(options, documents);
}

}  // namespace

Subcommand compare_command() {
  return {
      .name = "compare",
      .description =
          "Compare two documents of one machine (exit 1 on a regression, or if the second lacks a "
          "row), documents of several machines side by side, or two builds that run in turn",
      .run = compare,
      .options = "DOCUMENT... --tolerance --run --rounds" + tables_options + "--backend... --isa",
      .examples = {{"posenc compare before.json after.json", "what changed in errors and in times"},
                   {"posenc compare --run old/posenc new/posenc --shape 777x768",
                    "whether a build is slower than another, in one session"},
                   {"posenc compare zen4.json zen5.json xeon.json",
                    "several machines side by side, without a verdict"},
                   {"posenc compare --tolerance 0.01 gcc.json clang.json",
                    "reports of two compilers, whose errors may differ by one percent"},
                   {"posenc compare rotation32.json div_term.json",
                    "accuracy reports of two backends side by side, by position and channel"}},
      .excludes = {shape_or_its_parts, {"--run", "--tolerance"}},
      .needs = needs_of_run()};
}

}  // namespace posenc::cli
