// Two accuracy reports side by side.
#pragma once

#include "cli/json.h"

#include <regex>
#include <string>

namespace posenc::cli {

struct Comparison {
  std::string table;  ///< for people
  Json rows;          ///< for programs: one object per row
  int regressions = 0;
  int missing = 0;  ///< results of A that B lacks
};

struct ComparisonRules {
  double tolerance = 0;  ///< relative growth of an error that is no regression
  std::string filter;    ///< as given
  std::regex pattern;    ///< that the names of the compared backends contain
};

/// A file and the document that it holds.
struct NamedJson {
  std::string file;
  Json document;
};

/// Errors are deterministic: unless the tolerance accepts it, any growth of max |error| or of the
/// share that is wrongly rounded is a regression. Throws InvalidArgument, naming the file, if a
/// document is not an accuracy report or the two have nothing in common.
Comparison compare_accuracy(const NamedJson& before, const NamedJson& after,
                            const ComparisonRules& rules);

}  // namespace posenc::cli
