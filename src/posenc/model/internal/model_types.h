// How the code of each model type reads its configuration: the table of model_types.inc. Internal:
// not installed.
#pragma once

#include "posenc/model/internal/config_keys.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::detail {

/// The parts between the separators; none of an empty text.
std::vector<std::string> split(std::string_view text, char separator);
/// What stands before the first separator, and what after it.
std::pair<std::string, std::string> cut(std::string_view text, char separator);

/// A line of the table, or one of its kinds of layers. model_types.inc explains each word.
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
};

/// Keys, of which those that are given agree, and what the class has if none is.
struct Sources {
  struct Key {
    std::string name;
    bool is_in_rule = false;  ///< a key of the rule, not of the configuration
    bool is_echo = false;     ///< has no effect, and has to say the same
  };
  std::vector<Key> keys = {};
  /// None: it is needed. Two: those of Transformers 4 and 5, which differ.
  std::vector<double> defaults = {};

  /// The name of the first key; "" if there is none.
  std::string name() const { return keys.empty() ? "" : keys.front().name; }
};

/// Those of "base", "head", "heads", "share", "turned" or "width".
Sources sources_of(const ModelType& type, std::string_view word);

/// nullptr if the type is not known.
const ModelType* find_type(std::string_view model_type);

/// All types that are read, in alphabetical order.
std::vector<std::string> all_model_types();

}  // namespace posenc::detail
