#include "posenc/model/rotary_config.h"

#include "posenc/error.h"
#include "posenc/model/internal/model_types.h"
#include "posenc/model/internal/rotary_rules.h"
#include "posenc/spec.h"
#include "posenc/support/check.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace posenc::detail {
namespace {

using Pairs = std::vector<std::int64_t>;
using Rows = std::optional<std::int64_t>;  // length of the longest sequence, if given

/// The model types to choose from, and the length of the longest sequence.
struct Context {
  const ModelTypes& types;
  Rows rows;
};

/// Reads the configuration of a text model.
class ModelReader {
 public:
  ModelReader(const ConfigKeys& config, const std::string& type, const Context& context)
      : config_(config),
        type_(type),
        rows_(context.rows),
        kinds_(context.types.models.find(type)->second),
        model_(kinds_.front()) {}

  model::RotaryReading read() {
    check_requirements();
    find_rules();
    model::RotaryReading reading = {.model_type = type_, .unturned = choose_kinds()};
    for (const TextModel& kind : kinds_) reading.layers.push_back(layers_of(kind));
    reading.most_rows = config_.integer("max_position_embeddings", 2).value_or(0);
    for (const auto& [kind, rule] : rules_) {
      if (kind.empty() || std::ranges::count(kinds_, kind, &TextModel::layers) > 0)
        rule.check_all_read(Scope::rule);
    }
    config_.check_all_read(Scope::model);
    return reading;
  }

 private:
  // Requirements of a model type on its keys.

  void check_requirements() const {
    for (const std::string& key : model_.ignored) config_.mark(key);
    for (const bool is_needed : {true, false}) {
      for (const auto& [key, wanted] : (is_needed ? model_.needs : model_.allows).json.items()) {
        const ConfigJson* const value = config_.get(key);
        if (value == nullptr ? is_needed : *value != wanted)
          config_.refuse(key,
                         wanted.is_string() ? wanted.get_ref<const std::string&>() : wanted.dump());
      }
    }
    if (config_.is_null(model_.not_null)) config_.refuse(model_.not_null, "a number");
    if (config_.has(model_.dependent) && !config_.has(model_.dependent_on))
      refuse_absence(model_.dependent_on);
    const std::string_view position_type = "position_embedding_type";
    if (config_.is_read(position_type)) return;
    const std::string name = config_.text(position_type).value_or("rope");
    const bool is_interleaved = channels() == model::RotaryLayout::interleaved;
    if (name != "rope" && !(name == "rope_gptj" && is_interleaved))
      config_.refuse(position_type, is_interleaved ? "rope, rope_gptj" : "rope");
  }

  model::RotaryLayout channels() const {
    const std::string_view key = model_.interleaved_key;
    const bool by_default = model_.is_interleaved;
    return (key.empty() ? by_default : config_.boolean(key, by_default))
               ? model::RotaryLayout::interleaved
               : model::RotaryLayout::halves;
  }

  // Rules.

  /// rope_parameters is the newer name. If each kind of layers has a rule, the value is an object
  /// of objects.
  void find_rules() {
    const auto given = [&](std::string_view key) {
      const ConfigJson* const rules = config_.object(key);
      return rules == nullptr || rules->empty() ? nullptr : rules;
    };
    const ConfigJson *const older = given("rope_scaling"), *const newer = given("rope_parameters");
    if (older != nullptr && newer != nullptr && *older != *newer)
      config_.refuse("rope_scaling", "rope_parameters, which is given too");
    const std::string_view name = newer == nullptr ? "rope_scaling" : "rope_parameters";
    const ConfigJson* const rules = newer == nullptr ? older : newer;
    const bool has_kinds = kinds_.size() > 1;
    if (rules == nullptr) {
      if (!has_kinds && !model_.default_rule.json.is_null() && config_.is_null(name))
        config_.refuse(name,
                       "a rule; without one, Transformers 4 applies none, Transformers 5 the rule "
                       "of the class");
      return;
    }
    const std::string kinds =
        has_kinds ? format_text("{}, {}", kinds_[0].layers, kinds_[1].layers) : "";
    const ConfigKeys of_kinds(*rules, config_.path(name));
    if (std::ranges::none_of(*rules, &ConfigJson::is_object)) {
      if (has_kinds && newer != nullptr)
        config_.refuse(name, "a rule for each kind of layers: " + kinds);
      rules_.emplace("", of_kinds);
      return;
    }
    if (!has_kinds) config_.refuse(name, "one rule, since the model has one rotary embedding");
    for (const auto& [kind, rule] : rules->items()) {
      // Transformers itself writes this key into the rules of ZAYA1, and its class deletes it.
      if (kind == "rope_type" && rule.is_string() &&
          rule.get_ref<const std::string&>() == "default")
        continue;
      if (of_kinds.object(kind) == nullptr) continue;
      if (std::ranges::count(kinds_, kind, &TextModel::layers) == 0)
        of_kinds.refuse(kind, "a rule for a kind of layers: " + kinds);
      rules_.emplace(kind, ConfigKeys(rule, of_kinds.path(kind)));
    }
  }

  bool has_rule_for_each_kind() const { return !rules_.empty() && !rules_.contains(""); }

  /// The keys of the rule of a kind; nullptr if there are none.
  const ConfigKeys* keys_of(const TextModel& kind) const {
    const bool has_own = has_rule_for_each_kind() || kind.ignores_common_rule;
    const auto found = rules_.find(has_own ? kind.layers : "");
    return found == rules_.end() ? nullptr : &found->second;
  }

  // Kinds of layers.

  /// The list of the kinds of all layers; null if there is none.
  const ConfigJson& layer_types() const {
    const auto found = config_.json().find("layer_types");
    return found == config_.json().end() ? none_ : *found;
  }

  /// Removes the kinds that the model does not have. Returns the layers without a rotary embedding.
  std::string choose_kinds() {
    const ConfigJson& types = layer_types();
    if (!types.is_null() && !types.is_array())
      config_.refuse("layer_types", "a list of kinds of layers");
    if (model_.all_if_no_window && config_.is_null("sliding_window")) {
      kinds_.front().layers = {};
      return "";
    }
    std::string unturned = !model_.unturned.empty() ? format_text("{} layers", model_.unturned)
                           : !model_.turned_layers.empty() ? layers_without_rope()
                                                           : "";
    if (model_.layers.empty()) return unturned;
    std::set<ConfigJson> attention = {"full_attention", "sliding_attention"};
    for (const TextModel& kind : kinds_) attention.emplace(kind.layers);
    if (std::ranges::any_of(types, [&](const auto& each) { return attention.contains(each); })) {
      std::erase_if(kinds_, [&](const TextModel& kind) {
        return std::ranges::count(types, ConfigJson(kind.layers)) == 0;
      });
      if (kinds_.empty())
        config_.refuse("layer_types", "at least one kind of layers with a rotary embedding");
    }
    for (const TextModel& kind : kinds_) {
      if (has_rule_for_each_kind() && keys_of(kind) == nullptr)
        refuse_absence(format_text("rule for {} in rope_parameters", kind.layers));
    }
    return unturned;
  }

  /// The layers without a rotary embedding. A list has 0 for each of them. Without a list, some
  /// types leave out the last of every n layers.
  std::string layers_without_rope() const {
    const std::string_view key = model_.turned_layers;
    const ConfigJson* const given = config_.get(key);
    const ConfigJson none = ConfigJson::array();
    const ConfigJson& turned = given == nullptr ? none : *given;
    if (!turned.is_array() || !std::ranges::all_of(turned, &ConfigJson::is_number))
      config_.refuse(key, "a list of numbers, where 0 marks a layer without a rotary embedding");
    if (model_.unturned_interval != 0) {
      const auto interval = config_.integer("no_rope_layer_interval", 2);
      if (turned.empty()) {
        return format_text("the last of every {} layers",
                           interval.value_or(model_.unturned_interval));
      }
    }
    std::vector<std::string> unturned;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      if (turned[i] == 0) unturned.push_back(number_text(i));
    }
    if (!turned.empty() && unturned.size() == turned.size())
      config_.refuse(key, "a list with at least one layer that has a rotary embedding");
    return unturned.empty() ? "" : "layers " + join(unturned, ", ");
  }

  // Values from keys, which must agree, or from the class.

  /// The key `name`. If the name contains {}, the keys of all layers of the kind, except layers
  /// whose number is 0. The object that Transformers 5.16 saves has the key "5", and later versions
  /// have "05".
  std::vector<std::string> keys_of_layers(std::string_view name, std::string_view kind) const {
    const std::size_t at = name.find(".{}");
    if (at == std::string_view::npos) return {std::string(name)};
    const std::string key(name.substr(0, at)), rest(name.substr(at + 3));
    if (!config_.has(key)) return {};
    const ConfigJson* const values = &config_.json()[key];
    if (values->is_number()) return {key};
    const ConfigJson& kinds = layer_types();
    if (kinds.empty() && !kind.empty()) refuse_absence(config_.path("layer_types"));
    const std::size_t layers = kind.empty() ? values->size() : kinds.size();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < layers; ++i) {
      std::string layer = number_text(i);
      if (values->is_object() && !values->contains(layer))
        layer.insert(0, number_text(layers - 1).size() - layer.size(), '0');
      const bool is_zero = key == model_.turned_layers && i < values->size() && (*values)[i] == 0;
      if (!is_zero && (kind.empty() || kinds[i] == kind)) names.push_back(key + "." + layer + rest);
    }
    if (values->is_array()) config_.mark(key);
    return names;
  }

  /// The number that the keys have, or the default of the class; 0 stands for no default.
  template <class T>
  std::optional<T> number(const ModelKeys& from, T by_default, const TextModel& kind,
                          const ConfigKeys& rule, double above = 0,
                          double most = std::numeric_limits<double>::infinity()) const {
    std::vector<Named<T>> given, others, echoes;
    for (const ModelKey& each : from) {
      const ConfigKeys& keys = each.is_in_rule ? rule : config_;
      for (const std::string& name : keys_of_layers(each.name, kind.layers)) {
        Named<T> value = {keys.path(name), {}};
        if constexpr (std::is_integral_v<T>) {
          value.second = keys.integer(name);
        } else {
          value.second = keys.real(name, above, most);
        }
        if (name != each.name) needed(value.first, value.second);
        (each.is_echo ? echoes : each.is_else ? others : given).push_back(value);
      }
    }
    if (!agreed<T>(given)) given = others;
    if (!agreed<T>(given) && by_default != 0)
      given.emplace_back("the default of its class", by_default);
    given.insert(given.end(), echoes.begin(), echoes.end());
    return agreed<T>(given);
  }

  // Channels.

  std::string path(const ModelKeys& keys) const {
    return keys.empty() ? "" : config_.path(keys.front().name);
  }

  /// The width divided by the number of heads. Only a nested configuration may leave out values
  /// that its class has.
  std::int64_t quotient(const TextModel& kind) const {
    const bool has_default = !config_.path().empty() && !kind.default_sizes.empty();
    const auto size = [&](const ModelKeys& keys, std::size_t i) {
      const std::int64_t by_default = has_default ? kind.default_sizes[i] : 0;
      return number(keys, by_default, kind, config_);
    };
    const std::int64_t channels = needed(path(kind.width_keys), size(kind.width_keys, 0));
    const auto heads = size(kind.heads_keys, 1);
    return channels / needed(path(kind.heads_keys), heads);
  }

  std::int64_t head_of(const TextModel& kind) const {
    const std::string_view key = kind.head_keys.front().name;
    const auto head = number<std::int64_t>(kind.head_keys, 0, kind, config_);
    const bool is_either = kind.head == HeadSize::either;
    if (kind.head == HeadSize::latent) return head.value_or(0);
    if (kind.head == HeadSize::quotient) {
      const std::string name =
          format_text("{} / {}", kind.width_keys.front().name, kind.heads_keys.front().name);
      return *agreed<std::int64_t>({{name, quotient(kind)}, {config_.path(key), head}});
    }
    if (head) return *head;
    if (kind.head_default != 0 && !config_.is_null(key)) return kind.head_default;
    if (is_either) return quotient(kind);
    if (kind.head_default != 0) config_.refuse(key, "an integer");
    refuse_absence(config_.path(key));
  }

  /// Number of rotated channels per head: even, 2 to max_d_model.
  std::int64_t turned_of(const TextModel& kind, const ConfigKeys& rule, std::int64_t head) const {
    const auto turned = number(kind.turned_keys, kind.turned_default, kind, config_);
    if (!turned && !kind.turned_keys.empty() && kind.share_keys.empty())
      refuse_absence(path(kind.turned_keys));
    const auto share = number(kind.share_keys, turned ? 0 : kind.share_default, kind, rule, 0, 1);
    const bool is_latent = kind.head == HeadSize::latent;
    const std::string of_head =
        path(kind.head == HeadSize::quotient ? kind.width_keys : kind.head_keys);
    const std::string of_turned = turned ? path(kind.turned_keys) : of_head;
    if (turned && !is_latent && *turned > head)
      config_.refuse(of_turned, format_text("at most {}, the channels of a head", head));
    std::vector<Named<std::int64_t>> all = {{of_turned, turned}};
    if (is_latent && head != 0) all.emplace_back(of_head, head);
    if (share) {
      const double of_all = static_cast<double>(head) * *share;
      all.emplace_back("the share of the head", static_cast<std::int64_t>(of_all));
    }
    const std::int64_t dimension = needed(path(kind.share_keys), agreed(all));
    if (dimension >= 2 && dimension % 2 == 0 && dimension <= max_d_model) return dimension;
    refuse(format_text("the dimension, from {},", of_turned), dimension,
           format_text("even, 2 to {}", max_d_model));
  }

  // A rotary embedding.

  model::RotaryReading::Layers layers_of(const TextModel& kind) const {
    const bool has_default = !kind.default_rule.json.is_null();
    const ConfigJson none = ConfigJson::object();
    const ConfigKeys class_rule(has_default ? kind.default_rule.json : none,
                                has_default ? "the rule of its class" : "");
    const ConfigKeys* const given = keys_of(kind);
    const ConfigKeys& rule = given == nullptr ? class_rule : *given;
    const auto& [name, reader] = rule_of(kind, rule);
    const std::int64_t head = head_of(kind);
    if (name != "default" && kind.rules_need_head)
      needed(config_.path("head_dim"), config_.integer("head_dim"));
    // A proportional rule selects the rotated channels itself.
    const std::int64_t dimension = reader == "proportional" ? head : turned_of(kind, rule, head);
    const auto base = number(kind.base_keys, kind.base, kind, rule, 1);
    EncodingSpec spec = {.d_model = dimension, .base = needed(config_.path("rope_theta"), base)};
    const RotaryRule read = read_rule(reader, {rule, config_, dimension, rows_});
    spec.frequencies = read.rule;
    spec.base *= read.base_ratio;
    const model::RotarySpec rotary = {
        .angles = axes_of(kind, spec, rule),
        .channels = channels(),
        .attention_factor = read.attention_factor,
        .softmax_factor = kind.scales_softmax ? read.softmax_factor : 1,
        .queries = read.queries};
    validate(rotary);
    return {kind.layers, rotary};
  }

  /// The rule that the keys name.
  static const NamedRules::value_type& rule_of(const TextModel& kind, const ConfigKeys& keys) {
    const auto type = keys.text("rope_type");
    auto older = keys.text("type");
    if (type == "longrope" && older == "su") older = type;
    if (kind.needs_rope_type && !type && older && older != "default")
      keys.refuse(
          "type",
          "rope_type; without it, Transformers 4 raises and Transformers 5 applies no rule");
    // Two names of one rule agree.
    const auto find = [&](std::string_view name) {
      return std::ranges::find(kind.rules, name, &NamedRules::value_type::first);
    };
    const auto meaning = [&](std::optional<std::string> name) {
      if (!name || find(*name) == kind.rules.end()) return name;
      const auto same =
          std::ranges::find(kind.rules, find(*name)->second, &NamedRules::value_type::second);
      return std::optional<std::string>(same->first);
    };
    agreed<std::string>(
        {{keys.path("rope_type"), meaning(type)}, {keys.path("type"), meaning(older)}});
    const std::string name = type ? *type : older.value_or("default");
    if (find(name) != kind.rules.end()) return *find(name);
    std::vector<std::string> names;
    for (const auto& [each, reader] : kind.rules)
      if (reader != "unsettled") names.push_back(each);
    refuse("rope_type", name, join(names, ", "));
  }

  static model::AxesSpec axes_of(const TextModel& kind, const EncodingSpec& spec,
                                 const ConfigKeys& rule) {
    if (kind.axes == AxisOrder::one_axis) return model::one_axis(spec);
    const bool is_interleaved = kind.axes == AxisOrder::interleaved;
    for (const std::string_view flag : {"mrope_interleaved", "interleaved"}) {
      if (rule.boolean(flag, is_interleaved) != is_interleaved)
        rule.refuse(flag, is_interleaved ? "true" : "false");
    }
    const std::size_t axes = kind.axes == AxisOrder::four_in_sections ? 4 : 3;
    const std::string_view key =
        axes == 4 && !rule.has("mrope_section") ? "xdrope_section" : "mrope_section";
    const bool is_default = !rule.has(key) && !kind.sections.empty();
    const Pairs pairs = is_default ? kind.sections : rule.integers(key);
    if (pairs.size() != axes || std::reduce(pairs.begin(), pairs.end()) != spec.d_model / 2) {
      HeldJson<ConfigJson> shown;
      shown.json = pairs;
      refuse(rule.path(key), shown.json,
             format_text("a list whose sum is {}, the number of pairs, in {} sections",
                         spec.d_model / 2, axes));
    }
    if (is_interleaved) return model::axes_interleaved(pairs, spec);
    if (kind.axes != AxisOrder::alternating) return model::axes_in_sections(pairs, spec);
    // ERNIE has sections for height, width and time.
    if (pairs[0] != pairs[1])
      rule.refuse(key, "equal sections of height and width, then the section of time");
    return model::axes_alternating(Pairs{pairs[2], pairs[0], pairs[1]}, spec);
  }

  const ConfigKeys& config_;
  const ConfigJson none_ = nullptr;
  const std::string type_;
  const Rows rows_;
  TextModels kinds_;       ///< the kinds of layers that the configuration has
  const TextModel model_;  ///< the first kind, which has the fields of the whole model
  /// The keys of the rule for each kind of layers, or of a single rule for all layers under "".
  std::map<std::string, ConfigKeys, std::less<>> rules_;
};

/// The model type of a configuration. Throws InvalidArgument if the type is not known or has no
/// rotary embedding. Also throws if the type holds another model and `may_hold_one` is false.
std::string type_of(const ConfigKeys& config, const ModelTypes& types, bool may_hold_one = true) {
  const ConfigJson* const given = config.get("model_type");
  if (given == nullptr) refuse_absence(config.path("model_type"));
  const std::string name = given->is_string() ? given->get<std::string>() : "";
  if (const std::string* const reason = find_in(types.without_rope, name))
    config.refuse("model_type", *reason);
  if (!types.models.contains(name) && !(may_hold_one && types.wrappers.contains(name)))
    config.refuse("model_type", "one that posenc list --models names");
  return name;
}

model::RotaryReading read_as(const ConfigKeys& config, const std::string& type,
                             const Context& context);

/// A rope-like key outside the text model's configuration must agree with it, or change nothing in
/// it.
void check_outer(const ConfigKeys& outer, const ConfigKeys& text, const std::string& type,
                 const model::RotaryReading& reading, const Context& context) {
  const auto is_read_alike = [&](const ConfigJson& json) {
    try {
      return read_as(ConfigKeys(json, text.path()), type, context).layers == reading.layers;
    } catch (const InvalidArgument&) {
      return false;
    }
  };
  for (const auto& [key, value] : outer.json().items()) {
    if (!is_rope_like(key) || value.is_null() || outer.is_read(key)) continue;
    HeldJson<ConfigJson> with_key(text.json());
    copy(value, with_key.json[key]);
    if (with_key.json == text.json() || is_read_alike(with_key.json)) {
      outer.mark(key);
    } else if (text.json().contains(key)) {
      outer.refuse(key, text_of(text.json()[key]) + ", as in " + text.path());
    }
  }
  outer.check_all_read(Scope::model);
}

/// The configuration of a wrapper contains the configuration of the text model.
model::RotaryReading read_as(const ConfigKeys& config, const std::string& type,
                             const Context& context) {
  const WrapperModel* const wrapper = find_in(context.types.wrappers, type);
  if (wrapper == nullptr) return ModelReader(config, type, context).read();
  const std::string usual = wrapper->suffix.empty() ? wrapper->text_type : type + wrapper->suffix;
  const ConfigJson* const text = config.object(wrapper->text);
  if (text == nullptr && wrapper->may_be_flat) return read_as(config, usual, context);
  if (text == nullptr) refuse_absence(config.path(wrapper->text));
  HeldJson<ConfigJson> completed = wrapper->defaults;
  if (completed.json.is_null()) completed.json = ConfigJson::object();
  for (const auto& [key, value] : text->items()) copy(value, completed.json[key]);
  const ConfigKeys keys(completed.json, config.path(wrapper->text));
  const bool is_given = keys.has("model_type");
  if (wrapper->is_only_type && is_given && *keys.get("model_type") != usual)
    keys.refuse("model_type", usual);
  const bool is_usual = wrapper->is_forced_type || (!is_given && !usual.empty());
  const std::string text_type =
      is_usual ? usual : type_of(keys, context.types, wrapper->is_only_type);
  const model::RotaryReading reading = read_as(keys, text_type, context);
  const ConfigJson* const twin = wrapper->twin.empty() ? nullptr : config.object(wrapper->twin);
  if (twin != nullptr) {
    const ConfigKeys twin_keys(*twin, config.path(wrapper->twin));
    const std::string twin_type =
        twin_keys.has("model_type") ? type_of(twin_keys, context.types) : text_type;
    if (read_as(twin_keys, twin_type, context).layers != reading.layers)
      config.refuse(wrapper->twin, format_text("the rotary embedding of {}", wrapper->text));
  }
  for (const std::string& key : wrapper->ignored) config.mark(key);
  check_outer(config, keys, text_type, reading, context);
  return reading;
}

}  // namespace
}  // namespace posenc::detail

namespace posenc::model {

RotaryReading read_rotary_config(std::string_view text, std::optional<std::int64_t> rows,
                                 std::string_view types) {
  if (rows) check_range("rows", *rows, 1, max_position);
  const auto parsed = detail::parse_config(text);
  const detail::ConfigKeys config(parsed.json);
  const auto read = [&](const detail::ModelTypes& all) {
    return detail::read_as(config, detail::type_of(config, all), {all, rows});
  };
  if (types.empty()) return read(detail::known_types());
  detail::ModelTypes all = detail::known_types();
  in_place("types", [&] { all.add(types); });
  return read(all);
}

}  // namespace posenc::model
