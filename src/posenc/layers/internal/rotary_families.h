// How the code of each model type reads its configuration: the table behind read_rotary_config().
// Internal: not installed.
#pragma once

#include "posenc/layers/rotary_spec.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace posenc {

/// Where the channels of a head are from.
enum class HeadSize {
  divided,           ///< width / heads; a head_key that is given must agree
  given,             ///< head_key
  given_or_divided,  ///< head_key; if absent, width / heads
};

/// Which axis a pair belongs to, in models that have sections.
enum class SectionOrder { none, in_sections, interleaved, alternating };

/// Rules, as bits.
enum RuleSet : unsigned {
  rule_default = 1,
  rule_dynamic = 2,
  rule_linear = 4,
  rule_llama3 = 8,
  rule_longrope = 16,
  rule_yarn = 32,
  rule_proportional = 64,
  rule_xdrope = 128,
  rule_ntk = 256,
  standard_rules =
      rule_default | rule_dynamic | rule_linear | rule_llama3 | rule_longrope | rule_yarn,
};

/// What a model type has that no other field says. model_traits.cpp reads most of them.
enum class Quirk {
  none,
  baichuan,
  bamba,
  chatglm,
  deepseek,
  ernie_vl,
  exaone4,
  granite_hybrid,
  hunyuan,
  modernbert,
  moonshine,
  nomic,
  no_rope_layers,
  phi3,
  phimoe,
  qwen_v1,
  rotary_position_type,
  sliding_window_needed,
  zamba2,
};

/// A kind of layers with a rotary embedding of its own.
struct LayerKind {
  std::string_view name;
  std::string_view base_key = "rope_theta";  ///< beside the rule
  double default_base = 0;                   ///< if none is given; 0: it is needed
  bool has_rule = true;                      ///< takes a rule that is given for all layers
  std::string_view default_rule = {};        ///< as JSON, if none is given
  unsigned rules = 0;                        ///< 0: those of the family
  /// If it is not there, and has no default, that of the family.
  std::string_view head_key = {};
  std::int64_t default_head = 0;
};

struct RotaryFamily {
  RotaryLayout channels = RotaryLayout::halves;
  HeadSize head = HeadSize::divided;
  std::string_view head_key = "head_dim", other_head_key = {};  ///< of which one may be absent
  std::int64_t default_head = 0;  ///< if there is no head_key; 0: it is needed
  std::string_view width_key = "hidden_size", heads_key = "num_attention_heads";
  /// Of a configuration in another one. 0: they are needed.
  std::int64_t default_width = 0, default_heads = 0;
  double default_nested_base = 0;
  std::string_view turned_key = {};  ///< of the turned channels; empty: a share of the head
  bool is_turned_key_needed = true;
  /// Of which those that are given agree. The first one may also be in the rule.
  std::array<std::string_view, 2> base_keys = {"rope_theta"};
  double default_base = 0;  ///< if none is given; 0: it is needed
  /// Keys of the share of a head that is turned, likewise.
  std::array<std::string_view, 2> share_keys = {};
  double default_share = 1;
  unsigned rules = standard_rules;
  SectionOrder sections = SectionOrder::none;
  std::array<std::int64_t, 3> default_sections = {};  ///< zeros: they are needed
  std::span<const LayerKind> kinds = {};              ///< empty: all layers are alike
  std::string_view unturned = {};                     ///< the layers without a rotary embedding
  std::array<std::string_view, 4> harmless = {};      ///< rope-like keys that do not change it
  bool is_multimodal = false;  ///< other parts stand beside the keys of the text model
  Quirk quirk = Quirk::none;
};

/// A model that holds a text model.
struct ConfigWrapper {
  std::string_view model_type;
  /// Where the configuration of the text model is: "text_config", or "thinker_config.text_config".
  std::string_view path = "text_config";
  /// The one type that the text model has; empty: its own model_type says it.
  std::string_view text_type = {};
  /// The text model's type, if its configuration does not say it; empty: it has to.
  std::string_view default_type = {};
  /// The keys of the text model may stand at the top, if there is nothing at `path`.
  bool may_be_flat = false;
};

/// nullptr if the type is not known.
const RotaryFamily* find_family(std::string_view model_type);
const ConfigWrapper* find_wrapper(std::string_view model_type);

/// Why a known type has no rotary embedding that is read; empty if there is nothing to say.
std::string_view why_not_read(std::string_view model_type);

/// All types of families and wrappers, in alphabetical order.
const std::vector<std::string_view>& all_model_types();

/// Parts of multimodal models, whose rotary embeddings are not those of the text.
std::span<const std::string_view> parts_beside_text();

}  // namespace posenc
