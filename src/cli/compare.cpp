// posenc compare: two accuracy reports or benchmark results side by side.
#include "cli/compare.h"

#include "cli/colour.h"
#include "cli/commands.h"
#include "cli/escape.h"
#include "cli/options.h"
#include "cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace posenc::cli {

bool is_accuracy(const Json& document) {
  return document.is_object() && document.contains("version") && document.contains("results");
}
void refuse(const NameFilter& filter, const std::vector<std::string>& names) {
  throw InvalidArgument(fmt::format("--filter is '{}'; allowed: what matches one of {}",
                                    filter.pattern(), fmt::join(names, ", ")));
}

bool is_benchmark(const Json& document) {
  return document.is_object() && document.contains("benchmarks");
}

namespace {

struct CompareOptions {
  CommonOptions common;
  std::string before;
  std::string after;
  std::optional<double> tolerance;
  std::string filter;
  bool allows_missing = false;
};

NamedJson read(const std::string& file) {
  NamedJson read = {file, read_json(file)};
  if (is_accuracy(read.document) || is_benchmark(read.document)) return read;
  throw InvalidArgument(fmt::format(
      "{} is another kind of JSON; allowed: of posenc accuracy or of Google Benchmark", file));
}

Comparison compare_files(const NamedJson& before, const NamedJson& after,
                         const ComparisonRules& rules) {
  if (is_accuracy(before.document) != is_accuracy(after.document)) {
    throw InvalidArgument(fmt::format(
        "{} and {} are of different kinds; allowed: two accuracy reports or two benchmark results",
        before.file, after.file));
  }
  return is_accuracy(before.document) ? compare_accuracy(before, after, rules)
                                      : compare_benchmarks(before, after, rules);
}

std::string text_at(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json.at(key).is_string()
             ? json.at(key).get<std::string>()
             : "";
}

std::string cpu_of(const Json& document) {
  return is_accuracy(document) ? text_at(document.value("cpu", Json()), "model")
                               : text_at(document.value("context", Json()), "cpu");
}

/// Where a result is from, as far as it says: CPU, compiler, version, commit.
std::string origin_text(const Json& document) {
  const Json said = is_accuracy(document) ? document : document.value("context", Json());
  std::vector<std::string> parts = {cpu_of(document), text_at(said, "compiler"),
                                    text_at(said, "library_version"),
                                    text_at(said, "posenc_commit")};
  std::erase(parts, "");
  return parts.empty() ? "" : "\n   " + escaped(fmt::format("{}", fmt::join(parts, ", ")));
}

/// Times of two CPUs differ by more than a commit changes: said before the table.
std::string machines_text(const Json& before, const Json& after) {
  const std::string a = cpu_of(before), b = cpu_of(after);
  return is_benchmark(before) && !a.empty() && !b.empty() && a != b
             ? "Two CPUs: what is slower in B need not be the code\n"
             : "";
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

std::string table_text(const CompareOptions& options, const NamedJson& before,
                       const NamedJson& after, const Comparison& comparison) {
  const Colour colour = is_good(options, comparison) ? Colour::green : Colour::red;
  return fmt::format("A  {}{}\nB  {}{}\n{}\n{}\n{}\n", escaped(before.file),
                     origin_text(before.document), escaped(after.file), origin_text(after.document),
                     machines_text(before.document, after.document), comparison.table,
                     painted(verdict_text(comparison), colour));
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
  if (options.tolerance && !(*options.tolerance >= 0 && std::isfinite(*options.tolerance))) {
    throw InvalidArgument(
        fmt::format("--tolerance is {}; allowed: finite and at least 0", *options.tolerance));
  }
  const ComparisonRules rules = {options.tolerance, NameFilter(options.filter)};
  const NamedJson before = read(options.before);
  const NamedJson after = read(options.after);
  const Comparison comparison = compare_files(before, after, rules);
  write_page(options.common.output, options.common.format == "json"
                                        ? json_text(options, comparison)
                                        : table_text(options, before, after, comparison));
  return is_good(options, comparison) ? good : check_failed;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App& command = add_subcommand(app, "compare",
                                     "Two reports or benchmark results side by side; exit 1 on a "
                                     "regression, or where B lacks what A "
                                     "has",
                                     action, [options] { return compare(*options); });
  add_file_argument(command, options->before, "A",
                    "JSON of posenc accuracy, or of Google Benchmark");
  add_file_argument(command, options->after, "B", "JSON of the same kind, held against A");
  add_real_option(
      command, options->tolerance, "--tolerance",
      "relative growth that is no regression: of errors and of the share wrongly rounded, which "
      "repeat exactly (default: 0; 0.01 for builds of two compilers), or of times beyond their "
      "noise (default: 0.02, below 5 repetitions 0.1)");
  add_text_option(command, options->filter, "--filter", "REGEX",
                  "compare only the names in which this extended regular expression is found: of "
                  "backends, such as "
                  "^rotation:, or of benchmarks");
  add_flag(command, options->allows_missing, "--allow-missing",
           "accept that B lacks backends or benchmarks of A");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common, "file to write (default: standard output)");
  describe(command,
           {{"posenc compare before.json after.json", "what changed between two accuracy reports"},
            {"posenc compare --filter ^rotation: --tolerance 0.01 a.json b.json",
             "one backend, whose errors may grow by a hundredth"},
            {"posenc compare --format json a.json b.json", "the same for programs"}});
}

}  // namespace posenc::cli
