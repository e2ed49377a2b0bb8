#include "cli/compare.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/support/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posenc::cli {
namespace {

/// The least change that counts. With few repetitions the noise is not known: then a change must be
/// large.
constexpr double least_change = 0.02;
constexpr double least_change_of_few = 0.10;
constexpr std::size_t few_repetitions = 5;

struct Benchmark {
  std::string name;
  std::vector<double> seconds;  ///< of an iteration, one a repetition
  std::string error;            ///< empty where it ran
  std::pair<int, int>
      place;  ///< in the order of registration; a random order of runs leaves another in the file
};

double seconds_in(const std::string& unit) {
  static const std::map<std::string, double> units = {
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const auto found = units.find(unit);
  if (found == units.end())
    throw InvalidArgument(fmt::format("time_unit is '{}'; allowed: ns, us, ms, s", unit));
  return found->second;
}

/// Repetitions of one name together. Aggregates say less than the repetitions: left out.
void add(const Json& entry, std::vector<Benchmark>& all) {
  if (entry.value("run_type", "iteration") != "iteration") return;
  const std::string name = entry.contains("run_name") ? entry.at("run_name").get<std::string>()
                                                      : entry.at("name").get<std::string>();
  auto found = std::ranges::find(all, name, &Benchmark::name);
  if (found == all.end()) {
    found = all.insert(
        all.end(), {name,
                    {},
                    "",
                    {entry.value("family_index", 0), entry.value("per_family_instance_index", 0)}});
  }
  if (entry.value("error_occurred", false)) {
    found->error = entry.value("error_message", "error");
  } else {
    found->seconds.push_back(entry.at("real_time").get<double>() *
                             seconds_in(entry.value("time_unit", "ns")));
  }
}

std::vector<Benchmark> benchmarks_of(const NamedJson& read) {
  std::vector<Benchmark> all;
  try {
    for (const Json& each : read.document.at("benchmarks")) add(each, all);
  } catch (const Json::exception&) {
    throw InvalidArgument(fmt::format(
        "{} is no complete benchmark result; allowed: JSON of Google Benchmark", read.file));
  }
  if (all.empty()) {
    throw InvalidArgument(
        fmt::format("{} has no repetitions; allowed: results with them (not "
                    "--benchmark_report_aggregates_only)",
                    read.file));
  }
  std::ranges::stable_sort(all, {}, &Benchmark::place);
  return all;
}

bool ran(const Benchmark& benchmark) {
  return benchmark.error.empty() && !benchmark.seconds.empty();
}

/// Beyond noise: the 95 % intervals of the two medians do not meet, and the change is not a small
/// one.
std::string verdict(const Benchmark& before, const Benchmark& after,
                    std::optional<double> tolerance) {
  if (!ran(after)) return ran(before) ? "regression: " + after.error : "fails in both";
  if (!ran(before)) return "better: ran";
  const bool few = std::min(before.seconds.size(), after.seconds.size()) < few_repetitions;
  const double least = 1 + tolerance.value_or(few ? least_change_of_few : least_change);
  const double ratio = median(after.seconds) / median(before.seconds);
  const Interval a = median_interval(before.seconds);
  const Interval b = median_interval(after.seconds);
  if (ratio > least && b.low > a.high) return "regression";
  if (ratio < 1 / least && b.high < a.low) return "better";
  return "same";
}

std::string time_text(const Benchmark* benchmark) {
  if (benchmark == nullptr) return "-";
  return ran(*benchmark) ? seconds_text(median(benchmark->seconds)) : "error";
}

std::string iqr_text(const Benchmark* benchmark) {
  if (benchmark == nullptr || !ran(*benchmark) || benchmark->seconds.size() < 2) return "";
  return fmt::format("± {:.1f} %", 100 * relative_iqr(benchmark->seconds));
}

Json figures(const Benchmark* benchmark) {
  if (benchmark == nullptr) return {};
  if (!ran(*benchmark)) return {{"error", benchmark->error}};
  return {{"median_seconds", median(benchmark->seconds)},
          {"relative_iqr", relative_iqr(benchmark->seconds)},
          {"repetitions", benchmark->seconds.size()}};
}

Cell coloured(const std::string& verdict) {
  if (verdict == "same") return {verdict, Colour::faint};
  if (verdict.starts_with("regression")) return {verdict, Colour::red};
  return {verdict, verdict.starts_with("better") ? Colour::green : Colour::none};
}

class Rows {
 public:
  explicit Rows(std::optional<double> tolerance) : tolerance_(tolerance) {}

  void add(const Benchmark* before, const Benchmark* after) {
    const std::string& name = before != nullptr ? before->name : after->name;
    const std::string said = before == nullptr  ? "only in B"
                             : after == nullptr ? "only in A"
                                                : verdict(*before, *after, tolerance_);
    if (said.starts_with("regression")) ++regressions_;
    if (after == nullptr) ++missing_;
    const bool both = before != nullptr && after != nullptr && ran(*before) && ran(*after);
    const std::string change =
        both
            ? fmt::format("{:+.1f} %", 100 * (median(after->seconds) / median(before->seconds) - 1))
            : "";
    table_.add_row({name, time_text(before), iqr_text(before), time_text(after), iqr_text(after),
                    change, coloured(said)});
    json_.push_back({{"name", name},
                     {"before", figures(before)},
                     {"after", figures(after)},
                     {"verdict", said}});
  }

  Comparison result() && { return {table_.text(), std::move(json_), regressions_, missing_}; }

 private:
  Table table_{{{"benchmark", Align::wrapped},
                {"median A"},
                {"IQR/2"},
                {"median B"},
                {"IQR/2"},
                {"change"},
                {"", Align::wrapped}}};
  Json json_ = Json::array();
  std::optional<double> tolerance_;
  int regressions_ = 0;
  int missing_ = 0;
};

const Benchmark* find(const std::vector<Benchmark>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Benchmark::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

Comparison compare_benchmarks(const NamedJson& before, const NamedJson& after,
                              const ComparisonRules& rules) {
  std::vector<Benchmark> a = benchmarks_of(before);
  std::vector<Benchmark> b = benchmarks_of(after);
  apply(rules.filter, a, b);
  Rows rows(rules.tolerance);
  int common = 0;
  for (const Benchmark& each : a) {
    const Benchmark* found = find(b, each.name);
    common += found != nullptr;
    rows.add(&each, found);
  }
  for (const Benchmark& each : b) {
    if (find(a, each.name) == nullptr) rows.add(nullptr, &each);
  }
  if (common == 0)
    throw InvalidArgument(
        fmt::format("{} and {} have no benchmark in common; allowed: results of the same",
                    before.file, after.file));
  return std::move(rows).result();
}

}  // namespace posenc::cli
