// Parsing of JSON that comes from outside. Internal: not installed.
#pragma once

#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/limits.h"
#include "posenc/support/printable.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::detail {

/// Refuses texts that nlohmann/json would accept. It builds nothing, and its time is proportional
/// to the length of the text. The library's own parser with a callback takes longer: at the end of
/// each array, it looks through all elements.
template <class AnyJson>
class JsonGuard final : public nlohmann::json_sax<AnyJson> {
 public:
  explicit JsonGuard(std::string_view what) : what_(what) {}

  bool key(std::string& key) override {
    if (keys_.back().insert(key).second) return true;
    throw_invalid("{} is given twice; allowed: once", shortened(escaped(key), max_quoted_bytes));
  }
  bool start_object(std::size_t) override { return begin(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(typename AnyJson::binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;  // the parser that builds the document throws this error
  }

 private:
  bool begin() {
    if (std::ssize(keys_) == max_json_depth)
      throw_invalid("{} is nested {} deep; allowed: at most {}", what_, max_json_depth + 1,
                    max_json_depth);
    keys_.emplace_back();
    return true;
  }
  bool end() {
    keys_.pop_back();
    return true;
  }

  std::string_view what_;
  std::vector<std::set<std::string>> keys_;  ///< keys of the enclosing objects and arrays
};

/// Parses the text to a document of nlohmann/json. Throws the exceptions of that library. Throws
/// InvalidArgument for texts that it would accept: keys that are given twice, deep nesting,
/// anything after a NUL byte, and excessive length. `what` begins the messages: "the
/// configuration".
template <class AnyJson>
AnyJson parse_json_text(std::string_view text, std::string_view what) {
  if (text.size() > max_document_bytes)
    throw_invalid("{} has {} bytes; allowed: at most {}", what, text.size(), max_document_bytes);
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
    throw_invalid("{} has a NUL byte at byte {}; allowed: none", what, at + 1);
  JsonGuard<AnyJson> guard(what);
  AnyJson::sax_parse(text, &guard);
  return AnyJson::parse(text);
}

}  // namespace posenc::detail
