#include "posenc/layers/internal/family_reader.h"

#include "posenc/error.h"
#include "posenc/layers/internal/head_channels.h"
#include "posenc/layers/internal/model_traits.h"
#include "posenc/layers/internal/rotary_rules.h"
#include "posenc/layers/internal/rotary_sections.h"
#include "posenc/spec.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posenc {
namespace {

/// The rules of a configuration: one, or one for each kind of layers.
struct RuleSetKeys {
  std::string kind;  ///< empty: of all layers
  ConfigKeys keys;
};

bool is_object_of_objects(const ConfigJson& rules) {
  return std::ranges::any_of(rules, [](const ConfigJson& each) { return each.is_object(); });
}

/// The rule under the name that both rope_scaling and rope_parameters have for it.
ConfigJson with_type_of_both(const ConfigJson& rule) {
  ConfigJson result = rule;
  const ConfigJson older = rule.value("type", ConfigJson("default"));
  ConfigJson type = rule.value("rope_type", older);
  if (type == "mrope") type = "default";
  if (type == "su") type = "longrope";
  result.erase("type");
  result["rope_type"] = type;
  return result;
}

/// True if the rules are equal, but that the newer one may have keys that stand beside the older.
bool says_the_same(const ConfigJson& older, const ConfigJson& newer) {
  if (older == newer) return true;
  if (is_object_of_objects(older) || is_object_of_objects(newer)) return false;
  const ConfigJson before = with_type_of_both(older);
  ConfigJson now = with_type_of_both(newer);
  for (const char* const key : {"partial_rotary_factor", "rope_theta"}) {
    if (!before.contains(key)) now.erase(key);
  }
  return before == now;
}

class FamilyReader {
 public:
  FamilyReader(const ConfigKeys& config, std::string_view model_type, const RotaryFamily& family,
               const RotaryConfigOptions& options)
      : config_(config),
        model_type_(model_type),
        family_(family),
        options_(options),
        traits_(read_traits(family, config, options)),
        kinds_(traits_.kinds) {}

  RotaryReading read() {
    find_rules();
    choose_kinds();
    RotaryReading reading = {.model_type = std::string(model_type_)};
    for (const LayerKind& kind : kinds_)
      reading.layers.push_back({std::string(kind.name), rotary_of(kind)});
    reading.unturned = traits_.unturned;
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
    if (older != nullptr && newer != nullptr && !says_the_same(*older, *newer))
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
      constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_0123456789";
      const bool is_word = !kind.empty() && kind.find_first_not_of(letters) == std::string::npos;
      if (!is_word || kind == "type" || is_rope_like(kind))
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
    const auto has = [&](std::string_view kind) {
      return std::any_of(types->begin(), types->end(), [&](const ConfigJson& each) {
        return each.is_string() && each.get_ref<const std::string&>() == kind;
      });
    };
    if (!has("full_attention") && !has("sliding_attention")) return;
    std::vector<LayerKind> kept;
    for (const LayerKind& kind : kinds_) {
      if (has(kind.name)) kept.push_back(kind);
    }
    kinds_ = std::move(kept);
    if (kinds_.empty())
      config_.refuse("layer_types", "at least one kind of layers with a rotary embedding");
  }

  void check_kinds_of_rules() const {
    for (const LayerKind& kind : kinds_) {
      if (keys_of(kind) != nullptr) continue;
      refuse_absence("rule for " + std::string(kind.name) + " in rope_parameters");
    }
    if (family_.kinds.empty()) return;  // The kinds are those of the rules.
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
    const std::int64_t head = head_channels(family_, kind, config_);
    const bool is_proportional = rule == rule_proportional;
    const std::int64_t dimension =
        is_proportional ? head : turned_channels(family_, kind, config_, rule_keys, head);
    EncodingSpec spec = {.d_model = dimension, .base = base_of(kind, *keys, takes_rule)};
    RotaryRule read = is_proportional ? proportional(rule_keys, dimension)
                                      : read_rule(rule, rule_keys, context_of(dimension));
    if (traits_.rule) read.rule = *traits_.rule;
    spec.frequencies = read.rule;
    spec.base *= read.base_ratio;
    return checked({.angles = read_axes(spec, family_, config_, rule_keys),
                    .channels = options_.channels.value_or(traits_.channels),
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

  /// A rule for all layers has the base of those kinds whose key has the name that the rule's has.
  double base_of(const LayerKind& kind, const ConfigKeys& rule, bool takes_rule) const {
    constexpr double any = std::numeric_limits<double>::infinity();
    std::optional<double> base;
    if (kind.name.empty() || kind.base_key == "rope_theta") {
      base = agreed_in_both(family_.base_keys, config_, rule, 1, any);
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
    double by_default = kind.default_base != 0 ? kind.default_base : family_.default_base;
    if (by_default == 0 && config_.is_nested()) by_default = family_.default_nested_base;
    if (!base && by_default != 0) base = by_default;
    return needed(config_.path("rope_theta"), base) * traits_.base_ratio;
  }

  // Keys that were not read.

  void check_rule_keys(const ConfigKeys& rule) {
    for (const auto& [key, value] : rule.json().items()) {
      if (rule.is_read(key) || changes_nothing(key, value)) continue;
      const std::string allowed = "none, since it is not read";
      if (options_.strict) refuse(rule.path(key), value, allowed);
      warn(rule.path(key), value, "not read");
    }
  }

  void warn(const std::string& name, const ConfigJson& value, std::string_view what) {
    warnings_.push_back(format_text("{} is {}; {}", name, text_of(value), what));
  }

  inline static const ConfigJson empty_ = ConfigJson::object();

  const ConfigKeys& config_;
  std::string_view model_type_;
  const RotaryFamily& family_;
  const RotaryConfigOptions& options_;
  const ModelTraits traits_;
  std::vector<LayerKind> kinds_;
  std::vector<RuleSetKeys> rules_;
  std::vector<std::string> warnings_;
};

}  // namespace

RotaryReading read_family(const ConfigKeys& config, std::string_view model_type,
                          const RotaryFamily& family, const RotaryConfigOptions& options) {
  for (const std::string_view key : family.harmless) config.mark(key);
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
