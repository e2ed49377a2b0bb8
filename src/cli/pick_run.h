// What posenc pick measured on one CPU for one element type and thread count: here, or read from
// its JSON.
#pragma once

#include "cli/json.h"

#include "posenc/tuning/pick.h"

#include <optional>
#include <string>
#include <vector>

namespace posenc::cli {

struct PickRun {
  std::string cpu;
  std::vector<std::string> isas;
  DataType type = DataType::float32;
  int threads = 1;
  int processes = 0;  ///< that were timed
  ErrorBudget budget;
  std::string disturbed;  ///< why the figures are no good; empty if they are
  std::vector<PickMeasurement> measurements;
  std::vector<ClassDecision> decisions;
  std::vector<std::string> files;  ///< it was read from; empty where measured here
};

/// The JSON of a run; the document of one that was measured here is the same with its head.
Json to_json(const PickRun& run);

/// What to_json() of them wrote. Throw Json::exception or InvalidArgument.
EncodingSpec spec_of(const Json& json);
RowRange rows_of(const Json& json);

/// Documents of posenc pick, those of one CPU, element type and thread count together, decided
/// under the budget: theirs where none is given. Throws InvalidArgument naming the file that is
/// none, or whose budget differs from the others'.
std::vector<PickRun> read_runs(const std::vector<std::string>& files,
                               const std::optional<ErrorBudget>& budget);

}  // namespace posenc::cli
