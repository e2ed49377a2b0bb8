// posenc compare: two accuracy reports side by side.
#include "cli/compare.h"

#include "cli/commands.h"
#include "cli/escape.h"
#include "cli/options.h"
#include "cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

namespace posenc::cli {
namespace {

struct CompareOptions {
  CommonOptions common;
  std::string before;
  std::string after;
  std::optional<double> tolerance;
  std::string filter;
  bool allows_missing = false;
};

std::regex regex_of(const std::string& filter) {
  try {
    return std::regex(filter.empty() ? ".*" : filter, std::regex::extended);
  } catch (const std::regex_error&) {
    throw InvalidArgument(
        fmt::format("--filter is '{}'; allowed: an extended regular expression", filter));
  }
}

NamedJson read(const std::string& file) {
  NamedJson read = {file, read_json(file)};
  if (read.document.is_object() && read.document.contains("benchmarks")) {
    throw InvalidArgument(
        fmt::format("{} is a result of Google Benchmark; allowed: accuracy reports (speeds are "
                    "compared by Google Benchmark's compare.py, Debian: libbenchmark-tools)",
                    file));
  }
  if (read.document.is_object() && read.document.contains("results")) return read;
  throw InvalidArgument(
      fmt::format("{} is another kind of JSON; allowed: JSON of posenc accuracy", file));
}

std::string text_at(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json.at(key).is_string()
             ? json.at(key).get<std::string>()
             : "";
}

/// CPU, compiler and library version of a report, as far as it names them.
std::string origin_text(const Json& report) {
  std::vector<std::string> parts = {text_at(report.value("cpu", Json()), "model"),
                                    text_at(report, "compiler"),
                                    text_at(report, "library_version")};
  std::erase(parts, "");
  return parts.empty() ? "" : "\n   " + escaped(fmt::format("{}", fmt::join(parts, ", ")));
}

bool is_good(const CompareOptions& options, const Comparison& comparison) {
  return comparison.regressions == 0 && (options.allows_missing || comparison.missing == 0);
}

std::string verdict_text(const Comparison& comparison) {
  const std::string verdict = comparison.regressions == 0 ? "No regression"
                              : comparison.regressions == 1
                                  ? "1 regression"
                                  : fmt::format("{} regressions", comparison.regressions);
  if (comparison.missing == 0) return verdict;
  return fmt::format("{}; {} of A {} missing in B", verdict, comparison.missing,
                     comparison.missing == 1 ? "is" : "are");
}

std::string table_text(const NamedJson& before, const NamedJson& after,
                       const Comparison& comparison) {
  return fmt::format("A  {}{}\nB  {}{}\n\n{}\n{}\n", escaped(before.file),
                     origin_text(before.document), escaped(after.file), origin_text(after.document),
                     comparison.table, verdict_text(comparison));
}

std::string json_text(const CompareOptions& options, const Comparison& comparison) {
  Json document = new_document();
  document["before"] = options.before;
  document["after"] = options.after;
  document["regressions"] = comparison.regressions;
  document["missing"] = comparison.missing;
  document["rows"] = comparison.rows;
  return text_of(document);
}

int compare(const CompareOptions& options) {
  const ComparisonRules rules = {options.tolerance.value_or(0), options.filter,
                                 regex_of(options.filter)};
  const NamedJson before = read(options.before);
  const NamedJson after = read(options.after);
  const Comparison comparison = compare_accuracy(before, after, rules);
  write_page(options.common.output, options.common.format == "json"
                                        ? json_text(options, comparison)
                                        : table_text(before, after, comparison));
  return is_good(options, comparison) ? good : check_failed;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App& command = add_subcommand(
      app, "compare",
      "Compare two accuracy reports; exit 1 if an error has grown or B lacks a backend of A",
      action, [options] { return compare(*options); });
  add_file_argument(command, options->before, "A", "JSON of posenc accuracy");
  add_file_argument(command, options->after, "B", "JSON of posenc accuracy, compared with A");
  add_real_option(command, options->tolerance, "--tolerance", Sign::not_negative,
                  "relative growth of an error, or of the share wrongly rounded, that is no "
                  "regression (default: 0; for builds of two compilers: 0.01)");
  add_text_option(command, options->filter, "--filter", "REGEX",
                  "compare only the backends whose names, such as rotation:avx2, contain a match "
                  "of this extended regular expression");
  add_flag(command, options->allows_missing, "--allow-missing",
           "accept that B lacks backends of A");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common);
  describe(command,
           {{"posenc compare before.json after.json", "what changed between two accuracy reports"},
            {"posenc compare --filter ^rotation: --tolerance 0.01 a.json b.json",
             "one backend, whose errors may grow by one percent"},
            {"posenc compare --format json a.json b.json", "the same for programs"}});
}

}  // namespace posenc::cli
