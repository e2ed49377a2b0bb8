#include "posenc/layers/internal/model_types.h"

#include "posenc/support/parse_real.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace posenc {
namespace {

constexpr std::string_view table =
#include "posenc/layers/internal/model_types.inc"
    ;

constexpr std::string_view standard_rules = "default,dynamic,linear,llama3,longrope,yarn";

using Strings = std::vector<std::string>;

/// The parts between the separators; none of an empty text.
Strings split(std::string_view text, char separator) {
  Strings parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// What stands before the separator, and what after it.
std::pair<std::string, std::string> halves(std::string_view text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  return {std::string(text.substr(0, at)), std::string(text.substr(std::min(at + 1, text.size())))};
}

[[noreturn]] void fail(std::string_view line) {
  throw std::logic_error("model_types.inc: " + std::string(line));
}

double number(const std::string& text) {
  const std::optional<double> value = parse_real(text);
  if (!value) fail(text);
  return *value;
}

/// Keys and defaults: "rope_theta,.rope_theta:1e4"; "1e4" with the usual keys, or "?" for none.
void read_sources(Sources& sources, std::string_view name, const std::string& value) {
  const bool has_keys = value.find_first_of("?0123456789") != 0;
  const auto [keys, defaults] = halves(has_keys ? value : ":" + value, ':');
  if (has_keys) sources.keys.clear();
  if (!has_keys && name == "share")
    sources.keys = {{"partial_rotary_factor"}, {"partial_rotary_factor", true}};
  for (std::string_view key : split(keys, ',')) {
    const bool is_echo = key.starts_with('=');
    key.remove_prefix(is_echo ? 1 : 0);
    const bool is_in_rule = key.starts_with('.');
    sources.keys.push_back({std::string(key.substr(is_in_rule ? 1 : 0)), is_in_rule, is_echo});
  }
  sources.defaults.clear();
  if (defaults == "?") return;
  for (const std::string& each : split(defaults, '|')) sources.defaults.push_back(number(each));
}

const std::map<std::string_view, Sources ModelType::*> sources_of = {
    {"base", &ModelType::base},   {"head", &ModelType::head},   {"heads", &ModelType::heads},
    {"share", &ModelType::share}, {"width", &ModelType::width}, {"turned", &ModelType::turned}};
const std::map<std::string_view, std::string ModelType::*> texts_of = {
    {"rule", &ModelType::rule},         {"defaults", &ModelType::defaults},
    {"layers", &ModelType::layers},     {"interleaved", &ModelType::interleaved},
    {"unturned", &ModelType::unturned}, {"sections", &ModelType::sections},
    {"notnull", &ModelType::notnull},   {"when", &ModelType::when},
    {"text", &ModelType::text},         {"type", &ModelType::type},
    {"twin", &ModelType::twin}};

void read_word(ModelType& type, const std::string& word) {
  const auto [name, value] = halves(word, '=');
  if (const auto sources = sources_of.find(name); sources != sources_of.end()) {
    read_sources(type.*(sources->second), name, value);
  } else if (const auto text = texts_of.find(name); text != texts_of.end() && !value.empty()) {
    type.*(text->second) = value;
  } else if (name == "class") {
    const auto [width, heads] = halves(value, '/');
    type.width.defaults = {number(width)};
    type.heads.defaults = {number(heads)};
  } else if (name == "ignored") {
    type.ignored = split(value, ',');
  } else if (name == "rules") {
    type.rules.clear();
    for (const std::string& each : split(value, ',')) {
      const Strings names = each == "standard" ? split(standard_rules, ',') : Strings{each};
      type.rules.insert(type.rules.end(), names.begin(), names.end());
    }
  } else if (name == "needs" || name == "allows") {
    const auto [key, rest] = halves(value, ':');
    auto [wanted, reason] = halves(rest, ':');
    std::ranges::replace(reason, '_', ' ');
    type.requirements.push_back({key, wanted, reason, name == "needs"});
  } else if (value.empty()) {
    type.words.insert(name);
  } else {
    fail(word);
  }
}

/// Sets what a line's words leave to be derived.
void complete(ModelType& type) {
  const auto [order, counts] = halves(type.sections, ':');
  if (!counts.empty()) {
    type.default_sections.clear();
    for (const std::string& each : split(counts, ','))
      type.default_sections.push_back(static_cast<std::int64_t>(number(each)));
    type.sections = order;
  }
  if (type.has("either")) type.words.erase("given");
  if (type.layers.empty()) return;
  ModelType kind = type;
  kind.name = type.layers;
  kind.kinds.clear();
  type.kinds = {kind};
}

class TableReader {
 public:
  using Types = std::map<std::string, std::vector<ModelType>, std::less<>>;

  Types read() {
    for (const std::string& line : split(table, '\n')) {
      if (!line.empty() && !line.starts_with('#')) read_line(line);
    }
    return types_;
  }

 private:
  void read_line(const std::string& line) {
    const auto [names, rest] = halves(line, ':');
    if (line.starts_with(' ')) {
      for (ModelType* each : last_)
        add_kind(*each, names.substr(names.find_first_not_of(' ')), rest);
      return;
    }
    last_.clear();
    for (const std::string& name : split(names, ' ')) {
      std::vector<ModelType>& rows = types_[name];
      rows.push_back(rest.starts_with(" none;") ? none(rest) : type_of(rest));
      rows.back().name = name;
      last_.push_back(&rows.back());
    }
  }

  static ModelType none(const std::string& reason) {
    ModelType type;
    type.reason = reason.substr(1);
    return type;
  }

  ModelType type_of(const std::string& words) const {
    ModelType type;
    type.rules = split(standard_rules, ',');
    for (const std::string& word : split(words, ' ')) {
      if (word.starts_with("like=")) {
        const auto other = types_.find(word.substr(5));
        if (other == types_.end()) fail(word);
        type = other->second.back();
      } else if (!word.empty()) {
        read_word(type, word);
        for (ModelType& kind : type.kinds) read_word(kind, word);
      }
    }
    complete(type);
    return type;
  }

  static void add_kind(ModelType& type, const std::string& name, const std::string& words) {
    ModelType kind = type;
    kind.kinds.clear();
    kind.name = name;
    for (const std::string& word : split(words, ' ')) {
      if (!word.empty()) read_word(kind, word);
    }
    type.kinds.push_back(kind);
  }

  Types types_;
  std::vector<ModelType*> last_;  ///< those of the last line without indent
};

const TableReader::Types& all_types() {
  static const TableReader::Types all = TableReader().read();
  return all;
}

constexpr std::string_view other_parts[] = {
    "audio",           "audio_config",     "audio_encoder_config", "audio_processor",
    "code2wav_config", "embd_layer",       "encoder_config",       "image_processor",
    "img_processor",   "perceiver_config", "projector_config",     "qformer_config",
    "talker_config",   "token2wav_config", "vision_config",        "visual",
    "vq_config"};

}  // namespace

const ModelType* find_type(std::string_view model_type, const ConfigKeys& config) {
  const auto found = all_types().find(model_type);
  if (found == all_types().end()) return nullptr;
  const auto row = std::ranges::find_if(found->second, [&](const ModelType& each) {
    return each.when.empty() || config.has(each.when);
  });
  return &*row;
}

const std::vector<std::string>& all_model_types() {
  static const Strings all = [] {
    Strings names;
    for (const auto& [name, rows] : all_types()) {
      if (rows.front().reason.empty()) names.push_back(name);
    }
    return names;
  }();
  return all;
}

std::span<const std::string_view> parts_beside_text() { return other_parts; }

}  // namespace posenc
