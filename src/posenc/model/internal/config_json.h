// The text of a config.json as JSON. Internal: not installed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace posenc {

using ConfigJson = nlohmann::json;

/// Accepts what Python's json module writes. A number that JSON does not have, NaN or Infinity, or
/// that double does not have, becomes its text, so that only the key that needs a number refuses
/// it. Throws InvalidArgument unless the text is an object, in which no object has a key twice, and
/// which is nested at most max_json_depth deep (support/limits.h).
ConfigJson parse_config(std::string_view text);

/// The value in a line of printable characters, shortened if it is long: 'linear', 4.0, [16, 24].
std::string text_of(const ConfigJson& value);
/// The name of a key, likewise.
std::string name_of_key(std::string_view key);

/// Throws InvalidArgument: "name is value; allowed: ...".
[[noreturn]] void refuse(const std::string& name, const ConfigJson& value,
                         std::string_view allowed);

}  // namespace posenc
