// The table of model types. Internal: not installed.
#pragma once

#include "posenc/model/internal/rotary_rules.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace posenc::detail {

/// A key that the class of a model reads.
struct ModelKey {
  constexpr ModelKey(const char* key = "") : name(key) {}

  /// {} in the name stands for each layer of the kind. The key before it has a number for all
  /// layers, or a list or an object with one entry per layer.
  std::string_view name;
  bool is_in_rule = false;  ///< a key of the rule, not of the configuration
  bool is_echo = false;     ///< has no effect, but must have the same value
};
/// The keys of one value. If several keys are given, they must agree.
using ModelKeys = std::array<ModelKey, 3>;

constexpr ModelKey in_rule(ModelKey key) { return key.is_in_rule = true, key; }
constexpr ModelKey echo(ModelKey key) { return key.is_echo = true, key; }

/// A key, and its value as JSON.
struct KeyValue {
  std::string_view key = {};
  std::string_view json = {};
};
using KeyValues = std::array<KeyValue, 2>;

using ReadRule = RotaryRule (RuleReader::*)() const;
/// A name of a rule in configurations, and the reader of the rule.
struct NamedRule {
  std::string_view name;
  ReadRule read;
};
/// The rules of most classes, with their own readers of two of them.
constexpr std::array<NamedRule, 6> rules_with(ReadRule dynamic, ReadRule yarn) {
  return {{{"default", &RuleReader::none},
           {"dynamic", dynamic},
           {"linear", &RuleReader::linear},
           {"llama3", &RuleReader::llama3},
           {"longrope", &RuleReader::longrope},
           {"yarn", yarn}}};
}
inline constexpr auto usual_rules = rules_with(&RuleReader::dynamic, &RuleReader::yarn);

/// How the number of channels of a head is found. `quotient`: the width divided by the number of
/// heads; head_dim must agree. `given`: head_dim or the default. `either`: head_dim, the default,
/// or else the quotient. `latent`: the rotated channels stand beside the channels of a head.
enum class HeadSize { quotient, given, either, latent };
struct Head {
  HeadSize size = HeadSize::quotient;
  std::int64_t by_default = 0;
  ModelKeys keys = {"head_dim"};
};

/// Sizes of a class, which a configuration inside another one may leave out.
struct Sizes {
  std::int64_t width = 0;
  std::int64_t heads = 0;
};

/// The number of channels of a head that are rotated.
struct Turned {
  std::int64_t by_default = 0;
  ModelKeys keys = {};
};
/// The share of the channels of a head that are rotated.
struct Share {
  double by_default = 1;
  ModelKeys keys = {};
};

/// How the axes of a model share the pairs. M-RoPE has the axes time, height and width. XD-RoPE has
/// four axes.
enum class AxisOrder { one_axis, in_sections, four_in_sections, interleaved, alternating };

/// How the code of a model type reads its configuration: one kind of layers. A default of 0 means
/// that the class has none: the value is needed.
struct TextModel {
  std::string_view layers = {};    ///< kind of the layers, if not all layers are alike
  std::string_view unturned = {};  ///< kind of the layers without a rotary embedding
  bool all_if_no_window = false;   ///< without a sliding window, all layers are alike
  /// Key of a list that has 0 for each layer without a rotary embedding.
  std::string_view turned_layers = {};
  std::int64_t unturned_interval = 0;  ///< without the list, the last of so many layers is unturned

  bool is_interleaved = false;            ///< pairs of neighbours, not halves
  std::string_view interleaved_key = {};  ///< the key that decides, with is_interleaved as default

  Head head = {};
  bool rules_need_head = false;  ///< rules other than "default" need head_dim
  Sizes sizes = {};
  ModelKeys width_keys = {"hidden_size"};
  ModelKeys heads_keys = {"num_attention_heads"};
  Turned turned = {};  ///< without it, the share decides
  Share share = {};

  double base = 1e4;
  ModelKeys base_keys = {"rope_theta", in_rule("rope_theta")};
  std::span<const NamedRule> rules = usual_rules;
  std::string_view default_rule = {};  ///< rule of the class, as JSON
  bool ignores_common_rule = false;    ///< takes no rule that is meant for all kinds of layers
  bool needs_rope_type = false;        ///< "type", the older name of "rope_type", is not enough

  AxisOrder axes = AxisOrder::one_axis;
  std::array<std::int64_t, 3> sections = {};  ///< default pairs of each axis

  std::string_view ignored = {};    ///< keys that have no effect, separated by spaces
  KeyValues needs = {};             ///< keys that must have these values
  KeyValues allows = {};            ///< keys that must be absent or have these values
  std::string_view not_null = {};   ///< key that may be absent, but not null
  std::string_view dependent = {};  ///< key that needs the other key `dependent_on`
  std::string_view dependent_on = {};
};

/// Model types, separated by spaces, and their one or two kinds of layers with a rotary embedding.
/// Fields of the whole model, such as `ignored`, are in the first kind.
struct TextModels {
  std::string_view types;
  TextModel model;
  TextModel second = {};
};

/// Model types whose configuration holds the configuration of a text model.
struct WrapperModels {
  std::string_view types;
  std::string_view text = "text_config";  ///< key of the text model
  std::string_view text_type = {};        ///< model type of the text model if it does not say
  std::string_view suffix = {};           ///< or the type of the wrapper, and this suffix
  bool is_only_type = false;              ///< no other model type is allowed
  bool is_forced_type = false;            ///< the text model has this type, whatever it says
  bool may_be_flat = false;        ///< without `text`, the keys of the text model are at the top
  std::string_view defaults = {};  ///< defaults of the wrapper for the text model, as JSON
  std::string_view twin = {};      ///< key of a part that must have the same rotary embedding
  std::string_view ignored = {};   ///< keys of the wrapper that have no effect
};

/// nullptr if the model type is none of these.
const TextModels* find_text_model(std::string_view model_type);
const WrapperModels* find_wrapper(std::string_view model_type);
/// Why a known model type has no rotary embedding that can be read; empty for other types.
std::string_view reason_without_rope(std::string_view model_type);

}  // namespace posenc::detail
