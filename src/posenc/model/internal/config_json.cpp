#include "posenc/model/internal/config_json.h"

#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/json_text.h"
#include "posenc/support/parse_real.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

bool is_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
         c == '-' || c == '.';
}

/// Removes the digits that the text begins with. False if there are none.
bool remove_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count != 0;
}

bool remove_one_of(std::string_view characters, std::string_view& text) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// By the grammar of JSON, whether or not double has it.
bool is_json_number(std::string_view word) {
  remove_one_of("-", word);
  if (!remove_one_of("0", word) && !remove_digits(word)) return false;
  if (remove_one_of(".", word) && !remove_digits(word)) return false;
  if (!remove_one_of("eE", word)) return word.empty();
  remove_one_of("+-", word);
  return remove_digits(word) && word.empty();
}

/// A word of the text as JSON: a number that is none in double, as a string.
std::string json_word(std::string_view word) {
  const bool is_special = word == "NaN" || word == "Infinity" || word == "-Infinity";
  const bool is_in_range = !is_json_number(word) || parse_real(word).has_value();
  return is_special || !is_in_range ? format_text("\"{}\"", word) : std::string(word);
}

std::string with_quoted_numbers(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
      i = std::min(i + 1, text.size());
      result += text.substr(begin, i - begin);
    } else if (is_of_word(text[i])) {
      while (i < text.size() && is_of_word(text[i])) ++i;
      result += json_word(text.substr(begin, i - begin));
    } else {
      result += text[i++];
    }
  }
  return result;
}

std::string ascii_text(const ConfigJson& value) {
  constexpr bool ensure_ascii = true;  // no control characters for a terminal
  return value.dump(-1, ' ', ensure_ascii, ConfigJson::error_handler_t::replace);
}

std::string without_quotes(const std::string& text) { return text.substr(1, text.size() - 2); }

}  // namespace

ConfigJson parse_config(std::string_view text) {
  try {
    ConfigJson config = parse_json_text<ConfigJson>(with_quoted_numbers(text), "the configuration");
    if (config.is_object()) return config;
    throw InvalidArgument(
        format_text("the configuration is {}; allowed: an object", text_of(config)));
  } catch (const ConfigJson::parse_error& error) {
    throw InvalidArgument(format_text(
        "the configuration is not JSON near byte {}; allowed: the text of a config.json",
        error.byte));
  } catch (const ConfigJson::exception&) {
    throw InvalidArgument("the configuration is not JSON; allowed: the text of a config.json");
  }
}

std::string text_of(const ConfigJson& value) {
  const std::string text = ascii_text(value);
  return value.is_string() ? "'" + shortened(without_quotes(text), max_quoted_bytes) + "'"
                           : shortened(text, max_quoted_bytes);
}

std::string name_of_key(std::string_view key) {
  return shortened(without_quotes(ascii_text(ConfigJson(std::string(key)))), max_quoted_bytes);
}

void refuse(const std::string& name, const ConfigJson& value, std::string_view allowed) {
  throw InvalidArgument(format_text("{} is {}; allowed: {}", name, text_of(value), allowed));
}

}  // namespace posenc
