// Measurements in JSON, for the library and the command. Internal: not installed.
#pragma once

#include "posenc/suite/measuring/measurement.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::suite {

using Json = nlohmann::ordered_json;

/// Why a document cannot be used. what() completes a sentence that begins with its path.
class BadDocument : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A value of a document, and its path in the document for messages. Each function throws
/// BadDocument if the value is not what is asked for.
struct JsonNode {
  const Json& value;
  std::string path;

  [[noreturn]] void fail(std::string_view wanted) const;
  JsonNode operator[](const char* key) const;
  bool has(const char* key) const;  ///< present, and not null
  std::vector<JsonNode> elements() const;
  std::string text() const;  ///< printable, of at most max_text_bytes
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  double non_negative(double if_null) const;
  std::vector<double> positive_numbers() const;

  /// What `parse` makes of the text; it throws InvalidArgument if the text is not allowed.
  template <class Parse>
  auto parsed(Parse parse) const {
    const std::string content = text();
    try {
      return parse(content);
    } catch (const InvalidArgument& error) {
      throw BadDocument(path + ": " + error.what());
    }
  }
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

Measurement measurement_from(const JsonNode& node);
Measurements measurements_from(const JsonNode& root);

/// Throws BadDocument.
Json parse_json(const std::string& text);
Measurements parse_measurements(const std::string& text);

}  // namespace posenc::suite
