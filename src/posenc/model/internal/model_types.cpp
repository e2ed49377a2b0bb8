#include "posenc/model/internal/model_types.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace posenc::detail {
namespace {

constexpr std::string_view table =
#include "posenc/model/internal/model_types.inc"
    ;

/// A word that is misspelt would have no effect.
constexpr std::string_view known_words =
    "alike_without_window allows base class defaults divided_if_null either factor_1 flat "
    "forced four_axes given grows_in_steps head head_for_rules heads ignored interleaved "
    "latent layers like mscale named_rope_type needs none nope_list notnull only "
    "optional_turned parts per_layer plain rope_ratio rule rules scaled sections share "
    "share_of_both text time_pairs trained turned twin type unturned when width";

void add_words(ModelType& type, const std::string& words) {
  static const std::vector<std::string> known = split(known_words, ' ');
  for (const std::string& word : split(words, ' ')) {
    const auto [name, value] = cut(word, '=');
    if (std::ranges::count(known, name) == 0)
      throw std::logic_error("model_types.inc has no word " + name);
    std::string& own = type.words[name];
    const bool is_list = name == "needs" || name == "allows";
    own = is_list ? own + value + ' ' : value;
  }
}

/// The lines of a type, of which the first is read whose key "when" the file has.
using Types = std::multimap<std::string, ModelType, std::less<>>;

ModelType type_of(const std::string& name, const std::string& words, const Types& types) {
  if (words.starts_with(" none;")) return {name, {{"none", words.substr(1)}}};
  ModelType own = {name};
  add_words(own, words);
  ModelType type = own.has("like") ? types.find(own.value("like"))->second : ModelType();
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
    if (!line.starts_with("    ")) {
      lines.push_back(line);
    } else {
      lines.back() += (lines.back().ends_with(',') ? "" : " ") + line.substr(4);
    }
  }
  Types types;
  std::vector<ModelType*> last;  // those of the last line without indent
  for (const std::string& line : lines) {
    const auto [names, words] = cut(line, ':');
    const bool is_kind = line.starts_with(' ');
    if (!is_kind) last.clear();
    for (const std::string& name : split(names, ' ')) {
      if (!is_kind) last.push_back(&types.emplace(name, type_of(name, words, types))->second);
      for (std::size_t i = 0; is_kind && i < last.size(); ++i) {
        last[i]->kinds.push_back({name, last[i]->words});
        add_words(last[i]->kinds.back(), words);
      }
    }
  }
  return types;
}

const Types& all_types() {
  static const Types all = read_table();
  return all;
}

/// The keys of a word that is not given, or only a number.
std::string usual_keys(std::string_view word, bool is_given) {
  if (word == "base") return "rope_theta,.rope_theta";
  if (word == "head") return "head_dim";
  if (word == "heads") return "num_attention_heads";
  if (word == "width") return "hidden_size";
  return word == "share" && is_given ? "partial_rotary_factor,.partial_rotary_factor" : "";
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end != 0 || separator != ' ') parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::pair<std::string, std::string> cut(std::string_view text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  return {std::string(text.substr(0, at)), std::string(text.substr(std::min(at + 1, text.size())))};
}

Sources sources_of(const ModelType& type, std::string_view word) {
  const std::string value = type.value(word);
  const bool has_keys = !value.empty() && value.find_first_of("?0123456789") != 0;
  const std::string usual = usual_keys(word, !value.empty());
  const auto [keys, defaults] = cut(has_keys ? value : usual + ":" + value, ':');
  Sources result;
  for (std::string_view key : split(keys, ',')) {
    const bool is_echo = key.starts_with('=');
    key.remove_prefix(is_echo ? 1 : 0);
    const bool is_in_rule = key.starts_with('.');
    result.keys.push_back({std::string(key.substr(is_in_rule ? 1 : 0)), is_in_rule, is_echo});
  }
  for (const std::string& each : split(defaults, '|')) {
    if (each != "?") result.defaults.push_back(ConfigJson::parse(each).get<double>());
  }
  if (word == "share" && value.empty()) result.defaults = {1};
  return result;
}

const ModelType* find_type(std::string_view model_type, const ConfigKeys& config) {
  for (auto [at, end] = all_types().equal_range(model_type); at != end; ++at) {
    const ModelType& type = at->second;
    if (!type.has("when") || config.has(type.value("when"))) return &type;
  }
  return nullptr;
}

std::vector<std::string> all_model_types() {
  std::vector<std::string> names;
  for (const auto& [name, type] : all_types()) {
    if (!type.has("none") && (names.empty() || names.back() != name)) names.push_back(name);
  }
  return names;
}

}  // namespace posenc::detail
