// posenc compare: two documents of measurements side by side, errors and times.
#include "cli/commands.h"
#include "cli/compare_reports.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/suite/measuring/measured_class.h"
#include "posenc/suite/measuring/statistics.h"
#include "posenc/suite/measuring/ties.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace posenc::cli {

using namespace suite;
namespace {

/// Changes below this come from printing and reading a number; one entry changes far more.
constexpr double rounding = 1e-12;

struct CompareOptions {
  CommonOptions common;
  std::string before;
  std::string after;
  std::optional<double> tolerance;
  std::string filter;
  bool allows_missing = false;
};

struct ComparedRow {
  const Measurement* before = nullptr;  ///< null: only in B
  const Measurement* after = nullptr;   ///< null: only in A
  bool is_worse = false, is_better = false, is_slower = false, is_faster = false;
  PairedRatio time;  ///< of B over A

  const Measurement& any() const { return before != nullptr ? *before : *after; }
  bool is_regression() const { return is_worse || is_slower; }
  std::string verdict() const {
    if (before == nullptr) return "only in B";
    if (after == nullptr) return "only in A";
    std::vector<std::string_view> said;
    if (is_worse) said.push_back("error grew");
    if (is_better) said.push_back("error shrank");
    if (is_slower) said.push_back("slower");
    if (is_faster) said.push_back("faster");
    return said.empty() ? "same" : fmt::format("{}", fmt::join(said, ", "));
  }
};

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

class Comparison {
 public:
  Comparison(const Measurements& a, const Measurements& b, double tolerance)
      : tolerance_(tolerance),
        noise_(std::max(noise_floor_of(a), noise_floor_of(b))),
        same_machine_(a.machine.model == b.machine.model && a.machine.isas == b.machine.isas),
        factor_(same_machine_ ? factor_of(a, b) : 1) {
    for (const Measurement& each : a.all) {
      if (each.role == Role::backend) rows_.push_back(compared(&each, find(b, each)));
    }
    for (const Measurement& each : b.all) {
      if (each.role == Role::backend && find(a, each) == nullptr)
        rows_.push_back(compared(nullptr, &each));
    }
  }

  const std::vector<ComparedRow>& rows() const { return rows_; }
  double noise() const { return noise_; }
  bool same_machine() const { return same_machine_; }
  double factor() const { return factor_; }
  auto regressions() const { return std::ranges::count_if(rows_, &ComparedRow::is_regression); }
  auto missing() const { return std::ranges::count(rows_, nullptr, &ComparedRow::after); }
  auto common() const {
    return std::ranges::ssize(rows_) - missing() -
           std::ranges::count(rows_, nullptr, &ComparedRow::before);
  }

  /// Keeps the rows whose names the filter takes. Throws InvalidArgument, listing the names, if
  /// there is none.
  void apply(const std::string& filter, const std::regex& pattern) {
    std::set<std::string> names;
    for (const ComparedRow& row : rows_) names.insert(row.any().full_name());
    std::erase_if(rows_, [&](const ComparedRow& row) {
      return !std::regex_search(row.any().full_name(), pattern);
    });
    if (!rows_.empty()) return;
    throw InvalidArgument(fmt::format("--filter is '{}'; allowed: what matches one of {}", filter,
                                      fmt::join(names, ", ")));
  }

 private:
  static const Measurement* find(const Measurements& document, const Measurement& wanted) {
    for (const Measurement& each : document.all) {
      if (each.full_name() == wanted.full_name() && each.table == wanted.table) return &each;
    }
    return nullptr;
  }

  static double factor_of(const Measurements& a, const Measurements& b) {
    std::vector<double> of_limits, all;
    for (const Measurement& before : a.all) {
      const Measurement* const after = find(b, before);
      if (after == nullptr || !before.is_timed() || !after->is_timed()) continue;
      all.push_back(paired_ratio(after->seconds, before.seconds).ratio);
      if (before.role == Role::limit) of_limits.push_back(all.back());
    }
    return common_factor(of_limits, all);
  }

  /// Times of different machines are shown and not judged.
  ComparedRow compared(const Measurement* before, const Measurement* after) const {
    ComparedRow row;
    row.before = before;
    row.after = after;
    if (before == nullptr || after == nullptr) return row;
    if (before->error && after->error) {
      row.is_worse = has_grown(*before->error, *after->error, tolerance_);
      row.is_better = !row.is_worse && has_grown(*after->error, *before->error, tolerance_);
    }
    if (!before->is_timed() || !after->is_timed()) return row;
    row.time = paired_ratio(after->seconds, before->seconds);
    for (double* const each : {&row.time.ratio, &row.time.low, &row.time.high}) *each /= factor_;
    if (!same_machine_ || is_tie(row.time, noise_)) return row;
    row.is_slower = row.time.ratio > 1;
    row.is_faster = row.time.ratio < 1;
    return row;
  }

  double tolerance_, noise_;
  bool same_machine_;
  double factor_;  ///< of the machine, see common_factor()
  std::vector<ComparedRow> rows_;
};

std::string origin_text(const std::string& name, const std::string& file,
                        const Measurements& document) {
  // A model has at most 85 characters.
  return escaped(fmt::format("{}  {}", name, file)) + "\n   " + escaped(document.machine.model) +
         "\n   " +
         escaped(fmt::format("{}, posenc {}, kernels {}", document.compiler,
                             document.library_version, document.kernels)) +
         "\n";
}

/// "5000x512 float16, 2 threads, layout halves": what differs from the usual.
std::string name_of(const MeasuredTable& table) {
  const EncodingSpec usual = {.d_model = table.spec.d_model};
  std::string name = table.name;
  if (table.type != DataType::float32) name += fmt::format(" {}", to_string(table.type));
  if (table.threads > 1) name += ", " + threads_text(table.threads);
  if (table.rows.first != 0) name += fmt::format(", first {}", table.rows.first);
  if (table.spec != usual) name += ", " + spec_text(table.spec);
  return name;
}

std::string error_text_of(const Measurement* row) {
  return row != nullptr && row->error ? error_text(row->error->max_abs) : "-";
}

std::string speed_text_of(const Measurement* row) {
  if (row == nullptr || !row->is_timed()) return "-";
  return fmt::format("{:.2f}", row->table.entries() / median(row->seconds) / 1e9);
}

std::string ratio_text(const ComparedRow& row) {
  if (row.before == nullptr || row.after == nullptr || !row.before->is_timed() ||
      !row.after->is_timed())
    return "-";
  if (!std::isfinite(row.time.high)) return fmt::format("{:.3f}", row.time.ratio);
  return fmt::format("{:.3f} ({:.3f} .. {:.3f})", row.time.ratio, row.time.low, row.time.high);
}

std::string verdict_text(const Comparison& comparison) {
  const auto bad = comparison.regressions(), missing = comparison.missing();
  std::string text =
      fmt::format("{} compared, noise {:.1f} %: {}", comparison.common(), 100 * comparison.noise(),
                  bad == 0   ? "no regression"
                  : bad == 1 ? "1 regression"
                             : fmt::format("{} regressions", bad));
  if (missing > 0)
    text += fmt::format("; {} of A {} missing in B", missing, missing == 1 ? "is" : "are");
  if (!comparison.same_machine()) text += "; times are of different CPUs, and are not judged";
  if (comparison.factor() != 1) {
    text += fmt::format(
        "\nThe machine took {:.3f} times as long in B, its store limits and copies, too: times B/A "
        "are without that factor",
        comparison.factor());
  }
  return wrapped(text + "\n");
}

/// The rows that changed, the worst first; the others are counted.
std::string table_text(const Comparison& comparison) {
  constexpr std::size_t most_shown = 24;
  std::vector<const ComparedRow*> changed;
  for (const ComparedRow& row : comparison.rows()) {
    if (row.verdict() != "same" || !comparison.same_machine()) changed.push_back(&row);
  }
  const auto badness = [](const ComparedRow* row) {
    const bool is_missing = row->after == nullptr, is_added = row->before == nullptr;
    return std::tuple(!row->is_worse, !row->is_slower, !is_missing, is_added,
                      row->is_slower ? -row->time.ratio : row->time.ratio);
  };
  std::ranges::stable_sort(changed, {}, badness);
  std::map<std::string, std::size_t> others;
  for (const ComparedRow& row : comparison.rows()) ++others[row.verdict()];
  Table table({{"backend", Align::left},
               {"table", Align::left},
               {"max |error| A"},
               {"B"},
               {"Gfloat/s A"},
               {"B"},
               {"time B/A, 95 %"},
               {"", Align::left}});
  changed.resize(std::min(changed.size(), most_shown));
  for (const ComparedRow* const row : changed) {
    --others[row->verdict()];
    table.add_row({row->any().full_name(), name_of(row->any().table), error_text_of(row->before),
                   error_text_of(row->after), speed_text_of(row->before), speed_text_of(row->after),
                   ratio_text(*row), row->verdict()});
  }
  std::vector<std::string> counted;
  for (const auto& [verdict, count] : others) {
    if (count > 0) counted.push_back(fmt::format("{} {}", count, verdict));
  }
  std::string text = changed.empty() ? "" : table.text();
  if (!counted.empty())
    text += wrapped(
        fmt::format("{}Not shown: {}\n", text.empty() ? "" : "\n", fmt::join(counted, ", ")));
  return text;
}

std::string json_text(const CompareOptions& options, const Comparison& comparison) {
  Json document = new_document();
  document["before"] = options.before;
  document["after"] = options.after;
  document["noise_floor"] = comparison.noise();
  document["common_factor"] = comparison.factor();
  document["times_are_judged"] = comparison.same_machine();
  document["regressions"] = comparison.regressions();
  document["missing"] = comparison.missing();
  document["rows"] = Json::array();
  for (const ComparedRow& row : comparison.rows()) {
    document["rows"].push_back({{"backend", row.any().full_name()},
                                {"table", row.any().table.name},
                                {"before", row.before ? to_json(*row.before) : Json()},
                                {"after", row.after ? to_json(*row.after) : Json()},
                                {"time_ratio", row.time.ratio},
                                {"verdict", row.verdict()}});
  }
  return text_of(document);
}

std::regex regex_of(const std::string& filter) {
  try {
    return std::regex(filter.empty() ? ".*" : filter, std::regex::extended);
  } catch (const std::regex_error&) {
    throw InvalidArgument(
        fmt::format("--filter is '{}'; allowed: an extended regular expression", filter));
  }
}

int compare(const CompareOptions& options) {
  const std::regex pattern = regex_of(options.filter);
  const Measurements before = read_measurements(options.before);
  const Measurements after = read_measurements(options.after);
  Comparison comparison(before, after, options.tolerance.value_or(0));
  comparison.apply(options.filter, pattern);
  const std::string reports = reports_side_by_side(options.before, options.after, pattern);
  const bool shares_rows = comparison.common() > 0;
  if (!shares_rows && reports.empty()) {
    throw InvalidArgument(fmt::format(
        "{} and {} have no backend and table in common; allowed: documents that share one, or "
        "accuracy reports of one table",
        options.before, options.after));
  }
  std::string page =
      origin_text("A", options.before, before) + origin_text("B", options.after, after);
  if (shares_rows)
    page += fmt::format("\n{}\n{}", table_text(comparison), verdict_text(comparison));
  if (!reports.empty()) page += "\n" + reports;
  if (!shares_rows) page += "\nDifferent backends are not judged.\n";
  write_page(options.common.output,
             options.common.format == "json" ? json_text(options, comparison) : page);
  if (!shares_rows) return good;
  const bool is_good =
      comparison.regressions() == 0 && (options.allows_missing || comparison.missing() == 0);
  return is_good ? good : check_failed;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App& command = add_subcommand(
      app, "compare",
      "Compare two documents of measurements; exit 1 on a regression, or if B lacks a row of A",
      action, [options] { return compare(*options); });
  const std::string what = "JSON of posenc measure or posenc accuracy";
  add_file_argument(command, options->before, "A", what);
  add_file_argument(command, options->after, "B", what + ", compared with A");
  add_real_option(command, options->tolerance, "--tolerance", Sign::not_negative,
                  "relative growth of an error, or of the share wrongly rounded, that is no "
                  "regression (default: 0; for builds of two compilers: 0.01)");
  add_text_option(command, options->filter, "--filter", "REGEX",
                  "compare only the backends whose names, such as rotation:avx2, contain a match "
                  "of this extended regular expression");
  add_flag(command, options->allows_missing, "--allow-missing",
           "accept that B lacks backends or tables of A");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common);
  describe(command,
           {{"posenc compare before.json after.json", "what changed in errors and in times"},
            {"posenc compare rotation32.json div_term.json",
             "accuracy reports of two backends side by side, by position and channel"},
            {"posenc compare --filter ^rotation: --tolerance 0.01 a.json b.json",
             "one backend, whose errors may grow by one percent"},
            {"posenc compare --format json a.json b.json", "the same for programs"}});
}

}  // namespace posenc::cli
