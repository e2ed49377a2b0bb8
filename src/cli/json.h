// Reading and writing JSON. Every document begins with the version of its format.
#pragma once

#include "posenc/spec.h"
#include "posenc/tuning/accuracy.h"

#include <nlohmann/json.hpp>
#include <string>

namespace posenc::cli {

using Json = nlohmann::ordered_json;

/// A document with "version", "library_version", "compiler" and "cpu".
Json new_document();

Json to_json(const EncodingSpec& spec);
Json to_json(RowRange rows);
Json to_json(const AccuracyReport& report);

std::string text_of(const Json& document);

/// Reads a JSON file. Throws InvalidArgument, which names the file, if it cannot be read or is not
/// JSON.
Json read_json(const std::string& file);

}  // namespace posenc::cli
