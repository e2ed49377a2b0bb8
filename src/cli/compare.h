// Two results of one kind side by side.
#pragma once

#include "cli/json.h"

#include <string>

namespace posenc::cli {

struct Comparison {
  std::string table;  ///< for people
  Json rows;          ///< for programs: one object a row
  int regressions = 0;
};

struct NamedJson {
  std::string file;
  Json document;
};

bool is_accuracy(const Json& document);
bool is_benchmark(const Json& document);

// Each throws InvalidArgument, naming the file, where a document lacks what it needs or the two have nothing in common.

/// Accuracy is exact: any worsening of max |error| or of the share correctly rounded is a regression.
Comparison compare_accuracy(const NamedJson& before, const NamedJson& after);

/// Google Benchmark: the medians over repetitions; slower beyond the noise of the repetitions is a regression.
Comparison compare_benchmarks(const NamedJson& before, const NamedJson& after);

}  // namespace posenc::cli
