// Measurements in JSON, for the library and the command. Internal: not installed.
#pragma once

#include "posenc/suite/measurement.h"

#include <nlohmann/json.hpp>
#include <string>

namespace posenc::suite {
inline namespace internals {

using Json = nlohmann::ordered_json;

Json to_json(const EncodingSpec& spec);
Json to_json(RowRange rows);
Json to_json(const Cpu& machine);
Json to_json(const Measurement& measured);
Json to_json(const Measurements& document);
/// The document as indented text, with one line per measurement. JSON has no infinity and no NaN,
/// so null is written for them.
std::string text_of(const Json& document);

/// Reads a measurement. `path` is the path of `value` in its document, for messages. Throws
/// InvalidArgument.
Measurement measurement_from(const Json& value, const std::string& path = "");

/// Parses a document. Throws InvalidArgument with a one-line message if the text holds none.
Measurements measurements_from(const std::string& text);

/// The part of a benchmark's name that describes its table. It is "rows:512/d:512", plus everything
/// that differs from the paper's float32 table encoded by one thread:
/// "preset:whisper/rows:1500/d:1280/stride:1296/dtype:float16/stores:cached/threads:2".
std::string benchmark_path(const MeasuredTable& table);

/// The document in the JSON format of Google Benchmark, which compare.py and dashboards read: one
/// benchmark for each row that was timed, with one repetition for each process.
Json google_benchmark_document(const Measurements& document);

}  // namespace internals
}  // namespace posenc::suite
