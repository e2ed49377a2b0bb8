// The keys of a configuration, of which each is read or refused. Internal: not installed.
#pragma once

#include "posenc/model/internal/config_json.h"
#include "posenc/support/format.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc {

/// An object of a configuration that knows which of its keys were read. A key whose value is null
/// is absent. Each function that returns a value marks its key as read, and throws InvalidArgument
/// if the value is not what is asked for.
class ConfigKeys {
 public:
  /// `path` is that of the object in the configuration, for messages: "" or "rope_scaling".
  explicit ConfigKeys(const ConfigJson& object, std::string path = "");

  const std::string& path() const { return path_; }
  /// The path of a key: "rope_scaling.factor".
  std::string path(std::string_view key) const;
  /// The value; nullptr if it is absent. "a.b" is a key of an object in this one.
  const ConfigJson* get(std::string_view key) const;
  bool has(std::string_view key) const;  ///< does not mark it
  /// True if the key is there, and its value is null. Does not mark it.
  bool is_null(std::string_view key) const;
  /// Of a key that was got.
  [[noreturn]] void refuse(std::string_view key, std::string_view allowed) const;

  /// From `least` to 2^53.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least = 1) const;
  /// Above `above`, at most `most`.
  std::optional<double> real(std::string_view key, double above = 0,
                             double most = std::numeric_limits<double>::infinity()) const;
  bool boolean(std::string_view key, bool by_default) const;
  std::optional<std::string> text(std::string_view key) const;
  /// A list of `count` numbers above 0.
  std::vector<double> reals(std::string_view key, std::int64_t count) const;
  /// A list of integers of at least 0.
  std::vector<std::int64_t> integers(std::string_view key) const;

  void mark(std::string_view key) const { read_.emplace(key); }
  bool is_nested() const { return !path_.empty(); }
  const ConfigJson& json() const { return *json_; }
  bool is_read(std::string_view key) const { return read_.contains(key); }

 private:
  const ConfigJson* find(std::string_view key) const;

  const ConfigJson* json_;
  std::string path_;
  mutable std::set<std::string, std::less<>> read_;
};

/// A value, and the name of what it is of.
template <class T>
using Named = std::pair<std::string, std::optional<T>>;

/// The value of all that are given, or none. Throws InvalidArgument if two differ.
template <class T>
std::optional<T> agreed(const std::vector<Named<T>>& values) {
  const Named<T>* first = nullptr;
  for (const Named<T>& each : values) {
    if (!each.second) continue;
    if (first == nullptr) first = &each;
    if (*each.second == *first->second) continue;
    refuse(each.first, ConfigJson(*each.second),
           format_text("{}, which {} is", text_of(ConfigJson(*first->second)), first->first));
  }
  return first == nullptr ? std::nullopt : first->second;
}

/// Throws InvalidArgument if there is no value.
[[noreturn]] void refuse_absence(std::string_view key);
template <class T>
T needed(std::string_view key, const std::optional<T>& value) {
  if (!value) refuse_absence(key);
  return *value;
}

/// True if the key has a value that changes nothing in models that do not read it.
bool changes_nothing(std::string_view key, const ConfigJson& value);

/// True for names that keys of rotary embeddings have.
bool is_rope_like(std::string_view key);

/// Calls visit(path, value, allowed) for every rope-like key that was not read and that may change
/// the result, at any depth. Objects that were read, and those of these names, are left out.
void for_each_unread(
    const ConfigKeys& keys, std::span<const std::string_view> left_out,
    const std::function<void(const std::string&, const ConfigJson&, const std::string&)>& visit);

}  // namespace posenc
