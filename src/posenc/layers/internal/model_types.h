// How the code of each model type reads its configuration: the table of model_types.inc. Internal:
// not installed.
#pragma once

#include "posenc/layers/internal/config_keys.h"
#include "posenc/layers/rotary_spec.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {

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
};

/// What a key has to say.
struct Requirement {
  std::string key, value, reason;  ///< the value is JSON
  bool is_needed = false;          ///< the key may not be absent
};

/// A line of the table, or one of its kinds of layers. model_types.inc explains each word.
struct ModelType {
  std::string name;
  std::set<std::string, std::less<>> words = {};  ///< without a value
  Sources head = {{{"head_dim"}}}, width = {{{"hidden_size"}}};
  Sources heads = {{{"num_attention_heads"}}}, turned = {}, share = {{}, {1}};
  Sources base = {{{"rope_theta"}, {"rope_theta", true}}};
  std::vector<std::string> rules = {}, ignored = {};
  std::string rule = {}, defaults = {};  ///< JSON
  std::string interleaved = {}, layers = {}, unturned = {}, sections = {}, notnull = {}, when = {};
  std::string text = {}, type = {}, twin = {}, reason = {};
  std::vector<std::int64_t> default_sections = {};
  std::vector<Requirement> requirements = {};
  std::vector<ModelType> kinds = {};

  bool has(std::string_view word) const { return words.contains(word); }
};

/// The line for the type, and for this file of it. nullptr if the type is not known.
const ModelType* find_type(std::string_view model_type, const ConfigKeys& config);

/// All types that are read, in alphabetical order.
const std::vector<std::string>& all_model_types();

/// Parts of multimodal models, whose rotary embeddings are not those of the text.
std::span<const std::string_view> parts_beside_text();

}  // namespace posenc
