// JSON of a configuration, whose keys are each read or refused. Internal: not installed.
#pragma once

#include "posenc/model/internal/json_text.h"
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

/// Parses the text of a configuration. Accepts everything that Python's json module writes. NaN,
/// Infinity and numbers beyond double become texts, so that only a key that needs a number refuses
/// them. Throws InvalidArgument unless the text is an object, nested at most max_json_depth deep,
/// in which no object has a key twice.
HeldJson<ConfigJson> parse_config(std::string_view text);

/// The value as a line of printable characters, shortened if it is long: 'linear', 4.0, [16, 24].
std::string text_of(const ConfigJson& value);

/// Throws InvalidArgument: "name is value; allowed: ...".
[[noreturn]] void refuse(std::string_view name, const ConfigJson& value, std::string_view allowed);
/// Throws InvalidArgument, because the key is needed.
[[noreturn]] void refuse_absence(std::string_view key);

template <class T>
T needed(std::string_view key, const std::optional<T>& value) {
  if (!value) refuse_absence(key);
  return *value;
}

/// A name and its value, if it is given.
template <class T>
using Named = std::pair<std::string, std::optional<T>>;

/// The common value of all values that are given, or none. Throws InvalidArgument if two differ.
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

/// The keys that must be read. `rule`: all keys. `model`: keys at any depth that look as if they
/// belonged to a rotary embedding, except in other parts of a multimodal model.
enum class Scope { rule, model };

/// An object of a configuration that records which of its keys were read. A key whose value is null
/// counts as absent. Each function that returns a value marks its key as read, and throws
/// InvalidArgument if the value has the wrong type or range. "a.b" is a key of an object in this
/// object.
class ConfigKeys {
 public:
  /// `path` is the path of the object in the configuration, for messages: "" or "rope_scaling".
  explicit ConfigKeys(const ConfigJson& object, std::string path = "")
      : json_(&object), path_(std::move(path)) {}

  const ConfigJson& json() const { return *json_; }
  /// The path of the object, or of a key: "rope_scaling.factor".
  const std::string& path() const { return path_; }
  std::string path(std::string_view key) const;

  const ConfigJson* get(std::string_view key) const;  ///< nullptr if it is absent
  const ConfigJson* object(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least = 1) const;
  /// A number above `above` and at most `most`.
  std::optional<double> real(std::string_view key, double above = 0,
                             double most = std::numeric_limits<double>::infinity()) const;
  bool boolean(std::string_view key, bool by_default) const;
  std::optional<std::string> text(std::string_view key) const;
  /// A list of `count` numbers above 0. The key is needed.
  std::vector<double> reals(std::string_view key, std::int64_t count) const;
  std::vector<std::int64_t> integers(std::string_view key) const;  ///< each at least 0; needed
  std::vector<std::string> texts(std::string_view key) const;      ///< a list; empty if absent
  std::vector<ConfigKeys> objects(std::string_view key) const;     ///< a list; empty if absent

  bool has(std::string_view key) const;      ///< does not mark the key
  bool is_null(std::string_view key) const;  ///< true if the key is there as null; does not mark it
  void mark(std::string_view key) const { read_.emplace(key); }
  bool is_read(std::string_view key) const { return read_.contains(key); }
  [[noreturn]] void refuse(std::string_view key, std::string_view allowed) const;
  /// Refuses every key that was not read and may change the result.
  void check_all_read(Scope scope) const { check_all_read(*json_, "", scope); }

 private:
  const ConfigJson* find(std::string_view key) const;
  void check_all_read(const ConfigJson& value, const std::string& path, Scope scope) const;
  /// The value of the key, for which `is_allowed` must be true.
  template <class T, class IsAllowed>
  std::optional<T> value(std::string_view key, const std::string& allowed,
                         const IsAllowed& is_allowed) const;
  /// The list of the key, for each element of which `is_allowed` must be true.
  template <class T, class IsAllowed>
  std::optional<std::vector<T>> list(std::string_view key, const std::string& allowed,
                                     const IsAllowed& is_allowed) const;

  const ConfigJson* json_;
  std::string path_;
  mutable std::set<std::string, std::less<>> read_;
};

/// True if the key looks as if it belonged to a rotary embedding.
bool is_rope_like(std::string_view key);

}  // namespace posenc::detail
