#include "posenc/layers/internal/family_reader.h"

#include "posenc/error.h"
#include "posenc/layers/internal/rotary_rules.h"
#include "posenc/spec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace posenc {
namespace {

constexpr std::string_view position_type_key = "position_embedding_type";

/// The rules of a configuration: one, or one for each kind of layers.
struct RuleSetKeys {
  std::string kind;  ///< empty: of all layers
  ConfigKeys keys;
};

bool is_object_of_objects(const ConfigJson& rules) {
  return std::ranges::any_of(rules, [](const ConfigJson& each) { return each.is_object(); });
}

class FamilyReader {
 public:
  FamilyReader(const ConfigKeys& config, std::string_view model_type, const RotaryFamily& family,
               const RotaryConfigOptions& options)
      : config_(config),
        model_type_(model_type),
        family_(family),
        options_(options),
        channels_(family.channels),
        kinds_(family.kinds.begin(), family.kinds.end()),
        unturned_(family.unturned) {}

  RotaryReading read() {
    for (const std::string_view key : family_.harmless) config_.mark(key);
    apply_quirk();
    check_position_type();
    find_rules();
    choose_kinds();
    RotaryReading reading = {.model_type = std::string(model_type_)};
    for (const LayerKind& kind : kinds_)
      reading.layers.push_back({std::string(kind.name), rotary_of(kind)});
    reading.unturned = unturned_;
    reading.most_rows = config_.integer("max_position_embeddings", 2).value_or(0);
    for (const RuleSetKeys& each : rules_) {
      const bool is_used = each.kind.empty() || has_kind(each.kind);
      if (is_used) check_rule_keys(each.keys);
    }
    warnings_.swap(reading.warnings);
    return reading;
  }

 private:
  // Rules.

  /// rope_parameters is the newer name. A rule for each kind of layers is an object of objects.
  void find_rules() {
    const ConfigJson* const older = object_of("rope_scaling");
    const ConfigJson* const newer = object_of("rope_parameters");
    if (older != nullptr && newer != nullptr && *older != *newer)
      config_.refuse("rope_scaling", "rope_parameters, which is given too");
    const std::string_view name = newer != nullptr ? "rope_parameters" : "rope_scaling";
    const ConfigJson* const rules = newer != nullptr ? newer : older;
    if (rules == nullptr) return;
    if (!is_object_of_objects(*rules)) {
      rules_.push_back({"", ConfigKeys(*rules, config_.path(name))});
      return;
    }
    for (const auto& [kind, rule] : rules->items()) {
      const std::string path = config_.path(name) + "." + name_of_key(kind);
      if (rule.is_null()) continue;
      if (!rule.is_object()) refuse(path, rule, "an object, as the other kinds of layers have");
      if (kind.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") != std::string::npos)
        refuse(path, rule, "a rule under the name of a kind of layers, such as full_attention");
      rules_.push_back({kind, ConfigKeys(rule, path)});
    }
  }

  const ConfigJson* object_of(std::string_view key) const {
    const ConfigJson* const value = config_.get(key);
    if (value != nullptr && !value->is_object()) config_.refuse(key, "an object");
    return value == nullptr || value->empty() ? nullptr : value;
  }

  /// The rule's keys of a kind; nullptr if there are none.
  const ConfigKeys* keys_of(const LayerKind& kind) const {
    if (rules_.empty()) return nullptr;
    if (rules_.front().kind.empty()) return &rules_.front().keys;
    const auto found = std::ranges::find(rules_, kind.name, &RuleSetKeys::kind);
    return found == rules_.end() ? nullptr : &found->keys;
  }

  bool has_kind(std::string_view name) const {
    return std::ranges::count(kinds_, name, &LayerKind::name) > 0;
  }

  bool has_rule_for_each_kind() const { return !rules_.empty() && !rules_.front().kind.empty(); }

  // Kinds of layers.

  void choose_kinds() {
    if (kinds_.empty() && has_rule_for_each_kind()) {
      for (const RuleSetKeys& each : rules_) kinds_.push_back({.name = each.kind, .base_key = {}});
    }
    drop_kinds_without_layers();
    if (has_rule_for_each_kind()) check_kinds_of_rules();
    if (kinds_.empty()) kinds_.push_back({.name = {}});
  }

  /// By layer_types, which names the kind of each layer.
  void drop_kinds_without_layers() {
    const ConfigJson* const types = config_.get("layer_types");
    if (types == nullptr || kinds_.empty()) return;
    if (!types->is_array()) config_.refuse("layer_types", "a list of kinds of layers");
    const auto has = [&](std::string_view kind) { return std::ranges::count(*types, kind) > 0; };
    if (!has("full_attention") && !has("sliding_attention")) return;
    std::erase_if(kinds_, [&](const LayerKind& kind) { return !has(kind.name); });
    if (kinds_.empty())
      config_.refuse("layer_types", "at least one kind of layers with a rotary embedding");
  }

  void check_kinds_of_rules() const {
    for (const LayerKind& kind : kinds_) {
      if (keys_of(kind) != nullptr) continue;
      refuse_absence("rule for " + std::string(kind.name) + " in rope_parameters");
    }
    for (const RuleSetKeys& each : rules_) {
      // A kind that has no layers may have a rule.
      if (has_kind(each.kind) || std::ranges::count(family_.kinds, each.kind, &LayerKind::name) > 0)
        continue;
      refuse(each.keys.path(), each.keys.json(), "a rule for a kind of layers that is turned");
    }
  }

  // A rotary embedding.

  RotarySpec rotary_of(const LayerKind& kind) {
    const ConfigKeys none(empty_);
    const ConfigJson by_default =
        kind.default_rule.empty() ? ConfigJson::object() : ConfigJson::parse(kind.default_rule);
    const ConfigKeys default_keys(by_default);
    const ConfigKeys* keys = keys_of(kind);
    const bool takes_rule = kind.has_rule || has_rule_for_each_kind();
    if (keys == nullptr) keys = kind.default_rule.empty() ? &none : &default_keys;
    const ConfigKeys& rule_keys = takes_rule ? *keys : none;
    const unsigned rule = rule_of(rule_keys, kind.rules != 0 ? kind.rules : family_.rules);
    const std::int64_t head = head_of(kind);
    const bool is_proportional = rule == rule_proportional;
    const std::int64_t dimension =
        is_proportional ? head : turned_part_of(head, head_key_of(kind), rule_keys);
    EncodingSpec spec = {.d_model = dimension, .base = base_of(kind, *keys, takes_rule)};
    RotaryRule read = is_proportional ? proportional(rule_keys, dimension)
                                      : read_rule(rule, rule_keys, context_of(dimension));
    if (quirk_rule_) read.rule = *quirk_rule_;
    spec.frequencies = read.rule;
    spec.base *= read.base_ratio;
    return checked({.angles = angles_of(spec, rule_keys),
                    .channels = options_.channels.value_or(channels_),
                    .attention_factor = read.attention_factor});
  }

  RuleContext context_of(std::int64_t dimension) const {
    return {config_, model_type_, family_, dimension, options_.rows};
  }

  static RotarySpec checked(RotarySpec spec) {
    validate(spec);
    return spec;
  }

  /// The bit of the rule that the keys name.
  unsigned rule_of(const ConfigKeys& keys, unsigned allowed) {
    std::optional<std::string> type = keys.text("rope_type"), older = keys.text("type");
    // Names that Transformers has replaced.
    if (older == "mrope" && family_.sections != SectionOrder::none) older = "default";
    if (type == "mrope" && family_.sections != SectionOrder::none) type = "default";
    const bool is_phi3 = family_.quirk == Quirk::phi3;
    for (auto* const name : {&type, &older}) {
      if (is_phi3 && (*name == "su" || *name == "yarn")) *name = "longrope";
    }
    if (type == "longrope" && older == "su") older = type;
    const std::string name =
        agreed<std::string>({{keys.path("rope_type"), type}, {keys.path("type"), older}})
            .value_or("default");
    const unsigned bit = rule_bit(name);
    if ((bit & allowed) != 0) return bit;
    if (bit != 0 || options_.strict) refuse("rope_type", ConfigJson(name), rule_names_of(allowed));
    warn("rope_type", ConfigJson(name), "read as none");
    return rule_default;
  }

  RotaryRule proportional(const ConfigKeys& keys, std::int64_t head) const {
    const double share = keys.real("partial_rotary_factor", 0, 1).value_or(1);
    const double factor = keys.real("factor").value_or(1);
    const double turned = std::floor(share * static_cast<double>(head) / 2);
    return {ProportionalScaling{factor, static_cast<std::int64_t>(turned)}};
  }

  std::string_view head_key_of(const LayerKind& kind) const {
    const bool has_own =
        !kind.head_key.empty() && (kind.default_head != 0 || config_.has(kind.head_key));
    return has_own ? kind.head_key : family_.head_key;
  }

  /// The channels of a head.
  std::int64_t head_of(const LayerKind& kind) const {
    const std::string_view key = head_key_of(kind);
    const auto given = config_.integer(key);
    const std::int64_t by_default =
        kind.default_head != 0 ? kind.default_head : family_.default_head;
    if (is_latent()) return given.value_or(0);
    switch (family_.head) {
      case HeadSize::divided: {
        const std::int64_t head = divided_head();
        agreed<std::int64_t>({{format_text("{} / {}", family_.width_key, family_.heads_key), head},
                              {config_.path(key), given}});
        return head;
      }
      case HeadSize::given:
        if (by_default != 0) return given.value_or(by_default);
        return needed(config_.path(key), given);
      case HeadSize::given_or_divided: break;
    }
    if (given) return *given;
    return by_default != 0 ? by_default : divided_head();
  }

  /// Transformers leaves the defaults of a class out of a configuration in another one.
  std::int64_t size_of(std::string_view key, std::int64_t by_default) const {
    const auto given = config_.integer(key);
    if (!given && by_default != 0 && config_.is_nested()) return by_default;
    return needed(config_.path(key), given);
  }

  std::int64_t divided_head() const {
    return size_of(family_.width_key, family_.default_width) /
           size_of(family_.heads_key, family_.default_heads);
  }

  /// The channels of a head that are turned.
  std::int64_t turned_part_of(std::int64_t head, std::string_view head_key,
                              const ConfigKeys& rule) const {
    std::string_view key = head_key;
    if (family_.head == HeadSize::divided) key = family_.width_key;
    const std::optional<double> share = share_of(rule);
    std::int64_t dimension = 0;
    if (const auto turned = turned_channels(); turned) {
      key = family_.turned_key;
      check_turned(*turned, head);
      dimension = *turned;
      if (share) {
        agreed<std::int64_t>(
            {{config_.path(key), dimension}, {"the share of the head", part(head, *share)}});
      }
    } else {
      dimension = part(head, needed(family_.share_keys[0], share ? share : default_share()));
    }
    if (dimension >= 2 && dimension % 2 == 0 && dimension <= max_d_model) return dimension;
    refuse(format_text("the dimension, from {},", config_.path(key)), ConfigJson(dimension),
           format_text("even, 2 to {}", max_d_model));
  }

  static std::int64_t part(std::int64_t head, double share) {
    return static_cast<std::int64_t>(static_cast<double>(head) * share);
  }

  std::optional<std::int64_t> turned_channels() const {
    if (family_.turned_key.empty()) return {};
    const auto given = config_.integer(family_.turned_key);
    if (!given && family_.is_turned_key_needed) refuse_absence(config_.path(family_.turned_key));
    return given;
  }

  void check_turned(std::int64_t turned, std::int64_t head) const {
    if (is_latent()) {
      if (head == 0) return;  // not given
      agreed<std::int64_t>(
          {{config_.path(family_.turned_key), turned}, {config_.path(family_.head_key), head}});
    } else if (turned > head) {
      config_.refuse(family_.turned_key, format_text("at most {}, the channels of a head", head));
    }
  }

  /// Multi-head latent attention, of which some channels are turned.
  bool is_latent() const { return family_.turned_key == "qk_rope_head_dim"; }

  std::optional<double> default_share() const {
    if (family_.default_share == 0) return {};
    return family_.default_share;
  }

  /// If it is given: keys beside the rule, of which the first may also be the rule's.
  std::optional<double> share_of(const ConfigKeys& rule) const {
    return in_both(family_.share_keys, rule, 0, 1);
  }

  template <class Keys>
  std::optional<double> in_both(const Keys& names, const ConfigKeys& rule, double above,
                                double most) const {
    std::vector<Named<double>> given;
    for (const std::string_view name : names) {
      if (!name.empty()) given.emplace_back(config_.path(name), config_.real(name, above, most));
    }
    if (!given.empty()) given.emplace_back(rule.path(names[0]), rule.real(names[0], above, most));
    return agreed<double>(given);
  }

  /// A rule for all layers has the base of those kinds whose key has the name that the rule's has.
  double base_of(const LayerKind& kind, const ConfigKeys& rule, bool takes_rule) const {
    constexpr double any = std::numeric_limits<double>::infinity();
    std::optional<double> base;
    if (kind.name.empty() || kind.base_key == "rope_theta") {
      base = in_both(family_.base_keys, rule, 1, any);
    } else {
      std::vector<Named<double>> given;
      if (!kind.base_key.empty()) {
        given.emplace_back(config_.path(kind.base_key), config_.real(kind.base_key, 1, any));
      } else if (family_.kinds.empty() && !family_.base_keys[0].empty()) {
        given.emplace_back(config_.path(family_.base_keys[0]),
                           config_.real(family_.base_keys[0], 1, any));
      }
      if (takes_rule) given.emplace_back(rule.path("rope_theta"), rule.real("rope_theta", 1, any));
      base = agreed<double>(given);
    }
    const double by_default = kind.default_base != 0 ? kind.default_base : family_.default_base;
    if (!base && by_default != 0) base = by_default;
    return needed(config_.path("rope_theta"), base) * base_ratio_;
  }

  // Axes.

  AxesSpec angles_of(const EncodingSpec& spec, const ConfigKeys& rule) const {
    if (family_.sections == SectionOrder::none) return one_axis(spec);
    const auto [key, sections] = sections_of(spec, rule);
    const std::int64_t pairs = spec.d_model / 2;
    std::int64_t sum = 0;
    for (const std::int64_t each : sections) sum = std::min(sum + each, 2 * pairs);
    if (sum != pairs || sections.size() > max_axes) {
      refuse(rule.path(key), ConfigJson(sections),
             format_text("a list whose sum is {}, the number of pairs", pairs));
    }
    return axes_of(rule.path(key), sections, spec);
  }

  std::pair<std::string_view, std::vector<std::int64_t>> sections_of(const EncodingSpec& spec,
                                                                     const ConfigKeys& rule) const {
    if (family_.quirk == Quirk::ernie_vl) return {"mrope_section", ernie_sections(spec)};
    const std::string_view key = family_.rules == rule_xdrope ? "xdrope_section" : "mrope_section";
    const bool is_interleaved = family_.sections == SectionOrder::interleaved;
    for (const std::string_view flag : {"mrope_interleaved", "interleaved"}) {
      if (rule.has(flag) && rule.boolean(flag, is_interleaved) != is_interleaved)
        rule.refuse(flag, is_interleaved ? "true" : "false");
    }
    if (rule.has(key)) return {key, rule.integers(key)};
    const auto& by_default = family_.default_sections;
    if (by_default[0] == 0) refuse_absence(rule.path(key));
    return {key, std::vector<std::int64_t>(by_default.begin(), by_default.end())};
  }

  AxesSpec axes_of(const std::string& name, const std::vector<std::int64_t>& sections,
                   const EncodingSpec& spec) const {
    if (family_.sections == SectionOrder::in_sections) return axes_in_sections(sections, spec);
    if (sections.size() != 3) refuse(name, ConfigJson(sections), "three sections");
    if (family_.sections == SectionOrder::interleaved) return axes_interleaved(sections, spec);
    // ERNIE's are of height, width and time.
    if (sections[0] != sections[1])
      refuse(name, ConfigJson(sections), "equal sections of height and width, then that of time");
    const std::int64_t in_order[] = {sections[2], sections[0], sections[1]};
    return axes_alternating(in_order, spec);
  }

  std::vector<std::int64_t> ernie_sections(const EncodingSpec& spec) const {
    const std::int64_t of_time = config_.integer("freq_allocation", 0).value_or(20);
    const std::int64_t of_others = spec.d_model / 2 - of_time;
    if (of_others < 0 || of_others % 2 != 0) {
      config_.refuse("freq_allocation",
                     format_text("up to {}, with an even rest", spec.d_model / 2));
    }
    return {of_others / 2, of_others / 2, of_time};
  }

  // Model types.

  void apply_quirk() {
    switch (family_.quirk) {
      case Quirk::baichuan: return require_baichuan_7b();
      case Quirk::chatglm: base_ratio_ = config_.real("rope_ratio").value_or(1); return;
      case Quirk::deepseek: return read_interleave("rope_interleave", true);
      case Quirk::ernie_vl: return require("rope_3d", true, false);
      case Quirk::exaone4: return read_exaone4();
      case Quirk::hunyuan: return agree_on_heads("attention_head_dim");
      case Quirk::bamba: return agree_on_turned("attn_rotary_emb");
      case Quirk::modernbert: return require_not_null("local_rope_theta");
      case Quirk::moonshine: return require_equal_heads();
      case Quirk::no_rope_layers: return read_no_rope_layers();
      case Quirk::nomic: return read_interleave("rotary_emb_interleaved", false);
      case Quirk::qwen_v1: return read_qwen_v1();
      case Quirk::sliding_window_needed: return require_not_null("sliding_window");
      case Quirk::zamba2: return require_zamba2();
      case Quirk::granite_hybrid:
      case Quirk::none:
      case Quirk::phi3:
      case Quirk::phimoe:
      case Quirk::rotary_position_type: return;
    }
  }

  void check_position_type() const {
    if (config_.is_read(position_type_key)) return;
    const auto name = config_.text(position_type_key);
    if (family_.quirk == Quirk::rotary_position_type) {
      if (name != "rotary") config_.refuse(position_type_key, "rotary");
      return;
    }
    if (family_.quirk == Quirk::granite_hybrid && !name) config_.refuse(position_type_key, "rope");
    if (!name || name == "rope") return;
    const bool is_interleaved = channels_ == RotaryLayout::interleaved;
    if (name == "rope_gptj" && is_interleaved) return;
    config_.refuse(position_type_key, is_interleaved ? "rope, rope_gptj" : "rope");
  }

  void require(std::string_view key, bool wanted, bool by_default) const {
    if (config_.boolean(key, by_default) != wanted) config_.refuse(key, wanted ? "true" : "false");
  }

  void require_not_null(std::string_view key) const {
    if (config_.is_null(key)) config_.refuse(key, "a number");
  }

  /// The larger model has ALiBi.
  void require_baichuan_7b() const {
    if (divided_head() != 128 || config_.integer("hidden_size") != 4096)
      config_.refuse("hidden_size", "4096; larger models have ALiBi, a bias");
  }

  void require_equal_heads() const {
    const std::string_view other = "decoder_num_attention_heads";
    agreed<std::int64_t>({{config_.path(family_.heads_key), config_.integer(family_.heads_key)},
                          {config_.path(other), config_.integer(other)}});
  }

  void require_zamba2() const {
    require("use_mem_rope", true, false);
    require("use_long_context", false, false);
  }

  void read_interleave(std::string_view key, bool by_default) {
    const bool is_interleaved = config_.boolean(key, by_default);
    channels_ = is_interleaved ? RotaryLayout::interleaved : RotaryLayout::halves;
  }

  void agree_on_heads(std::string_view key) const {
    agreed<std::int64_t>({{config_.path(family_.head_key), config_.integer(family_.head_key)},
                          {config_.path(key), config_.integer(key)}});
  }

  void agree_on_turned(std::string_view key) const {
    const auto given = config_.integer(key);
    if (!given) return;
    agreed<std::int64_t>({{"half of a head", part(divided_head(), family_.default_share)},
                          {config_.path(key), given}});
  }

  /// Beyond the rows of training, the base grows in steps.
  void read_qwen_v1() {
    const bool is_dynamic = config_.boolean("use_dynamic_ntk", false);
    const auto trained = config_.integer("seq_length");
    if (!is_dynamic || !options_.rows || !trained || *options_.rows <= *trained) return;
    const double ratio = static_cast<double>(*options_.rows) / static_cast<double>(*trained);
    quirk_rule_ = NtkScaling{std::exp2(std::ceil(std::log2(ratio) + 1)) - 1};
  }

  /// Without a window, every layer is turned.
  void read_exaone4() {
    if (!config_.is_null("sliding_window")) return;
    kinds_.clear();
    unturned_.clear();
  }

  /// A list with 1 for every layer that is turned; by default all but every n-th.
  void read_no_rope_layers() {
    const std::int64_t interval = config_.integer("no_rope_layer_interval").value_or(4);
    std::vector<std::int64_t> turned;
    if (config_.has("no_rope_layers")) turned = config_.integers("no_rope_layers");
    config_.mark("no_rope_layers");
    const auto layers = config_.integer("num_hidden_layers");
    if (turned.empty() && !layers) {
      unturned_ = format_text("the last of every {} layers", interval);
      return;
    }
    if (turned.empty()) {
      for (std::int64_t i = 1; i <= std::min(*layers, max_layers); ++i)
        turned.push_back(i % interval == 0 ? 0 : 1);
    }
    name_unturned(turned);
  }

  void name_unturned(const std::vector<std::int64_t>& turned) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      if (turned[i] == 0) names.push_back(format_text("{}", i));
    }
    if (names.size() == turned.size())
      config_.refuse("no_rope_layers", "a list with at least one 1, for a layer that is turned");
    if (!names.empty()) unturned_ = "layers " + join(names, ", ");
  }

  // Keys that were not read.

  void check_rule_keys(const ConfigKeys& rule) {
    for (const auto& [key, value] : rule.json().items()) {
      if (rule.is_read(key) || value.is_null()) continue;
      const std::string allowed = "none, since it is not read";
      if (options_.strict) refuse(rule.path(key), value, allowed);
      warn(rule.path(key), value, "not read");
    }
  }

  void warn(const std::string& name, const ConfigJson& value, std::string_view what) {
    warnings_.push_back(format_text("{} is {}; {}", name, text_of(value), what));
  }

  static constexpr std::int64_t max_layers = 4096;
  inline static const ConfigJson empty_ = ConfigJson::object();

  const ConfigKeys& config_;
  std::string_view model_type_;
  const RotaryFamily& family_;
  const RotaryConfigOptions& options_;
  RotaryLayout channels_;
  std::vector<LayerKind> kinds_;
  std::string unturned_;
  std::vector<RuleSetKeys> rules_;
  double base_ratio_ = 1;
  std::optional<FrequencyRule> quirk_rule_;
  std::vector<std::string> warnings_;
};

}  // namespace

RotaryReading read_family(const ConfigKeys& config, std::string_view model_type,
                          const RotaryFamily& family, const RotaryConfigOptions& options) {
  RotaryReading reading = FamilyReader(config, model_type, family, options).read();
  // A configuration in another one is that of a part of a model.
  const bool has_parts = family.is_multimodal || config.is_nested();
  const auto parts = has_parts ? parts_beside_text() : std::span<const std::string_view>();
  check_all_read(config, parts, options.strict, reading.warnings);
  return reading;
}

void check_all_read(const ConfigKeys& keys, std::span<const std::string_view> left_out,
                    bool is_strict, std::vector<std::string>& warnings) {
  const auto visit = [&](const std::string& path, const ConfigJson& value,
                         const std::string& allowed) {
    if (is_strict) refuse(path, value, allowed);
    warnings.push_back(format_text("{} is {}; not read", path, text_of(value)));
  };
  for_each_unread(keys, left_out, visit);
}

}  // namespace posenc
