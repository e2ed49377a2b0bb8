// The JSON that programs read; every document begins with its format version.
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

/// Reads a whole JSON file. Throws InvalidArgument naming the file where it is not one.
Json read_json(const std::string& file);

}  // namespace posenc::cli
