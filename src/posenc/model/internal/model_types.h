// The model types of src/posenc/model/model_types.json. Internal: not installed.
#pragma once

#include "posenc/model/internal/config_keys.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::detail {

/// A key that the class of a model reads. In JSON, "rule:" stands before a key of the rule, "echo:"
/// before a key without effect, and "else:" before a key that another one replaces.
struct ModelKey {
  /// {} in the name stands for each layer of the kind. The key before it has a number for all
  /// layers, or a list or an object with one entry per layer.
  std::string name;
  bool is_in_rule = false;  ///< a key of the rule, not of the configuration
  bool is_echo = false;     ///< has no effect, but must have the same value
  bool is_else = false;     ///< has no effect if one of the other keys has a value
};
/// The keys of one value. If several keys are given, they must agree.
using ModelKeys = std::vector<ModelKey>;

using Words = std::vector<std::string>;

/// The names of rules in configurations, and the name of the reader of each rule.
using NamedRules = std::vector<std::pair<std::string, std::string>>;

/// How the number of channels of a head is found. `quotient`: the width divided by the number of
/// heads; head_dim must agree. `given`: head_dim or the default. `either`: head_dim, the default,
/// or else the quotient. `latent`: the rotated channels stand beside the channels of a head.
enum class HeadSize { quotient, given, either, latent };

/// How the axes of a model share the pairs. M-RoPE has the axes time, height and width. XD-RoPE has
/// four axes.
enum class AxisOrder { one_axis, in_sections, four_in_sections, interleaved, alternating };

/// How the code of a model type reads its configuration: one kind of layers. Each field has the
/// name of its key in JSON; its default here is the default of the key. A default of null in JSON,
/// 0 here, means that the class has none: the value is needed.
struct TextModel {
  std::string layers;     ///< kind of the layers, if not all layers are alike
  std::string unturned;   ///< kind of the layers without a rotary embedding
  bool all_if_no_window;  ///< without a sliding window, all layers are alike
  /// Key of a list that has 0 for each layer without a rotary embedding.
  std::string turned_layers;
  std::int64_t unturned_interval;  ///< without the list, the last of so many layers is unturned

  bool is_interleaved;          ///< pairs of neighbours, not halves
  std::string interleaved_key;  ///< the key that decides, with is_interleaved as default

  HeadSize head;
  std::int64_t head_default;
  ModelKeys head_keys;   ///< default: head_dim
  bool rules_need_head;  ///< rules other than "default" need head_dim
  /// Width and number of heads of a configuration inside another one that leaves them out.
  std::vector<std::int64_t> default_sizes;
  ModelKeys width_keys;  ///< default: hidden_size
  ModelKeys heads_keys;  ///< default: num_attention_heads
  /// The number of channels of a head that are rotated. Without it, the share decides.
  std::int64_t turned_default;
  ModelKeys turned_keys;
  /// The share of the channels of a head that are rotated. If JSON has a default and no keys, the
  /// keys are partial_rotary_factor of the configuration and of the rule.
  double share_default;
  ModelKeys share_keys;

  double base;          ///< default: 10000
  ModelKeys base_keys;  ///< default: rope_theta of the configuration and of the rule
  /// JSON has an object with the name of each rule and its reader, or the name of a rule set
  /// (default: usual).
  NamedRules rules;
  HeldJson<ConfigJson> default_rule;  ///< rule of the class; null if it has none
  bool ignores_common_rule;           ///< takes no rule that is meant for all kinds of layers
  bool needs_rope_type;               ///< "type", the older name of "rope_type", is not enough
  /// The square of YaRN's logarithm of mscale_all_dim multiplies the scale of the softmax.
  bool scales_softmax;

  AxisOrder axes;
  std::vector<std::int64_t> sections;  ///< default pairs of each axis

  Words ignored;                ///< keys that have no effect
  HeldJson<ConfigJson> needs;   ///< keys that must have these values
  HeldJson<ConfigJson> allows;  ///< keys that must be absent or have these values
  std::string not_null;         ///< key that may be absent, but not null
  std::string dependent;        ///< key that needs the other key `dependent_on`
  std::string dependent_on;
};

/// The one or two kinds of layers with a rotary embedding. Fields of the whole model, such as
/// `ignored`, are in the first kind. In JSON, the fields of a single kind stand beside `types`.
using TextModels = std::vector<TextModel>;

/// A model type whose configuration holds the configuration of a text model.
struct WrapperModel {
  std::string text;               ///< key of the text model; default: text_config
  std::string text_type;          ///< model type of the text model if it does not say
  std::string suffix;             ///< or the type of the wrapper, and this suffix
  bool is_only_type;              ///< no other model type is allowed
  bool is_forced_type;            ///< the text model has this type, whatever it says
  bool may_be_flat;               ///< without `text`, the keys of the text model are at the top
  HeldJson<ConfigJson> defaults;  ///< defaults of the wrapper for the text model
  std::string twin;               ///< key of a part that must have the same rotary embedding
  Words ignored;                  ///< keys of the wrapper that have no effect
};

/// Model types by name.
struct ModelTypes {
  std::map<std::string, NamedRules, std::less<>> rule_sets;
  std::map<std::string, TextModels, std::less<>> models;
  std::map<std::string, WrapperModel, std::less<>> wrappers;
  /// Why a known model type has no rotary embedding that can be read.
  std::map<std::string, std::string, std::less<>> without_rope;

  /// Adds the types of a text in JSON. They replace types of the same name. Throws InvalidArgument
  /// if the text is not JSON, or if a field is not known, is missing or has a wrong value.
  void add(std::string_view json);
};

/// The text of model_types.json, which the build compiles into the library.
extern const std::string_view known_model_types_json;

/// The types of model_types.json, which every build of posenc holds.
const ModelTypes& known_types();

/// The entry of the name; nullptr if there is none.
template <class Map>
const typename Map::mapped_type* find_in(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace posenc::detail
