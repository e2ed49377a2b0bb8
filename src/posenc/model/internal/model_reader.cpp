#include "posenc/model/rotary_config.h"

#include "posenc/error.h"
#include "posenc/model/internal/config.h"
#include "posenc/spec.h"
#include "posenc/support/check.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace posenc::detail {
namespace {

using Pairs = std::vector<std::int64_t>;
using Rows = std::optional<std::int64_t>;  // length of the longest sequence, if given

/// Reads the configuration of a model type that is not a wrapper.
class ModelReader {
 public:
  ModelReader(const ConfigKeys& config, const ModelType& type, Rows rows)
      : config_(config),
        type_(type),
        rows_(rows),
        kinds_(type.kinds),
        unturned_(type.has("unturned") ? type.value("unturned") + " layers" : "") {}

  model::RotaryReading read() {
    check_requirements();
    find_rules();
    choose_kinds();
    model::RotaryReading reading = {.model_type = type_.name};
    for (const ModelType& kind : kinds_) reading.layers.push_back(layers_of(kind));
    reading.unturned = unturned_;
    reading.most_rows = config_.integer("max_position_embeddings", 2).value_or(0);
    for (const auto& [kind, rule] : rules_) {
      if (kind.empty() || std::ranges::count(kinds_, kind, &ModelType::name) > 0)
        rule.check_all_read(Scope::rule);
    }
    // A configuration inside another one belongs to a part of a model.
    const bool has_parts = type_.has("parts") || is_nested();
    config_.check_all_read(has_parts ? Scope::multimodal : Scope::model);
    return reading;
  }

 private:
  bool is_nested() const { return !config_.path().empty(); }

  // Requirements of a model type on its keys.

  void check_requirements() const {
    for (const std::string& key : split(type_.value("ignored"), ',')) config_.mark(key);
    for (const bool is_needed : {true, false}) {
      for (const std::string& each : split(type_.value(is_needed ? "needs" : "allows"), ' ')) {
        const auto [key, json] = cut(each, ':');
        const ConfigJson wanted = ConfigJson::parse(json);
        const ConfigJson* const value = config_.get(key);
        if (value == nullptr ? is_needed : *value != wanted)
          config_.refuse(key, wanted.is_string() ? wanted.get<std::string>() : json);
      }
    }
    if (const auto key = type_.value("notnull"); !key.empty() && config_.is_null(key))
      config_.refuse(key, "a number");
    const auto [key, other] = cut(type_.value("with"), ':');
    if (!key.empty() && config_.has(key) && !config_.has(other)) refuse_absence(other);
    const std::string_view position_type = "position_embedding_type";
    if (config_.is_read(position_type)) return;
    const std::string name = config_.text(position_type).value_or("rope");
    const bool is_interleaved = channels() == model::RotaryLayout::interleaved;
    if (name != "rope" && !(name == "rope_gptj" && is_interleaved))
      config_.refuse(position_type, is_interleaved ? "rope, rope_gptj" : "rope");
  }

  model::RotaryLayout channels() const {
    const auto [key, by_default] = cut(type_.value("interleaved"), ':');
    const bool is_interleaved =
        key.empty() ? type_.has("interleaved") : config_.boolean(key, by_default == "true");
    return is_interleaved ? model::RotaryLayout::interleaved : model::RotaryLayout::halves;
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
    if (rules == nullptr) {
      if (type_.has("rule") && config_.is_null(name))
        config_.refuse(name, "a rule; Transformers 4 reads none, Transformers 5 that of its class");
      return;
    }
    std::vector<std::string> names;
    for (const ModelType& each : type_.kinds) names.push_back(each.name);
    const std::string kinds = join(names, ", ");
    const bool has_kinds = type_.kinds.size() > 1;
    const ConfigKeys of_kinds(*rules, config_.path(name));
    if (std::ranges::none_of(*rules, &ConfigJson::is_object)) {
      if (has_kinds && newer != nullptr)
        config_.refuse(name, "a rule for each kind of layers: " + kinds);
      rules_.emplace("", of_kinds);
      return;
    }
    if (!has_kinds) config_.refuse(name, "one rule, since the model has one rotary embedding");
    for (const auto& [kind, rule] : rules->items()) {
      if (of_kinds.object(kind) == nullptr) continue;
      if (std::ranges::count(type_.kinds, kind, &ModelType::name) == 0)
        of_kinds.refuse(kind, "a rule for a kind of layers: " + kinds);
      rules_.emplace(kind, ConfigKeys(rule, of_kinds.path(kind)));
    }
  }

  bool has_rule_for_each_kind() const { return !rules_.empty() && !rules_.contains(""); }

  /// The keys of the rule of a kind; nullptr if there are none.
  const ConfigKeys* keys_of(const ModelType& kind) const {
    const bool has_own = has_rule_for_each_kind() || kind.has("plain");
    const auto found = rules_.find(has_own ? kind.name : "");
    return found == rules_.end() ? nullptr : &found->second;
  }

  // Kinds of layers.

  void choose_kinds() {
    if (type_.has("alike_without_window") && config_.is_null("sliding_window")) {
      kinds_.clear();
      unturned_.clear();
    }
    if (type_.has("nope_list")) unturned_ = layers_without_rope();
    const ConfigJson types = config_.json().value("layer_types", ConfigJson());
    const auto is_attention = [&](const ConfigJson& kind) {
      return kind == "full_attention" || kind == "sliding_attention" ||
             std::ranges::any_of(type_.kinds,
                                 [&](const ModelType& each) { return kind == each.name; });
    };
    if (!types.is_null() && !types.is_array())
      config_.refuse("layer_types", "a list of kinds of layers");
    if (!kinds_.empty() && std::ranges::any_of(types, is_attention)) {
      std::erase_if(kinds_, [&](const ModelType& kind) {
        return is_attention(kind.name) && std::ranges::count(types, ConfigJson(kind.name)) == 0;
      });
      if (kinds_.empty())
        config_.refuse("layer_types", "at least one kind of layers with a rotary embedding");
    }
    for (const ModelType& kind : kinds_) {
      if (has_rule_for_each_kind() && keys_of(kind) == nullptr)
        refuse_absence("rule for " + kind.name + " in rope_parameters");
    }
    if (kinds_.empty()) kinds_ = {{"", type_.words}};
  }

  /// The layers without a rotary embedding. A list has 0 for each of them. Without a list, some
  /// types leave out the last of every n layers.
  std::string layers_without_rope() const {
    const auto [key, by_default] = cut(type_.value("nope_list"), ':');
    const ConfigJson* const given = config_.get(key);
    const ConfigJson turned = given == nullptr ? ConfigJson::array() : *given;
    if (!turned.is_array() || !std::ranges::all_of(turned, &ConfigJson::is_number))
      config_.refuse(key, "a list of numbers, of which 0 is for a layer that is not turned");
    if (!by_default.empty()) {
      const auto interval = config_.integer("no_rope_layer_interval", 2);
      const std::string every = interval ? number_text(*interval) : by_default;
      if (turned.empty()) return format_text("the last of every {} layers", every);
    }
    std::vector<std::string> unturned;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      if (turned[i] == 0) unturned.push_back(number_text(i));
    }
    if (!turned.empty() && unturned.size() == turned.size())
      config_.refuse(key, "a list with at least one layer that is turned");
    return unturned.empty() ? "" : "layers " + join(unturned, ", ");
  }

  // Values from keys, which must agree, or from the class.

  /// The key `name`. If the name contains {}, the keys of all layers of the kind, except layers
  /// whose number is 0. The object that Transformers 5.16 saves has the key "5", and later versions
  /// have "05".
  std::vector<std::string> keys_of_layers(const std::string& name, const std::string& kind) const {
    const std::size_t at = name.find(".{}");
    if (at == std::string::npos) return {name};
    const std::string key = name.substr(0, at), rest = name.substr(at + 3);
    if (!config_.has(key)) return {};
    const ConfigJson* const values = &config_.json()[key];
    if (values->is_number()) return {key};
    const ConfigJson kinds = config_.json().value("layer_types", ConfigJson());
    if (kinds.empty() && !kind.empty()) refuse_absence(config_.path("layer_types"));
    const std::size_t layers = kind.empty() ? values->size() : kinds.size();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < layers; ++i) {
      std::string layer = number_text(i);
      if (values->is_object() && !values->contains(layer))
        layer.insert(0, number_text(layers - 1).size() - layer.size(), '0');
      const bool is_zero = type_.has("nope_list") && i < values->size() && (*values)[i] == 0;
      if (!is_zero && (kind.empty() || kinds[i] == kind)) names.push_back(key + "." + layer + rest);
    }
    if (values->is_array()) config_.mark(key);
    return names;
  }

  template <class T>
  std::optional<T> number(const Sources& from, const ConfigKeys& rule, double above = 0,
                          double most = std::numeric_limits<double>::infinity()) const {
    std::vector<Named<T>> given, echoes;
    for (const Sources::Key& each : from.keys) {
      const ConfigKeys& keys = each.is_in_rule ? rule : config_;
      for (const std::string& name : keys_of_layers(each.name, from.kind)) {
        Named<T> value = {keys.path(name), {}};
        if constexpr (std::is_integral_v<T>) {
          value.second = keys.integer(name);
        } else {
          value.second = keys.real(name, above, most);
        }
        if (name != each.name) needed(value.first, value.second);
        (each.is_echo ? echoes : given).push_back(value);
      }
    }
    const bool is_given = agreed<T>(given).has_value();
    if (!is_given && from.defaults.size() > 1) {
      throw_invalid(
          "the configuration has no {}, which is needed; Transformers 4 takes {}, "
          "Transformers 5 {}",
          config_.path(from.name()), from.defaults[0], from.defaults[1]);
    }
    if (!is_given && !from.defaults.empty())
      given.emplace_back("the default of its class", static_cast<T>(from.defaults.front()));
    given.insert(given.end(), echoes.begin(), echoes.end());
    return agreed<T>(given);
  }

  // Channels.

  static bool divides(const ModelType& kind) { return !kind.has("given") && !kind.has("either"); }

  /// The width divided by the number of heads. Only a nested configuration may leave out values
  /// that its class has.
  std::int64_t quotient(const ModelType& kind) const {
    const auto size = [&](std::string_view word) {
      Sources from = kind.sources(word);
      if (!is_nested()) from.defaults.clear();
      return needed(config_.path(from.name()), number<std::int64_t>(from, config_));
    };
    const std::int64_t channels = size("width");
    return channels / size("heads");
  }

  std::int64_t head_of(const ModelType& kind) const {
    Sources from = kind.sources("head");
    const auto defaults = std::exchange(from.defaults, {});
    const std::string path = config_.path(from.name());
    const auto head = number<std::int64_t>(from, config_);
    if (kind.has("latent")) return head.value_or(0);
    if (divides(kind)) {
      const std::string name = kind.sources("width").name() + " / " + kind.sources("heads").name();
      return *agreed<std::int64_t>({{name, quotient(kind)}, {path, head}});
    }
    if (head) return *head;
    if (!defaults.empty() && !config_.is_null(from.name()))
      return static_cast<std::int64_t>(defaults.front());
    if (kind.has("either")) return quotient(kind);
    if (!defaults.empty()) config_.refuse(from.name(), "an integer");
    refuse_absence(path);
  }

  /// Number of rotated channels per head: even, 2 to max_d_model.
  std::int64_t turned_of(const ModelType& kind, const ConfigKeys& rule, std::int64_t head) const {
    const Sources of_turned = kind.sources("turned");
    Sources of_share = kind.sources("share");
    const auto turned = number<std::int64_t>(of_turned, config_);
    if (turned) of_share.defaults.clear();
    const auto share = number<double>(of_share, rule, 0, 1);
    if (!turned && kind.has("turned") && of_share.keys.empty())
      refuse_absence(config_.path(of_turned.name()));
    const bool is_latent = kind.has("latent");
    const std::string of_head = kind.sources(divides(kind) && !is_latent ? "width" : "head").name();
    const std::string path = config_.path(turned ? of_turned.name() : of_head);
    if (turned && !is_latent && *turned > head)
      config_.refuse(of_turned.name(), format_text("at most {}, the channels of a head", head));
    std::vector<Named<std::int64_t>> all = {{path, turned}};
    if (is_latent && head != 0) all.emplace_back(config_.path(of_head), head);
    if (share) {
      const double of_all = static_cast<double>(head) * *share;
      all.emplace_back("the share of the head", static_cast<std::int64_t>(of_all));
    }
    const std::int64_t dimension = needed(config_.path(of_share.name()), agreed(all));
    if (dimension >= 2 && dimension % 2 == 0 && dimension <= max_d_model) return dimension;
    refuse(format_text("the dimension, from {},", path), dimension,
           format_text("even, 2 to {}", max_d_model));
  }

  // A rotary embedding.

  model::RotaryReading::Layers layers_of(const ModelType& kind) {
    const ConfigJson by_default = kind.json("rule");
    const ConfigKeys default_rule(by_default, kind.has("rule") ? "the rule of its class" : "");
    const ConfigKeys* const given = keys_of(kind);
    const ConfigKeys& rule = given == nullptr ? default_rule : *given;
    const std::string name = rule_of(kind, rule);
    const std::int64_t head = head_of(kind);
    if (name != "default" && kind.has("head_for_rules"))
      needed(config_.path("head_dim"), config_.integer("head_dim"));
    const std::int64_t dimension = name == "proportional" ? head : turned_of(kind, rule, head);
    const auto base = number<double>(kind.sources("base"), rule, 1);
    EncodingSpec spec = {.d_model = dimension, .base = needed(config_.path("rope_theta"), base)};
    const RotaryRule read = read_rule(name, {rule, config_, kind, dimension, rows_});
    spec.frequencies = read.rule;
    spec.base *= read.base_ratio;
    const model::RotarySpec rotary = {.angles = axes_of(kind, spec, rule),
                                      .channels = channels(),
                                      .attention_factor = read.attention_factor};
    validate(rotary);
    return {kind.name, rotary, read.note};
  }

  /// The rule that the keys name, under the name that the reader of rules has for it.
  std::string rule_of(const ModelType& kind, const ConfigKeys& keys) {
    const auto type = keys.text("rope_type");
    auto older = keys.text("type");
    if (type == "longrope" && older == "su") older = type;
    if (kind.has("named_rope_type") && !type && older && older != "default")
      keys.refuse("type", "rope_type; Transformers 4 raises without it, Transformers 5 reads none");
    std::vector<std::string> names;
    std::map<std::string, std::string> rules;
    for (const std::string& each : split(kind.value("rules"), ',')) {
      const auto [name, meaning] = cut(each, '>');
      if (meaning != "unsettled") names.push_back(name);
      rules[name] = meaning.empty() ? name : meaning;
    }
    const auto meaning = [&](const std::optional<std::string>& name) {
      return name && rules.contains(*name) ? rules.at(*name) : name;
    };
    agreed<std::string>(
        {{keys.path("rope_type"), meaning(type)}, {keys.path("type"), meaning(older)}});
    const std::string name = type ? *type : older.value_or("default");
    if (!rules.contains(name)) refuse("rope_type", name, join(names, ", "));
    return rules.at(name);
  }

  model::AxesSpec axes_of(const ModelType& kind, const EncodingSpec& spec,
                          const ConfigKeys& rule) const {
    if (!kind.has("sections")) return model::one_axis(spec);
    const auto [order, by_default] = cut(kind.value("sections"), ':');
    const bool is_interleaved = order == "interleaved";
    for (const std::string_view flag : {"mrope_interleaved", "interleaved"}) {
      if (rule.boolean(flag, is_interleaved) != is_interleaved)
        rule.refuse(flag, is_interleaved ? "true" : "false");
    }
    // M-RoPE has sections for time, height and width. XD-RoPE also has one for the position.
    const std::size_t axes = kind.has("four_axes") ? 4 : 3;
    const std::string_view key =
        axes == 4 && !rule.has("mrope_section") ? "xdrope_section" : "mrope_section";
    const bool is_default = !rule.has(key) && !by_default.empty();
    const Pairs pairs =
        is_default ? ConfigJson::parse("[" + by_default + "]").get<Pairs>() : rule.integers(key);
    if (pairs.size() != axes || std::reduce(pairs.begin(), pairs.end()) != spec.d_model / 2) {
      refuse(rule.path(key), pairs,
             format_text("a list whose sum is {}, the number of pairs, in {} sections",
                         spec.d_model / 2, axes));
    }
    if (order == "in_sections") return model::axes_in_sections(pairs, spec);
    if (is_interleaved) return model::axes_interleaved(pairs, spec);
    // ERNIE has sections for height, width and time.
    if (pairs[0] != pairs[1])
      rule.refuse(key, "equal sections of height and width, then that of time");
    return model::axes_alternating(Pairs{pairs[2], pairs[0], pairs[1]}, spec);
  }

  const ConfigKeys& config_;
  const ModelType& type_;
  const Rows rows_;
  std::vector<ModelType> kinds_;
  std::string unturned_;
  /// The keys of the rule for each kind of layers, or of a single rule for all layers under "".
  std::map<std::string, ConfigKeys> rules_;
};

/// Throws InvalidArgument if the type is not known or has no rotary embedding. Also throws if the
/// type holds another model and `may_hold_one` is false.
const ModelType& type_of(const ConfigKeys& config, bool may_hold_one = true) {
  const ConfigJson* const given = config.get("model_type");
  if (given == nullptr) refuse_absence(config.path("model_type"));
  const std::string name = given->is_string() ? given->get<std::string>() : "";
  const ModelType* const type = find_type(name);
  if (type == nullptr || (type->has("text") && !may_hold_one))
    config.refuse("model_type", "one that posenc list --models names");
  if (type->has("none")) config.refuse("model_type", type->value("none"));
  return *type;
}

const ModelType& type_of_text(const ConfigKeys& text, const ModelType& wrapper) {
  const std::string usual = wrapper.value("type");
  const bool is_given = text.has("model_type"), is_only = wrapper.has("only");
  if (wrapper.has("forced") || (!is_given && !usual.empty())) return *find_type(usual);
  if (is_only && *text.get("model_type") != usual) text.refuse("model_type", usual);
  return type_of(text, is_only);
}

model::RotaryReading read_as(const ConfigKeys& config, const ModelType& type, Rows rows);

/// A rope-like key outside the text model's configuration must agree with it, or change nothing in
/// it.
void check_outer(const ConfigKeys& outer, const ConfigKeys& text, const ModelType& type,
                 const model::RotaryReading& reading, Rows rows) {
  const auto is_read_alike = [&](const ConfigJson& json) {
    try {
      return read_as(ConfigKeys(json, text.path()), type, rows).layers == reading.layers;
    } catch (const InvalidArgument&) {
      return false;
    }
  };
  for (const auto& [key, value] : outer.json().items()) {
    if (!is_rope_like(key) || value.is_null() || outer.is_read(key)) continue;
    ConfigJson json = text.json();
    json[key] = value;
    if (json == text.json() || is_read_alike(json)) {
      outer.mark(key);
    } else if (text.json().contains(key)) {
      outer.refuse(key, text_of(text.json()[key]) + ", as in " + text.path());
    }
  }
  outer.check_all_read(Scope::multimodal);
}

/// The configuration of a wrapper contains the configuration of the text model.
model::RotaryReading read_as(const ConfigKeys& config, const ModelType& wrapper, Rows rows) {
  if (!wrapper.has("text")) return ModelReader(config, wrapper, rows).read();
  const std::string at = wrapper.value("text"), twin = wrapper.value("twin");
  const ConfigJson* const text = config.object(at);
  if (text == nullptr && wrapper.has("flat")) {
    ModelType type = *find_type(wrapper.value("type"));
    type.words.emplace("parts", "");
    return read_as(config, type, rows);
  }
  if (text == nullptr) refuse_absence(config.path(at));
  ConfigJson json = wrapper.json("defaults");
  json.update(*text);
  const ConfigKeys keys(json, config.path(at));
  const ModelType& type = type_of_text(keys, wrapper);
  const model::RotaryReading reading = read_as(keys, type, rows);
  if (const ConfigJson* const other = twin.empty() ? nullptr : config.object(twin)) {
    const ConfigKeys twin_keys(*other, config.path(twin));
    const ModelType& twin_type = twin_keys.has("model_type") ? type_of(twin_keys) : type;
    if (read_as(twin_keys, twin_type, rows).layers != reading.layers)
      config.refuse(twin, "the rotary embedding of " + at);
  }
  for (const std::string& key : split(wrapper.value("ignored"), ',')) config.mark(key);
  check_outer(config, keys, type, reading, rows);
  return reading;
}

}  // namespace
}  // namespace posenc::detail

namespace posenc::model {

RotaryReading read_rotary_config(std::string_view text, std::optional<std::int64_t> rows) {
  if (rows) check_range("rows", *rows, 1, max_position);
  const detail::ConfigJson json = detail::parse_config(text);
  const detail::ConfigKeys config(json);
  return detail::read_as(config, detail::type_of(config), rows);
}

}  // namespace posenc::model
