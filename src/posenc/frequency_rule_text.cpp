// The text form of frequency rules.
#include "posenc/frequency_rule_text.h"
#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/frequency_parameters.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace posenc {
namespace {

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return number_text(value);
  } else {
    std::vector<std::string> texts;
    for (const auto each : value) texts.push_back(text_of(each));
    return join(texts, "/");
  }
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Each assign() sets the value. It returns nullptr, or a description of the allowed values if the
// text is not valid.
const char* assign(double& value, std::string_view text) {
  const std::optional<double> parsed = parse_real(text);
  if (!parsed) return "a number";
  value = *parsed;
  return nullptr;
}
const char* assign(std::int64_t& value, std::string_view text) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? nullptr : "an integer";
}
const char* assign(bool& value, std::string_view text) {
  value = text == "true";
  return value || text == "false" ? nullptr : "true, false";
}
template <class T>
const char* assign(std::vector<T>& values, std::string_view text) {
  values.clear();
  for (const std::string_view part : split(text, '/')) {
    if (assign(values.emplace_back(), part) == nullptr) continue;
    return "numbers with slashes between them";
  }
  return nullptr;
}

/// The rule with the default values of its parameters.
FrequencyRule rule_of_index(std::size_t index) {
  FrequencyRule rule;
  [&]<std::size_t... each>(std::index_sequence<each...>) {
    ((each == index ? void(rule.emplace<each>()) : void()), ...);
  }
  (std::make_index_sequence<std::variant_size_v<FrequencyRule>>());
  return rule;
}

/// The name in an assignment such as "factor=4".
std::string_view name_in(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

}  // namespace

std::string to_string(const FrequencyRule& rule) {
  std::string text(rule_names[rule.index()]);
  char separator = ':';
  const auto append = [&](std::string_view name, const auto& value, auto, auto) {
    text += separator + std::string(name) + '=' + text_of(value);
    separator = ',';
  };
  std::visit([&](const auto& each) { for_each_parameter(each, append); }, rule);
  return text;
}

FrequencyRule parse_frequency_rule(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const auto found = std::ranges::find(rule_names, name);
  if (found == rule_names.end())
    throw_invalid("frequencies is '{}'; allowed: {}", name, join(rule_names, ", "));
  FrequencyRule rule = rule_of_index(found - rule_names.begin());
  if (colon == text.size()) return rule;
  std::vector<std::string_view> given = split(text.substr(colon + 1), ','), allowed;
  const auto set = [&](std::string_view parameter, auto& value, auto, auto) {
    allowed.push_back(parameter);
    const auto assignment = std::ranges::find(given, parameter, name_in);
    if (assignment == given.end()) return;
    const auto of_it = assignment->substr(std::min(parameter.size() + 1, assignment->size()));
    if (const char* const wanted = assign(value, of_it))
      throw_invalid("{} of the frequencies is '{}'; allowed: {}", parameter, of_it, wanted);
    given.erase(assignment);
  };
  std::visit([&](auto& each) { for_each_parameter(each, set); }, rule);
  if (!given.empty())
    throw_invalid("parameter of the frequencies is '{}'; allowed for {}: {}", name_in(given[0]),
                  name, allowed.empty() ? "none" : join(allowed, ", ") + ", each once");
  return rule;
}

}  // namespace posenc
