// What the reader of a config.json works with: its JSON, of which each key is read or refused, the
// table of model types, and the rules of frequencies. Internal: not installed.
#pragma once

#include "posenc/frequency_rule.h"
#include "posenc/support/format.h"

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::detail {

using ConfigJson = nlohmann::json;

// ---- Values and keys ----------------------------------------------------------------------------

/// Accepts what Python's json module writes. NaN, Infinity and a number beyond double become texts,
/// so that only a key that needs a number refuses them. Throws InvalidArgument unless the text is
/// an object, in which no object has a key twice, nested at most max_json_depth deep.
ConfigJson parse_config(std::string_view text);

/// The value in a line of printable characters, shortened if it is long: 'linear', 4.0, [16, 24].
std::string text_of(const ConfigJson& value);

/// Throws InvalidArgument: "name is value; allowed: ...".
[[noreturn]] void refuse(std::string_view name, const ConfigJson& value, std::string_view allowed);
/// Throws InvalidArgument: the key is needed.
[[noreturn]] void refuse_absence(std::string_view key);

template <class T>
T needed(std::string_view key, const std::optional<T>& value) {
  if (!value) refuse_absence(key);
  return *value;
}

/// A value, and the name of what it is of.
template <class T>
using Named = std::pair<std::string, std::optional<T>>;

/// The value of all that are given, or none. Throws InvalidArgument if two differ.
template <class T>
std::optional<T> agreed(const std::vector<Named<T>>& values) {
  const Named<T>* first = nullptr;
  for (const Named<T>& each : values) {
    if (first == nullptr && each.second) first = &each;
    if (!each.second || *each.second == *first->second) continue;
    refuse(each.first, *each.second,
           format_text("{}, which {} is", text_of(*first->second), first->first));
  }
  return first == nullptr ? std::nullopt : first->second;
}

/// Which keys have to be read: all; those that look as if they were of a rotary embedding, at any
/// depth; or these, but for those of a multimodal model's other parts.
enum class Scope { rule, model, multimodal };

/// An object of a configuration that knows which of its keys were read. A key whose value is null
/// is absent. Each function that returns a value marks its key as read, and throws InvalidArgument
/// if the value is not what is asked for. "a.b" is a key of an object in this one.
class ConfigKeys {
 public:
  /// `path` is that of the object in the configuration, for messages: "" or "rope_scaling".
  explicit ConfigKeys(const ConfigJson& object, std::string path = "")
      : json_(&object), path_(std::move(path)) {}

  const ConfigJson& json() const { return *json_; }
  /// Of the object, or of a key: "rope_scaling.factor".
  const std::string& path() const { return path_; }
  std::string path(std::string_view key) const;

  const ConfigJson* get(std::string_view key) const;  ///< nullptr if it is absent
  const ConfigJson* object(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least = 1) const;
  /// Above `above`, at most `most`.
  std::optional<double> real(std::string_view key, double above = 0,
                             double most = std::numeric_limits<double>::infinity()) const;
  bool boolean(std::string_view key, bool by_default) const;
  std::optional<std::string> text(std::string_view key) const;
  /// A list of `count` numbers above 0, which is needed.
  std::vector<double> reals(std::string_view key, std::int64_t count) const;
  std::vector<std::int64_t> integers(std::string_view key) const;  ///< of at least 0; needed

  bool has(std::string_view key) const;      ///< does not mark it
  bool is_null(std::string_view key) const;  ///< true if it is there as null; does not mark it
  void mark(std::string_view key) const { read_.emplace(key); }
  bool is_read(std::string_view key) const { return read_.contains(key); }
  [[noreturn]] void refuse(std::string_view key, std::string_view allowed) const;
  /// Every key that was not read and may change the result is refused.
  void check_all_read(Scope scope) const { check_all_read(*json_, "", scope); }

 private:
  const ConfigJson* find(std::string_view key) const;
  void check_all_read(const ConfigJson& value, const std::string& path, Scope scope) const;
  /// The value, of which `is_allowed` is true.
  template <class T, class IsAllowed>
  std::optional<T> value(std::string_view key, const std::string& allowed,
                         const IsAllowed& is_allowed) const;

  const ConfigJson* json_;
  std::string path_;
  mutable std::set<std::string, std::less<>> read_;
};

/// True for names that keys of rotary embeddings have.
bool is_rope_like(std::string_view key);

// ---- Model types --------------------------------------------------------------------------------

/// The parts between the separators; none of an empty text.
std::vector<std::string> split(std::string_view text, char separator);
/// What stands before the first separator, and what after it.
std::pair<std::string, std::string> cut(std::string_view text, char separator);

/// Keys, of which those that are given agree, and what the class has if none is.
struct Sources {
  struct Key {
    std::string name;         ///< in which {} stands for each layer of the kind
    bool is_in_rule = false;  ///< a key of the rule, not of the configuration
    bool is_echo = false;     ///< has no effect, and has to say the same
  };
  std::string kind = {};  ///< of layers
  std::vector<Key> keys = {};
  /// None: it is needed. Two: those of Transformers 4 and 5, which differ.
  std::vector<double> defaults = {};

  /// The name of the first key; "" if there is none.
  std::string name() const { return keys.empty() ? "" : keys.front().name; }
};

/// A line of model_types.inc, which explains each word, or one of its kinds of layers.
struct ModelType {
  std::string name;
  std::map<std::string, std::string, std::less<>> words = {};
  std::vector<ModelType> kinds = {};

  bool has(std::string_view word) const { return words.contains(word); }
  /// What stands after the word; empty if it is not there.
  std::string value(std::string_view word) const {
    return has(word) ? words.find(word)->second : "";
  }
  /// The object after the word; empty if it is not there.
  ConfigJson json(std::string_view word) const {
    return has(word) ? ConfigJson::parse(value(word)) : ConfigJson::object();
  }
  /// Those after "base", "head", "heads", "share", "turned" or "width".
  Sources sources(std::string_view word) const;
};

/// nullptr if the type is not known.
const ModelType* find_type(std::string_view model_type);

// ---- Rules --------------------------------------------------------------------------------------

/// A rule without its attention factor, and the factor.
struct RotaryRule {
  FrequencyRule rule = {};
  double attention_factor = 1;
  double base_ratio = 1;  ///< what the base is multiplied by
  std::string note = {};  ///< what the model does beside
};

/// What a rule is read from. Every key that it has is marked as read.
struct RuleSource {
  const ConfigKeys& keys;    ///< of the rule
  const ConfigKeys& config;  ///< of the text model
  const ModelType& kind;
  std::int64_t dimension;
  std::optional<std::int64_t> rows;  ///< of the longest sequence, if given
};
RotaryRule read_rule(std::string_view name, const RuleSource& from);

}  // namespace posenc::detail
