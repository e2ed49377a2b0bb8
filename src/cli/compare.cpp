// posenc compare: two documents of measurements side by side, errors and times.
#include "cli/commands.h"

#include "posenc/model/internal/json_text.h"
#include "posenc/suite/files.h"
#include "posenc/suite/measuring/ties.h"
#include "posenc/support/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace posenc::cli {
namespace {

/// Changes below this come from printing and reading a number; one entry changes far more.
constexpr double rounding = 1e-12;

constexpr std::size_t most_rows_shown = 24;

/// Errors are deterministic: unless the tolerance accepts it, any growth of max |error| or of the
/// share that is wrongly rounded counts.
bool has_grown(const MeasuredError& before, const MeasuredError& after, double tolerance) {
  const auto value = [](double error) {
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  };
  const auto grown = [](double a, double b, double allowed) { return b > a * (1 + allowed); };
  return grown(value(before.max_abs), value(after.max_abs), std::max(tolerance, rounding)) ||
         grown(1 - before.correctly_rounded + rounding, 1 - after.correctly_rounded, tolerance);
}

const Measurement* find(const Measurements& document, const Measurement& wanted) {
  const auto found = std::ranges::find_if(document.all, [&](const Measurement& each) {
    return each.full_name() == wanted.full_name() && each.table == wanted.table;
  });
  return found == document.all.end() ? nullptr : &*found;
}

/// How much slower the machine was in B, see common_factor().
double factor_of(const Measurements& a, const Measurements& b) {
  std::vector<double> of_limits, all;
  for (const Measurement& before : a.all) {
    const Measurement* const after = find(b, before);
    if (after == nullptr || !before.is_timed() || !after->is_timed()) continue;
    all.push_back(paired_ratio(after->seconds, before.seconds).ratio);
    if (before.role == Role::limit) of_limits.push_back(all.back());
  }
  return common_factor(of_limits, all);
}

/// A backend on a table. One of the documents may lack it.
struct Row {
  const Measurement *before, *after;
  PairedRatio time = {};  ///< of B over A
  Names changes = {};
  bool is_regression = false;

  const Measurement& any() const { return before != nullptr ? *before : *after; }
  bool is_timed() const {
    return before != nullptr && after != nullptr && before->is_timed() && after->is_timed();
  }
  std::string verdict() const { return changes.empty() ? "same" : join(changes, ", "); }
};

struct Comparison {
  double tolerance, noise;
  bool same_machine;  ///< else times are shown and not judged
  double factor;      ///< of the machine
  int regressions = 0, missing = 0, common = 0;
  std::vector<Row> rows = {};

  /// One of both may be null.
  void add(const Measurement* before, const Measurement* after) {
    Row& row = rows.emplace_back(Row{before, after});
    if (before == nullptr || after == nullptr) {
      row.changes = {before == nullptr ? "only in B" : "only in A"};
      missing += after == nullptr ? 1 : 0;
      return;
    }
    ++common;
    if (before->error && after->error) {
      row.is_regression = has_grown(*before->error, *after->error, tolerance);
      if (row.is_regression || has_grown(*after->error, *before->error, tolerance))
        row.changes.emplace_back(row.is_regression ? "error grew" : "error shrank");
    }
    if (row.is_timed()) {
      row.time = paired_ratio(after->seconds, before->seconds);
      for (double* const each : {&row.time.ratio, &row.time.low, &row.time.high}) *each /= factor;
      if (same_machine && !is_tie(row.time, noise)) {
        row.changes.emplace_back(row.time.ratio > 1 ? "slower" : "faster");
        row.is_regression |= row.time.ratio > 1;
      }
    }
    regressions += row.is_regression ? 1 : 0;
  }
};

Comparison comparison_of(const Measurements& a, const Measurements& b, double tolerance) {
  const bool same_machine = a.machine.model == b.machine.model && a.machine.isas == b.machine.isas;
  Comparison result = {.tolerance = tolerance,
                       .noise = std::max(noise_floor_of(a), noise_floor_of(b)),
                       .same_machine = same_machine,
                       .factor = same_machine ? factor_of(a, b) : 1};
  for (const Measurement& each : a.all)
    if (each.role == Role::backend) result.add(&each, find(b, each));
  for (const Measurement& each : b.all)
    if (each.role == Role::backend && find(a, each) == nullptr) result.add(nullptr, &each);
  return result;
}

Json to_json(const Row& row) {
  const auto measured = [](const Measurement* each) { return each ? to_json(*each) : Json(); };
  return {{"backend", row.any().full_name()}, {"table", row.any().table.name},
          {"before", measured(row.before)},   {"after", measured(row.after)},
          {"time_ratio", row.time.ratio},     {"time_low", row.time.low},
          {"time_high", row.time.high},       {"verdict", row.verdict()}};
}

/// "5000x512 float16, 2 threads, layout halves": what differs from the usual.
std::string table_text(const MeasuredTable& table) {
  std::string name = table.name;
  if (table.type != DataType::float32) name += fmt::format(" {}", to_string(table.type));
  if (table.threads > 1) name += fmt::format(", {} threads", table.threads);
  if (table.rows.first != 0) name += fmt::format(", first {}", table.rows.first);
  const EncodingSpec usual = {.d_model = table.spec.d_model};
  return table.spec == usual ? name : name + ", " + spec_text(table.spec);
}

/// What the page shows of a row.
Json shown(const Row& row) {
  Json json = to_json(row);
  json["table"] = table_text(row.any().table);
  for (const auto& [side, each] : {std::pair("before", row.before), {"after", row.after}})
    if (each != nullptr && each->is_timed()) json[side]["speed"] = each->gfloats_per_second();
  std::string ratio = row.is_timed() ? fmt::format("{:.3f}", row.time.ratio) : "-";
  if (row.is_timed() && std::isfinite(row.time.high))
    ratio += fmt::format(" ({:.3f}..{:.3f})", row.time.low, row.time.high);
  json["ratio"] = ratio;
  return json;
}

std::string verdict_text(const Comparison& comparison) {
  std::string text = fmt::format("{} compared, noise {:.1f} %; regressions: {}; missing in B: {}\n",
                                 comparison.common, 100 * comparison.noise, comparison.regressions,
                                 comparison.missing);
  if (!comparison.same_machine) text += "The times are of different CPUs, and are not judged\n";
  if (comparison.factor != 1) {
    text += fmt::format(
        "The machine took {:.3f} times as long in B, its store limits and copies, too: times B/A "
        "are without that factor\n",
        comparison.factor);
  }
  return wrapped(text);
}

/// The rows that changed, the worst first; the others are counted.
std::string changes_page(const Comparison& comparison) {
  std::vector<Row> changed = comparison.rows;
  if (comparison.same_machine)
    std::erase_if(changed, [](const Row& row) { return row.changes.empty(); });
  std::ranges::stable_sort(changed, {}, [](const Row& row) {
    const std::string verdict = row.verdict();
    const bool is_slower = verdict.ends_with("slower");
    return std::tuple(!verdict.starts_with("error grew"), !is_slower, verdict != "only in A",
                      verdict == "only in B", is_slower ? -row.time.ratio : row.time.ratio);
  });
  changed.resize(std::min(changed.size(), most_rows_shown), Row{});
  std::map<std::string, int> others;
  for (const Row& row : comparison.rows) ++others[row.verdict()];
  Json rows = Json::array();
  for (const Row& row : changed) {
    --others[row.verdict()];
    rows.push_back(shown(row));
  }
  std::string page;
  if (!rows.empty())
    page =
        table(rows, {text("backend", "/backend"), text("table", "/table", Align::wrapped),
                     number("|error| A", "/before/error/max_abs", error_text),
                     number("B", "/after/error/max_abs", error_text),
                     speed_column("Gfloat/s A", "/before/speed"), speed_column("B", "/after/speed"),
                     text("time B/A, 95 %", "/ratio", Align::right),
                     text("", "/verdict", Align::wrapped)});
  Names counted;
  for (const auto& [verdict, count] : others)
    if (count > 0) counted.push_back(fmt::format("{} {}", count, verdict));
  if (counted.empty()) return page;
  return page + (page.empty() ? "" : "\n") + wrapped("Not shown: " + join(counted, ", "));
}

/// The rows of an accuracy report; of another document, none. Backends with the same errors share
/// a row.
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
/// unless both documents have accuracy reports, all of one table.
std::string reports_page(const Options& options) try {
  constexpr std::size_t most_octaves = 128, most_channels = 8;
  Json reports = reports_in("A", options.before);
  const Json others = reports_in("B", options.after);
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
  throw_invalid("documents are {} and {}: {}; allowed: JSON of posenc accuracy", options.before,
                options.after, error.what());
}

std::string origin_text(const std::string& name, const std::string& file,
                        const Measurements& document) {
  return fmt::format("{}  {}\n   {}\n   {}, posenc {}, kernels {}\n", name, escaped(file),
                     document.machine.model, document.compiler, document.library_version,
                     document.kernels);
}

int compare(const Options& options) {
  const Measurements before = read_measurements(options.before);
  const Measurements after = read_measurements(options.after);
  const Comparison comparison = comparison_of(before, after, options.tolerance.value_or(0));
  const std::string reports = reports_page(options);
  const bool shares_rows = comparison.common > 0;
  if (!shares_rows && reports.empty()) {
    throw_invalid(
        "{} and {} have no backend and table in common; allowed: documents that share one, or "
        "accuracy reports of one table",
        options.before, options.after);
  }
  std::string page =
      origin_text("A", options.before, before) + origin_text("B", options.after, after) + "\n";
  if (shares_rows) page += changes_page(comparison) + "\n" + verdict_text(comparison);
  if (!reports.empty()) page += (shares_rows ? "\n" : "") + reports;
  if (!shares_rows) page += "\nDifferent backends are not judged.\n";
  Json rows = Json::array();
  for (const Row& each : comparison.rows) rows.push_back(to_json(each));
  Json document = new_document();
  document.update({{"before", options.before},
                   {"after", options.after},
                   {"noise_floor", comparison.noise},
                   {"common_factor", comparison.factor},
                   {"times_are_judged", comparison.same_machine},
                   {"regressions", comparison.regressions},
                   {"missing", comparison.missing},
                   {"rows", rows}});
  write_document(options, document, page);
  return !shares_rows || comparison.regressions + comparison.missing == 0 ? good : check_failed;
}

}  // namespace

Subcommand compare_command() {
  return {
      .name = "compare",
      .description =
          "Compare two documents of measurements; exit 1 on a regression, or if B lacks a row "
          "of A",
      .run = compare,
      .options = "A B --tolerance",
      .examples = {{"posenc compare before.json after.json", "what changed in errors and in times"},
                   {"posenc compare --tolerance 0.01 gcc.json clang.json",
                    "reports of two compilers, whose errors may differ by one percent"},
                   {"posenc compare rotation32.json div_term.json",
                    "accuracy reports of two backends side by side, by position and channel"},
                   {"posenc compare --format json a.json b.json", "the same for programs"}}};
}

}  // namespace posenc::cli
