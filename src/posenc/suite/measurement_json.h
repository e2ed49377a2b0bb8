// Measurements in JSON, for the library and the command. Internal: not installed.
#pragma once

#include "posenc/suite/measurement.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace posenc::suite {

using Json = nlohmann::ordered_json;

Json to_json(const EncodingSpec& spec);
Json to_json(RowRange rows);
Json to_json(const Cpu& machine);
Json to_json(const Measurement& measured);
Json to_json(const Measurements& document);
/// Indented, with one line for each of its measurements. JSON has no infinity and no NaN: they are
/// written as null.
std::string text_of(const Json& document);

/// `path` is that of the value in its document, for messages. Throws InvalidArgument.
Measurement measurement_from(const Json& value, const std::string& path = "");

/// The document in that text. Throws InvalidArgument, in one line, if it holds none.
Measurements measurements_from(const std::string& text);

}  // namespace posenc::suite
