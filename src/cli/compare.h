// Two results of one kind side by side.
#pragma once

#include "cli/json.h"
#include "cli/name_filter.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace posenc::cli {

struct Comparison {
  std::string table;  ///< for people
  Json rows;          ///< for programs: one object a row
  int regressions = 0;
  int missing = 0;  ///< of A, in B
};

/// What counts, and what it is applied to.
struct ComparisonRules {
  std::optional<double> tolerance;  ///< relative growth that is accepted; none: the kind's own
  NameFilter filter{""};
};

struct NamedJson {
  std::string file;
  Json document;
};

bool is_accuracy(const Json& document);
bool is_benchmark(const Json& document);

// Each throws InvalidArgument, naming the file, where a document lacks what it needs or the two
// have nothing in common.

/// Errors are deterministic: unless the tolerance accepts it, any growth of max |error| or of the
/// share that is wrongly rounded is a regression.
Comparison compare_accuracy(const NamedJson& before, const NamedJson& after,
                            const ComparisonRules& rules);

/// Google Benchmark: the medians over repetitions. A regression is slower beyond the noise of the
/// repetitions and beyond the tolerance.
Comparison compare_benchmarks(const NamedJson& before, const NamedJson& after,
                              const ComparisonRules& rules);

/// Throws InvalidArgument, which lists the names.
[[noreturn]] void refuse(const NameFilter& filter, const std::vector<std::string>& names);

/// Leaves what the filter takes, by the member `name`. Throws InvalidArgument if nothing is left of
/// both.
template <class Result>
void apply(const NameFilter& filter, std::vector<Result>& a, std::vector<Result>& b) {
  std::vector<std::string> names;
  for (const auto* results : {&a, &b}) {
    for (const Result& each : *results) {
      if (std::ranges::count(names, each.name) == 0) names.push_back(each.name);
    }
  }
  const auto is_refused = [&filter](const Result& each) { return !filter.takes(each.name); };
  std::erase_if(a, is_refused);
  std::erase_if(b, is_refused);
  if (a.empty() && b.empty()) refuse(filter, names);
}

}  // namespace posenc::cli
