// Measurements in JSON, for the library and the command. Internal: not installed.
#pragma once

#include "posenc/suite/measuring/measurement.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace posenc::suite {

using Json = nlohmann::ordered_json;

/// Why a document cannot be used. what() completes a sentence that begins with its path.
class BadDocument : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// JSON has no infinity and no NaN: they are written as null.
Json number_or_null(double value);
Json to_json(const EncodingSpec& spec);
Json to_json(RowRange rows);
Json to_json(const Cpu& machine);
Json to_json(const Measurement& measured);
Json to_json(const Measurements& document);
/// Indented, with one line for each of its measurements.
std::string text_of(const Json& document);

// These throw BadDocument.

/// `path` is that of the value in its document, for messages.
Measurement measurement_from(const Json& value, const std::string& path = "");
Json parse_json(const std::string& text);
Measurements parse_measurements(const std::string& text);

/// Throws InvalidArgument, listing the allowed names.
Role parse_role(std::string_view name);

}  // namespace posenc::suite
