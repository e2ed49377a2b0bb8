// Parsing of JSON that comes from outside. Internal: not installed.
#pragma once

#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/limits.h"
#include "posenc/support/printable.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::detail {

/// The text as a document of nlohmann/json. Throws its exceptions, and InvalidArgument for what it
/// would accept: keys that are given twice, deep nesting, anything after a NUL byte, and any
/// length. `what` begins the messages: "the configuration".
template <class AnyJson>
AnyJson parse_json_text(std::string_view text, std::string_view what) {
  if (text.size() > max_document_bytes)
    throw_invalid("{} has {} bytes; allowed: at most {}", what, text.size(), max_document_bytes);
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
    throw_invalid("{} has a NUL byte, number {}; allowed: none", what, at + 1);
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, typename AnyJson::parse_event_t event, const AnyJson& parsed) {
    using Event = typename AnyJson::parse_event_t;
    if (depth > max_json_depth)
      throw_invalid("{} is nested {} deep; allowed: at most {}", what, depth, max_json_depth);
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.template get<std::string>()).second) {
      const auto& key = parsed.template get_ref<const std::string&>();
      throw_invalid("{} is given twice; allowed: once", shortened(escaped(key), max_quoted_bytes));
    }
    return true;
  };
  return AnyJson::parse(text, check);
}

}  // namespace posenc::detail
