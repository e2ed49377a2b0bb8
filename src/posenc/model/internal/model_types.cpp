#include "posenc/model/internal/model_types.h"

#include "posenc/model/internal/rotary_rules.h"
#include "posenc/model/rotary_config.h"
#include "posenc/support/made_once.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>

namespace posenc::detail {
namespace {

// The names of the enumerators, in their order.
constexpr std::string_view head_sizes[] = {"quotient", "given", "either", "latent"};
constexpr std::string_view axis_orders[] = {"one_axis", "in_sections", "four_in_sections",
                                            "interleaved", "alternating"};

/// Throws InvalidArgument unless the value of the key, or the default, is one of the names. Returns
/// the index of the name.
template <class Names>
std::ptrdiff_t index_of_name(const ConfigKeys& keys, std::string_view key,
                             std::string_view by_default, const Names& names) {
  const std::string name = keys.text(key).value_or(std::string(by_default));
  const auto found = std::ranges::find(names, name);
  if (found == std::end(names)) keys.refuse(key, join(names, ", "));
  return found - std::begin(names);
}

std::string text_or_none(const ConfigKeys& keys, std::string_view key) {
  return keys.text(key).value_or("");
}

/// An object, or null if the key is absent.
HeldJson<ConfigJson> object_or_null(const ConfigKeys& keys, std::string_view key) {
  const ConfigJson* const object = keys.object(key);
  return object == nullptr ? HeldJson<ConfigJson>() : HeldJson<ConfigJson>(*object);
}

/// A number whose absence and whose null differ: null stands for 0.
double default_number(const ConfigKeys& keys, std::string_view key, double if_absent) {
  keys.mark(key);
  return keys.is_null(key) ? 0 : keys.real(key).value_or(if_absent);
}

ModelKeys model_keys(const ConfigKeys& keys, std::string_view key, const Words& by_default = {}) {
  ModelKeys all;
  for (std::string name : keys.has(key) ? keys.texts(key) : by_default) {
    ModelKey each;
    for (const auto& [prefix, member] : {std::pair(std::string_view("echo:"), &ModelKey::is_echo),
                                         {"else:", &ModelKey::is_else},
                                         {"rule:", &ModelKey::is_in_rule}}) {
      each.*member = name.starts_with(prefix);
      if (each.*member) name.erase(0, prefix.size());
    }
    each.name = name;
    all.push_back(each);
  }
  return all;
}

NamedRules named_rules(const ConfigKeys& keys) {
  NamedRules rules;
  for (const auto& [name, reader] : keys.json().items()) {
    index_of_name(keys, name, "", rule_readers());
    rules.emplace_back(name, reader.get<std::string>());
  }
  return rules;
}

NamedRules rules_of(const ConfigKeys& keys, const ModelTypes& types) {
  const ConfigJson* const own = keys.get("rules");
  if (own != nullptr && own->is_object()) return named_rules(ConfigKeys(*own, keys.path("rules")));
  const NamedRules* const set = find_in(types.rule_sets, keys.text("rules").value_or("usual"));
  if (set != nullptr) return *set;
  Words names;
  for (const auto& each : types.rule_sets) names.push_back(each.first);
  keys.refuse("rules", "an object of rules and readers, or a set: " + join(names, ", "));
}

TextModel text_model(const ConfigKeys& keys, const ModelTypes& types) {
  const auto integer = [&](std::string_view key) { return keys.integer(key).value_or(0); };
  const auto flag = [&](std::string_view key) { return keys.boolean(key, false); };
  const auto integers = [&](std::string_view key, std::size_t count) {
    if (!keys.has(key)) return std::vector<std::int64_t>();
    const std::vector<std::int64_t> values = keys.integers(key);
    if (values.size() != count) keys.refuse(key, format_text("{} integers", count));
    return values;
  };
  const Words share = {"partial_rotary_factor", "rule:partial_rotary_factor"};
  const bool has_share = keys.has("share_default") || keys.is_null("share_default");
  const ConfigKeys& k = keys;
  TextModel model = {.layers = text_or_none(k, "layers"),
                     .unturned = text_or_none(k, "unturned"),
                     .all_if_no_window = flag("all_if_no_window"),
                     .turned_layers = text_or_none(k, "turned_layers"),
                     .unturned_interval = integer("unturned_interval"),
                     .is_interleaved = flag("is_interleaved"),
                     .interleaved_key = text_or_none(k, "interleaved_key"),
                     .head = HeadSize(index_of_name(k, "head", "quotient", head_sizes)),
                     .head_default = integer("head_default"),
                     .head_keys = model_keys(k, "head_keys", {"head_dim"}),
                     .rules_need_head = flag("rules_need_head"),
                     .default_sizes = integers("default_sizes", 2),
                     .width_keys = model_keys(k, "width_keys", {"hidden_size"}),
                     .heads_keys = model_keys(k, "heads_keys", {"num_attention_heads"}),
                     .turned_default = integer("turned_default"),
                     .turned_keys = model_keys(k, "turned_keys"),
                     .share_default = default_number(k, "share_default", 1),
                     .share_keys = model_keys(k, "share_keys", has_share ? share : Words()),
                     .base = default_number(k, "base", 1e4),
                     .base_keys = model_keys(k, "base_keys", {"rope_theta", "rule:rope_theta"}),
                     .rules = rules_of(k, types),
                     .default_rule = object_or_null(k, "default_rule"),
                     .ignores_common_rule = flag("ignores_common_rule"),
                     .needs_rope_type = flag("needs_rope_type"),
                     .scales_softmax = flag("scales_softmax"),
                     .axes = AxisOrder(index_of_name(k, "axes", "one_axis", axis_orders)),
                     .sections = integers("sections", 3),
                     .ignored = k.texts("ignored"),
                     .needs = object_or_null(k, "needs"),
                     .allows = object_or_null(k, "allows"),
                     .not_null = text_or_none(k, "not_null"),
                     .dependent = text_or_none(k, "dependent"),
                     .dependent_on = text_or_none(k, "dependent_on")};
  for (const auto& [key, each] : {std::pair("head_keys", &model.head_keys),
                                  {"width_keys", &model.width_keys},
                                  {"heads_keys", &model.heads_keys}})
    if (each->empty()) keys.refuse(key, "at least one key");
  if (!model.dependent.empty()) needed(k.path("dependent_on"), k.text("dependent_on"));
  keys.check_all_read(Scope::rule);
  return model;
}

TextModels text_models(const ConfigKeys& keys, const ModelTypes& types) {
  if (!keys.has("kinds")) return {text_model(keys, types)};
  TextModels kinds;
  for (const ConfigKeys& each : keys.objects("kinds")) {
    kinds.push_back(text_model(each, types));
    if (kinds.back().layers.empty()) refuse_absence(each.path("layers"));
  }
  if (kinds.size() != 2) keys.refuse("kinds", "two kinds of layers");
  keys.check_all_read(Scope::rule);
  return kinds;
}

WrapperModel wrapper(const ConfigKeys& keys) {
  WrapperModel model = {.text = keys.text("text").value_or("text_config"),
                        .text_type = text_or_none(keys, "text_type"),
                        .suffix = text_or_none(keys, "suffix"),
                        .is_only_type = keys.boolean("is_only_type", false),
                        .is_forced_type = keys.boolean("is_forced_type", false),
                        .may_be_flat = keys.boolean("may_be_flat", false),
                        .defaults = object_or_null(keys, "defaults"),
                        .twin = text_or_none(keys, "twin"),
                        .ignored = keys.texts("ignored")};
  keys.check_all_read(Scope::rule);
  return model;
}

}  // namespace

void ModelTypes::add(std::string_view json) {
  const auto parsed = parse_config(json);
  const ConfigKeys file(parsed.json);
  // A name has one meaning, so a new type removes the older type of its name.
  const auto add_all = [&](std::string_view list, const auto& read, auto& map) {
    for (const ConfigKeys& each : file.objects(list)) {
      const Words names = each.texts("types");
      if (names.empty()) refuse_absence(each.path("types"));
      const auto value = read(each);
      for (const std::string& name : names) {
        models.erase(name);
        wrappers.erase(name);
        without_rope.erase(name);
        map.insert_or_assign(name, value);
      }
    }
  };
  if (const ConfigJson* const sets = file.object("rule_sets")) {
    for (const auto& [name, rules] : sets->items())
      rule_sets[name] = named_rules(ConfigKeys(rules, file.path("rule_sets." + name)));
  }
  add_all(
      "models", [&](const ConfigKeys& each) { return text_models(each, *this); }, models);
  add_all("wrappers", wrapper, wrappers);
  add_all(
      "without_rope",
      [](const ConfigKeys& each) { return needed(each.path("reason"), each.text("reason")); },
      without_rope);
  file.check_all_read(Scope::rule);
}

const ModelTypes& known_types() {
  static std::atomic<const ModelTypes*> kept;
  return made_once(kept, [] {
    auto types = std::make_unique<ModelTypes>();
    types->add(known_model_types_json);
    return std::unique_ptr<const ModelTypes>(std::move(types));
  });
}

}  // namespace posenc::detail

namespace posenc::model {

std::vector<std::string> known_model_types() {
  const detail::ModelTypes& types = detail::known_types();
  std::vector<std::string> names;
  for (const auto& each : types.models) names.push_back(each.first);
  for (const auto& each : types.wrappers) names.push_back(each.first);
  std::ranges::sort(names);
  return names;
}

}  // namespace posenc::model
