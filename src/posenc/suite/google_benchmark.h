// Documents in the JSON format of Google Benchmark, which compare.py and dashboards read. Internal:
// not installed.
#pragma once

#include "posenc/suite/measurement_json.h"

#include <string>

namespace posenc::suite {

/// The part of a benchmark's name that describes its table. It is "rows:512/d:512", plus everything
/// that differs from the paper's float32 table encoded by one thread:
/// "preset:whisper/rows:1500/d:1280/stride:1296/dtype:float16/stores:cached/threads:2".
std::string benchmark_path(const MeasuredTable& table);

/// Returns one benchmark for each row that was timed, with one repetition for each process.
Json google_benchmark_document(const Measurements& document);

}  // namespace posenc::suite
