// Documents in the JSON format of Google Benchmark, which compare.py and dashboards read. Internal:
// not installed.
#pragma once

#include "posenc/suite/measurement_json.h"

#include <string>

namespace posenc::suite {

/// What names of benchmarks say of a table: "rows:512/d:512", and all that differs from the paper's
/// float32 table encoded by one thread, as in
/// "preset:whisper/rows:1500/d:1280/stride:1296/dtype:float16/stores:cached/threads:2".
std::string benchmark_path(const MeasuredTable& table);

/// A benchmark for each row that was timed, with a repetition for each process.
Json google_benchmark_document(const Measurements& document);

}  // namespace posenc::suite
