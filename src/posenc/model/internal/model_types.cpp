#include "posenc/model/internal/model_types.h"

#include "posenc/support/parse_real.h"

#include <algorithm>
#include <stdexcept>

namespace posenc {
namespace {

constexpr std::string_view table =
#include "posenc/model/internal/model_types.inc"
    ;

using Types = std::map<std::string, std::vector<ModelType>, std::less<>>;

/// A word that is misspelt would have no effect.
constexpr std::string_view known_words =
    "alike_without_window allows base class defaults divided_if_null either factor_1 flat "
    "forced four_axes given grows_in_steps head head_for_rules heads ignored interleaved "
    "latent layers like mscale named_rope_type needs nope_list notnull only "
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

class TableReader {
 public:
  Types read() {
    std::vector<std::string> lines;
    for (const std::string& line : split(table, '\n')) {
      if (line.empty() || line.starts_with('#')) continue;
      if (!line.starts_with("    ")) {
        lines.push_back(line);
      } else {
        lines.back() += (lines.back().ends_with(',') ? "" : " ") + line.substr(4);
      }
    }
    for (const std::string& line : lines) read_line(line);
    return types_;
  }

 private:
  void read_line(const std::string& line) {
    const auto [names, words] = cut(line, ':');
    if (line.starts_with(' ')) {
      for (ModelType* const type : last_) add_kind(*type, split(names, ' ').back(), words);
      return;
    }
    last_.clear();
    for (const std::string& name : split(names, ' ')) {
      std::vector<ModelType>& lines = types_[name];
      lines.push_back(words.starts_with(" none;") ? ModelType{name, {{"none", words.substr(1)}}}
                                                  : type_of(name, words));
      last_.push_back(&lines.back());
    }
  }

  ModelType type_of(const std::string& name, const std::string& words) const {
    ModelType own = {name};
    add_words(own, words);
    ModelType type = own.has("like") ? types_.at(own.value("like")).back() : ModelType();
    type.name = name;
    add_words(type, words);
    for (ModelType& kind : type.kinds) add_words(kind, words);
    if (type.value("type").starts_with('*')) type.words["type"].replace(0, 1, name);
    if (type.has("layers")) type.kinds = {{type.value("layers"), type.words}};
    return type;
  }

  static void add_kind(ModelType& type, const std::string& name, const std::string& words) {
    type.kinds.push_back({name, type.words});
    add_words(type.kinds.back(), words);
  }

  Types types_;
  std::vector<ModelType*> last_;  ///< those of the last line without indent
};

const Types& all_types() {
  static const Types all = TableReader().read();
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

std::string ModelType::value(std::string_view word) const {
  const auto found = words.find(word);
  return found == words.end() ? "" : found->second;
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
    if (each != "?") result.defaults.push_back(parse_real(each).value());
  }
  if (word == "share" && value.empty()) result.defaults = {1};
  return result;
}

const ModelType* find_type(std::string_view model_type, const ConfigKeys& config) {
  const auto found = all_types().find(model_type);
  if (found == all_types().end()) return nullptr;
  return &*std::ranges::find_if(found->second, [&](const ModelType& each) {
    return !each.has("when") || config.has(each.value("when"));
  });
}

const std::vector<std::string>& all_model_types() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const auto& [name, lines] : all_types()) {
      if (!lines.front().has("none")) names.push_back(name);
    }
    return names;
  }();
  return all;
}

}  // namespace posenc
