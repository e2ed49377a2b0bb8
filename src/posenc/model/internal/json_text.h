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
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::detail {

/// Destroys all values below the given one. The destructor of nlohmann/json allocates memory for
/// values that hold others, and ends the program if there is none.
template <class AnyJson>
void dismantle(AnyJson& json) noexcept {
  if (!json.is_structured()) return;
  for (AnyJson& each : json) dismantle(each);
  json.clear();
}

/// Copies a value. If memory runs out, the copy is incomplete and can still be dismantled.
template <class AnyJson>
void copy(const AnyJson& from, AnyJson& to) {
  dismantle(to);
  if (from.is_array()) {
    to = AnyJson::array();
    for (const AnyJson& each : from) copy(each, to.emplace_back());
  } else if (from.is_object()) {
    to = AnyJson::object();
    for (const auto& [key, each] : from.items()) copy(each, to[key]);
  } else {
    to = from;
  }
}

/// A value that can be destroyed when no memory is left.
template <class AnyJson>
struct HeldJson {
  AnyJson json = {};

  HeldJson() = default;
  explicit HeldJson(const AnyJson& value) : HeldJson() { copy(value, json); }
  HeldJson(const HeldJson& other) : HeldJson(other.json) {}
  HeldJson(HeldJson&&) = default;
  HeldJson& operator=(HeldJson other) noexcept {
    json.swap(other.json);
    return *this;
  }
  ~HeldJson() { dismantle(json); }
};

/// Builds a document, and refuses texts that nlohmann/json would accept. Its time is proportional
/// to the length of the text. The library's own parser with a callback takes longer: at the end of
/// each array, it looks through all elements.
template <class AnyJson>
class JsonBuilder final : public nlohmann::json_sax<AnyJson> {
 public:
  JsonBuilder(std::string_view what, AnyJson& document) : what_(what), document_(document) {}

  bool key(std::string& key) override {
    const auto [place, is_new] = open_.back()->emplace(key, nullptr);
    if (!is_new)
      throw_invalid("{} is given twice; allowed: once", shortened(escaped(key), max_quoted_bytes));
    member_ = &*place;
    return true;
  }
  bool start_object(std::size_t) override { return begin(AnyJson::object()); }
  bool start_array(std::size_t) override { return begin(AnyJson::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(typename AnyJson::binary_t&) override { return false; }  // not in texts
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    if (const auto* const of_syntax = dynamic_cast<const typename AnyJson::parse_error*>(&error))
      throw *of_syntax;
    throw dynamic_cast<const typename AnyJson::out_of_range&>(error);  // a number
  }

 private:
  bool begin(AnyJson&& empty) {
    if (std::ssize(open_) == max_json_depth)
      throw_invalid("{} is nested {} deep; allowed: at most {}", what_, max_json_depth + 1,
                    max_json_depth);
    return add(std::move(empty));
  }
  bool end() {
    open_.pop_back();
    return true;
  }
  bool add(AnyJson&& value) {
    AnyJson& place = open_.empty()              ? document_
                     : open_.back()->is_array() ? open_.back()->emplace_back()
                                                : *member_;
    place = std::move(value);
    if (place.is_structured()) open_.push_back(&place);
    return true;
  }

  std::string_view what_;
  AnyJson& document_;
  std::vector<AnyJson*> open_;  ///< the enclosing objects and arrays
  AnyJson* member_ = nullptr;   ///< the member of the innermost object whose value comes next
};

/// Parses the text to a document of nlohmann/json. Throws the exceptions of that library. Throws
/// InvalidArgument for texts that it would accept: keys that are given twice, deep nesting,
/// anything after a NUL byte, and excessive length. `what` begins the messages: "the
/// configuration".
template <class AnyJson>
HeldJson<AnyJson> parse_json_text(std::string_view text, std::string_view what) {
  if (text.size() > max_document_bytes)
    throw_invalid("{} has {} bytes; allowed: at most {}", what, text.size(), max_document_bytes);
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
    throw_invalid("{} has a NUL byte at byte {}; allowed: none", what, at + 1);
  HeldJson<AnyJson> document;
  JsonBuilder<AnyJson> builder(what, document.json);
  AnyJson::sax_parse(text, &builder);
  return document;
}

}  // namespace posenc::detail
