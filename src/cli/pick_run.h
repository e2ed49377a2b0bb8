// A pick on one CPU for one element type and thread count, made here or read from JSON.
#pragma once

#include "cli/json.h"

#include "posenc/tuning/pick.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace posenc::cli {

struct PickRun {
  std::string cpu;
  std::vector<std::string> isas;
  DataType type = DataType::float32;
  int threads = 1;
  int processes = 0;
  ErrorBudget budget;
  std::string disturbed;  ///< why the times cannot be trusted; empty if they can
  std::vector<PickMeasurement> measurements;
  std::vector<ClassDecision> decisions;
  std::optional<std::int64_t> most_cached_bytes = {};  ///< none if stores were not compared
  std::vector<std::string> files;  ///< that it was read from; empty if it was measured here
};

/// The JSON of a run, without the head of a document.
Json to_json(const PickRun& run);

/// The inverse of to_json(). Throw Json::exception or InvalidArgument.
EncodingSpec spec_of(const Json& json);
RowRange rows_of(const Json& json);

/// Reads documents of posenc pick. Those of one CPU, element type and thread count become one run,
/// decided under the given budget, or else their own. Throws InvalidArgument, which names the file,
/// if one is not such a document or its budget differs from the others'.
std::vector<PickRun> read_runs(const std::vector<std::string>& files,
                               const std::optional<ErrorBudget>& budget);

}  // namespace posenc::cli
