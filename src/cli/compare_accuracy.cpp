#include "cli/compare.h"
#include "cli/table.h"
#include "cli/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace posenc::cli {
namespace {

/// Changes below this come from printing and reading a number; one entry changes far more.
constexpr double rounding = 1e-12;

struct Result {
  std::string name;   ///< "rotation:avx2"
  std::string shape;  ///< spec and rows: what must agree for a comparison to mean anything
  double max_abs;
  double max_ulp;
  double rms;
  double correctly_rounded;
};

/// JSON has no infinity and no NaN: such an error is written as null, and is worse than any number.
double error_of(const Json& result, const char* key) {
  const Json& value = result.at(key);
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

Result result_of(const Json& json) {
  const Json& spec = json.at("spec");
  const Json& rows = json.at("rows");
  return {.name = fmt::format("{}:{}", json.at("backend").get<std::string>(),
                              json.at("isa").get<std::string>()),
          .shape = fmt::format(
              "{} x {}, {}, first {}, base {}, {}, {}{}", rows.at("count").get<std::int64_t>(),
              spec.at("d_model").get<std::int64_t>(), json.at("dtype").get<std::string>(),
              rows.at("first").get<std::int64_t>(), spec.at("base").get<double>(),
              spec.at("layout").get<std::string>(), spec.at("spacing").get<std::string>(),
              spec.contains("frequencies") ? ", " + spec.at("frequencies").get<std::string>() : ""),
          .max_abs = error_of(json, "max_abs"),
          .max_ulp = error_of(json, "max_ulp"),
          .rms = error_of(json, "rms"),
          .correctly_rounded = json.at("correctly_rounded").get<double>()};
}

std::vector<Result> results_of(const NamedJson& read) {
  if (read.document.value("version", Json()) != 1)
    throw InvalidArgument(fmt::format("{} is of another format version; allowed: 1", read.file));
  std::vector<Result> results;
  try {
    for (const Json& each : read.document.at("results")) results.push_back(result_of(each));
  } catch (const Json::exception&) {
    throw InvalidArgument(
        fmt::format("{} is not a complete accuracy report (results[{}]); allowed: JSON of posenc "
                    "accuracy",
                    read.file, results.size()));
  }
  return results;
}

const Result* find(const std::vector<Result>& results, const Result& wanted) {
  for (const Result& each : results) {
    if (each.name == wanted.name && each.shape == wanted.shape) return &each;
  }
  return nullptr;
}

/// Removes the results whose names the filter does not take. Throws InvalidArgument, listing the
/// names, if nothing is left of either report.
void apply(const ComparisonRules& rules, std::vector<Result>& a, std::vector<Result>& b) {
  std::vector<std::string> names;
  for (const auto* results : {&a, &b}) {
    for (const Result& each : *results) {
      if (std::ranges::count(names, each.name) == 0) names.push_back(each.name);
    }
  }
  const auto is_refused = [&rules](const Result& each) {
    return !std::regex_search(each.name, rules.pattern);
  };
  std::erase_if(a, is_refused);
  std::erase_if(b, is_refused);
  if (!a.empty() || !b.empty()) return;
  throw InvalidArgument(fmt::format("--filter is '{}'; allowed: what matches one of {}",
                                    rules.filter, fmt::join(names, ", ")));
}

/// True if `after` exceeds `before` by more than the tolerance.
bool has_grown(double before, double after, double tolerance) {
  return after > before * (1 + tolerance);
}

bool is_worse(const Result& before, const Result& after, double tolerance) {
  return has_grown(before.max_abs, after.max_abs, std::max(tolerance, rounding)) ||
         has_grown(1 - before.correctly_rounded + rounding, 1 - after.correctly_rounded, tolerance);
}

/// A regression in one figure counts, whatever the other figures do.
std::string verdict(const Result& before, const Result& after, double tolerance) {
  if (is_worse(before, after, tolerance)) return "regression";
  return is_worse(after, before, tolerance) ? "better" : "same";
}

/// The table and its JSON. Results of one shape stand together under a heading.
class Rows {
 public:
  explicit Rows(double tolerance) : tolerance_(tolerance) {}

  void add(const Result* before, const Result* after) {
    const Result& known = before != nullptr ? *before : *after;
    const std::string said = before == nullptr  ? "only in B"
                             : after == nullptr ? "only in A"
                                                : verdict(*before, *after, tolerance_);
    if (said == "regression") ++regressions_;
    if (after == nullptr) ++missing_;
    if (known.shape != shape_) {
      if (!table_.empty()) table_.add_gap();
      table_.add_heading(known.shape);
      shape_ = known.shape;
    }
    const auto text = [&](double Result::*figure, std::string (*text_of)(double)) {
      const auto one = [&](const Result* result) {
        return result != nullptr ? text_of(result->*figure) : "-";
      };
      return std::pair(one(before), one(after));
    };
    const auto [max_a, max_b] = text(&Result::max_abs, error_text);
    const auto [rms_a, rms_b] = text(&Result::rms, error_text);
    const auto [right_a, right_b] = text(&Result::correctly_rounded, percent_text);
    table_.add_row({known.name, max_a, max_b, rms_a, rms_b, right_a, right_b, said});
    json_.push_back({{"name", known.name},
                     {"shape", known.shape},
                     {"before", figures(before)},
                     {"after", figures(after)},
                     {"verdict", said}});
  }

  Comparison result() && { return {table_.text(), std::move(json_), regressions_, missing_}; }

 private:
  static Json figures(const Result* result) {
    if (result == nullptr) return {};
    return {{"max_abs", result->max_abs},
            {"max_ulp", result->max_ulp},
            {"rms", result->rms},
            {"correctly_rounded", result->correctly_rounded}};
  }

  Table table_{{{"backend", Align::left},
                {"max |error| A"},
                {"B"},
                {"RMS A"},
                {"B"},
                {"correct A"},
                {"B"},
                {"", Align::left}}};
  std::string shape_;
  Json json_ = Json::array();
  double tolerance_;
  int regressions_ = 0;
  int missing_ = 0;
};

}  // namespace

Comparison compare_accuracy(const NamedJson& before, const NamedJson& after,
                            const ComparisonRules& rules) {
  std::vector<Result> a = results_of(before);
  std::vector<Result> b = results_of(after);
  apply(rules, a, b);
  Rows rows(rules.tolerance);
  int common = 0;
  for (const Result& each : a) {
    const Result* found = find(b, each);
    common += found != nullptr;
    rows.add(&each, found);
  }
  for (const Result& each : b) {
    if (find(a, each) == nullptr) rows.add(nullptr, &each);
  }
  if (common == 0) {
    throw InvalidArgument(fmt::format(
        "{} and {} have no backend, spec and rows in common; allowed: reports that share one",
        before.file, after.file));
  }
  return std::move(rows).result();
}

}  // namespace posenc::cli
