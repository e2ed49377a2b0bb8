#include "posenc/model/internal/config.h"
#include "posenc/model/rotary_config.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace posenc::detail {
namespace {

constexpr std::string_view table =
#include "posenc/model/internal/model_types.inc"
    ;

/// All words that are allowed. Without this check, a misspelt word would have no effect.
constexpr std::string_view known_words =
    "alike_without_window allows base defaults either factor_1 flat forced four_axes given "
    "head head_for_rules heads ignored interleaved latent layers like mscale named_rope_type needs "
    "nope_list notnull only parts plain rule rules scaled sections share text trained "
    "turned twin type unturned width with";

void add_words(ModelType& type, const std::string& words) {
  static const auto& known = *new std::vector<std::string>(split(known_words, ' '));
  for (const std::string& word : split(words, ' ')) {
    const auto [name, value] = cut(word, '=');
    if (std::ranges::count(known, name) == 0)
      throw std::logic_error("model_types.inc has no word " + name);
    std::string& own = type.words[name];
    if (name == "needs" || name == "allows") {
      own += value + ' ';
    } else if (value.find_first_of("?0123456789") != 0) {
      own = value;
    } else {  // a new default for the same keys
      if (own == ":1") own = "partial_rotary_factor,.partial_rotary_factor:1";
      own = cut(own, ':').first + ':' + value;
    }
  }
}

using Types = std::map<std::string, ModelType, std::less<>>;

ModelType type_of(const std::string& name, const std::string& words, const Types& types) {
  if (words.starts_with(" none;")) return {name, {{"none", words.substr(1)}}};
  const bool is_like = words.starts_with(" like=");
  const auto base = types.find(is_like ? cut(words.substr(6), ' ').first : "*");
  ModelType type = base == types.end() ? ModelType() : base->second;
  type.name = name;
  add_words(type, words);
  for (ModelType& kind : type.kinds) add_words(kind, words);
  if (type.value("type").starts_with('*')) type.words["type"].replace(0, 1, name);
  if (type.has("layers")) type.kinds = {{type.value("layers"), type.words}};
  return type;
}

Types read_table() {
  std::vector<std::string> lines;
  for (const std::string& line : split(table, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("    ")) {
      lines.back() += (lines.back().ends_with(',') ? "" : " ") + line.substr(4);
    } else {
      lines.push_back(line);
    }
  }
  Types types;
  std::vector<std::string> names;  // names on the last line without indent
  for (const std::string& line : lines) {
    const auto [before, words] = cut(line, ':');
    if (!line.starts_with(' ')) {
      names.clear();
      for (const std::string& each : split(before, ' ')) {
        const auto [name, own] = cut(each, '@');
        const auto [width, heads] = cut(own, '/');
        const std::string own_words =
            heads.empty() ? " type=" + own : " width=" + width + " heads=" + heads;
        types.emplace(name, type_of(name, own.empty() ? words : words + own_words, types));
        names.push_back(name);
      }
      continue;
    }
    for (const std::string& name : names) {
      ModelType& type = types.at(name);
      type.kinds.push_back({before.substr(2), type.words});
      add_words(type.kinds.back(), words);
    }
  }
  types.erase("*");
  return types;
}

const Types& all_types() {
  static const Types& all = *new Types(read_table());  // never freed, like all such tables
  return all;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto [part, rest] = cut(text, separator);
    if (!part.empty() || separator != ' ') parts.push_back(part);
    text.remove_prefix(text.size() - rest.size());
  }
  return parts;
}

std::pair<std::string, std::string> cut(std::string_view text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  return {std::string(text.substr(0, at)), std::string(text.substr(std::min(at + 1, text.size())))};
}

Sources ModelType::sources(std::string_view word) const {
  const auto [keys, defaults] = cut(value(word), ':');
  Sources result = {.kind = name};
  for (std::string_view key : split(keys, ',')) {
    const bool is_echo = key.starts_with('=');
    key.remove_prefix(is_echo ? 1 : 0);
    const bool is_in_rule = key.starts_with('.');
    result.keys.push_back({std::string(key.substr(is_in_rule ? 1 : 0)), is_in_rule, is_echo});
  }
  for (const std::string& each : split(defaults, '|')) {
    if (each != "?") result.defaults.push_back(ConfigJson::parse(each).get<double>());
  }
  return result;
}

const ModelType* find_type(std::string_view model_type) {
  const auto found = all_types().find(model_type);
  return found == all_types().end() ? nullptr : &found->second;
}

}  // namespace posenc::detail

namespace posenc::model {

std::vector<std::string> known_model_types() {
  std::vector<std::string> names;
  for (const auto& [name, type] : detail::all_types()) {
    if (!type.has("none")) names.push_back(name);
  }
  return names;
}

}  // namespace posenc::model
