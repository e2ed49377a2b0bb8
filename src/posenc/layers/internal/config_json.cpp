#include "posenc/layers/internal/config_json.h"

#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/parse_real.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace posenc {
namespace {

constexpr std::size_t most_characters = 60;

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

/// Refuses what the parser would accept: keys that are given twice, and deep nesting.
class ParseChecks {
 public:
  bool operator()(int depth, ConfigJson::parse_event_t event, const ConfigJson& parsed) {
    using Event = ConfigJson::parse_event_t;
    if (depth > max_config_depth) {
      throw InvalidArgument(format_text("the configuration is nested {} deep; allowed: at most {}",
                                        depth, max_config_depth));
    }
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second) {
      throw InvalidArgument(format_text("{} is given twice; allowed: once",
                                        name_of_key(parsed.get_ref<const std::string&>())));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

std::string shortened(std::string text) {
  if (text.size() <= most_characters) return text;
  const std::size_t kept = most_characters / 2 - 2;
  return text.substr(0, kept) + "..." + text.substr(text.size() - kept);
}

std::string ascii_text(const ConfigJson& value) {
  constexpr bool ensure_ascii = true;  // no control characters for a terminal
  return value.dump(-1, ' ', ensure_ascii, ConfigJson::error_handler_t::replace);
}

std::string without_quotes(const std::string& text) { return text.substr(1, text.size() - 2); }

}  // namespace

ConfigJson parse_config(std::string_view text) {
  try {
    ConfigJson config = ConfigJson::parse(with_quoted_numbers(text), ParseChecks());
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
  return value.is_string() ? "'" + shortened(without_quotes(text)) + "'" : shortened(text);
}

std::string name_of_key(std::string_view key) {
  return shortened(without_quotes(ascii_text(ConfigJson(std::string(key)))));
}

void refuse(const std::string& name, const ConfigJson& value, std::string_view allowed) {
  throw InvalidArgument(format_text("{} is {}; allowed: {}", name, text_of(value), allowed));
}

}  // namespace posenc
