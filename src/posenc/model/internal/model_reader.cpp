#include "posenc/model/internal/model_reader.h"

#include "posenc/error.h"
#include "posenc/model/internal/model_types.h"
#include "posenc/model/internal/rotary_rules.h"
#include "posenc/spec.h"
#include "posenc/support/edit_distance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace posenc::detail {
namespace {

constexpr double any = std::numeric_limits<double>::infinity();
using Pairs = std::vector<std::int64_t>;

/// A rule with the names of rope_parameters, and without keys that may stand beside rope_scaling
/// instead of in it.
ConfigJson renamed(ConfigJson rule, const ConfigJson& older) {
  ConfigJson& type = rule["rope_type"];
  if (type.is_null()) type = rule.value("type", ConfigJson("default"));
  if (type == "mrope") type = "default";
  if (type == "su") type = "longrope";
  rule.erase("type");
  for (const char* const key : {"partial_rotary_factor", "rope_theta"}) {
    if (!older.contains(key)) rule.erase(key);
  }
  return rule;
}

/// The integer part of a share of channels.
std::int64_t part_of(std::int64_t channels, double share) {
  return static_cast<std::int64_t>(static_cast<double>(channels) * share);
}

bool names(const std::vector<ModelType>& kinds, std::string_view name) {
  return std::ranges::count(kinds, name, &ModelType::name) > 0;
}

/// Of a model type that is no wrapper.
class ModelReader {
 public:
  ModelReader(const ConfigKeys& config, const ModelType& type, const RotaryConfigOptions& options,
              Warnings warnings)
      : config_(config),
        type_(type),
        options_(options),
        warnings_(warnings),
        kinds_(type.kinds),
        unturned_(type.has("unturned") ? type.value("unturned") + " layers" : "") {}

  RotaryReading read() {
    check_requirements();
    find_rules();
    choose_kinds();
    RotaryReading reading = {.model_type = type_.name};
    for (const ModelType& kind : kinds_) reading.layers.push_back(layers_of(kind));
    reading.unturned = unturned_;
    reading.most_rows = config_.integer("max_position_embeddings", 2).value_or(0);
    for (const auto& [kind, rule] : rules_) {
      if (kind.empty() || names(kinds_, kind)) check_rule_read(rule, warnings_);
    }
    // A configuration in another one is that of a part of a model.
    check_all_read(config_, type_.has("parts") || config_.is_nested(), warnings_);
    return reading;
  }

 private:
  // What the keys of a single type have to say.

  void check_requirements() const {
    for (const std::string& key : split(type_.value("ignored"), ',')) config_.mark(key);
    for (const std::string_view word : {"needs", "allows"}) {
      for (const std::string& each : split(type_.value(word), ' ')) {
        const auto [key, text] = cut(each, ':');
        auto [json, reason] = cut(text, ':');
        const ConfigJson wanted = ConfigJson::parse(json);
        const ConfigJson* const value = config_.get(key);
        if (value == nullptr ? word == "allows" : *value == wanted) continue;
        std::ranges::replace(reason, '_', ' ');
        const std::string allowed = wanted.is_string() ? wanted.get<std::string>() : json;
        config_.refuse(key, reason.empty() ? allowed : allowed + "; " + reason);
      }
    }
    const std::string notnull = type_.value("notnull");
    if (!notnull.empty() && config_.is_null(notnull)) config_.refuse(notnull, "a number");
    const std::string_view position_type = "position_embedding_type";
    if (config_.is_read(position_type)) return;
    const std::string name = config_.text(position_type).value_or("rope");
    const bool is_interleaved = channels() == RotaryLayout::interleaved;
    if (name != "rope" && !(name == "rope_gptj" && is_interleaved))
      config_.refuse(position_type, is_interleaved ? "rope, rope_gptj" : "rope");
  }

  RotaryLayout channels() const {
    bool is_interleaved = type_.has("interleaved");
    if (const auto [key, by_default] = cut(type_.value("interleaved"), ':'); !key.empty())
      is_interleaved = config_.boolean(key, by_default == "true");
    return is_interleaved ? RotaryLayout::interleaved : RotaryLayout::halves;
  }

  // Rules.

  /// rope_parameters is the newer name. A rule for each kind of layers is an object of objects.
  void find_rules() {
    const auto given = [&](std::string_view key) {
      const ConfigJson* const rules = config_.object(key);
      return rules == nullptr ? ConfigJson::object() : *rules;
    };
    const ConfigJson older = given("rope_scaling"), newer = given("rope_parameters");
    if (!older.empty() && !newer.empty() && renamed(older, older) != renamed(newer, older))
      config_.refuse("rope_scaling", "rope_parameters, which is given too");
    const std::string_view name = newer.empty() ? "rope_scaling" : "rope_parameters";
    const ConfigJson* const rules = config_.object(name);
    if (older.empty() && newer.empty()) {
      if (type_.has("rule") && config_.is_null(name))
        config_.refuse(name, "a rule; Transformers 4 reads none, Transformers 5 that of its class");
      return;
    }
    std::vector<std::string> kinds;
    for (const ModelType& each : type_.kinds) kinds.push_back(each.name);
    const ConfigKeys of_kinds(*rules, config_.path(name));
    if (std::ranges::none_of(*rules, &ConfigJson::is_object)) {
      if (kinds.size() > 1 && !newer.empty())
        config_.refuse(name, "a rule for each kind of layers: " + join(kinds, ", "));
      rules_.emplace("", of_kinds);
      return;
    }
    if (kinds.size() < 2)
      config_.refuse(name, "one rule, since the model has one rotary embedding");
    for (const auto& [kind, rule] : rules->items()) {
      if (of_kinds.object(kind) == nullptr) continue;
      if (!names(type_.kinds, kind))
        of_kinds.refuse(kind, "a rule for a kind of layers: " + join(kinds, ", "));
      rules_.emplace(kind, ConfigKeys(rule, of_kinds.path(kind)));
    }
  }

  bool has_rule_for_each_kind() const { return !rules_.empty() && !rules_.contains(""); }

  /// The rule's keys of a kind; nullptr if there are none.
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
    if (type_.has("nope_list")) read_no_rope_layers();
    drop_kinds_without_layers();
    for (const ModelType& kind : kinds_) {
      if (has_rule_for_each_kind() && keys_of(kind) == nullptr)
        refuse_absence("rule for " + kind.name + " in rope_parameters");
    }
    if (!kinds_.empty()) return;
    kinds_ = {type_};
    kinds_.front().name.clear();
  }

  /// By layer_types, which names the kind of each layer.
  void drop_kinds_without_layers() {
    const ConfigJson* const types = config_.get("layer_types");
    const auto is_attention = [](const ConfigJson& kind) {
      return kind == "full_attention" || kind == "sliding_attention";
    };
    if (types == nullptr || kinds_.empty() || !is_attention(kinds_.front().name)) return;
    if (!types->is_array()) config_.refuse("layer_types", "a list of kinds of layers");
    if (std::ranges::none_of(*types, is_attention)) return;
    std::erase_if(kinds_, [&](const ModelType& kind) {
      return std::ranges::count(*types, ConfigJson(kind.name)) == 0;
    });
    if (kinds_.empty())
      config_.refuse("layer_types", "at least one kind of layers with a rotary embedding");
  }

  /// A list with 1 for every layer that is turned; by default all but every n-th.
  void read_no_rope_layers() {
    constexpr std::int64_t max_layers = 4096;
    const std::string_view key = "no_rope_layers";
    const std::int64_t interval = config_.integer("no_rope_layer_interval").value_or(4);
    Pairs turned = config_.get(key) == nullptr ? Pairs() : config_.integers(key);
    const auto layers = config_.integer("num_hidden_layers");
    if (turned.empty() && !layers) {
      unturned_ = format_text("the last of every {} layers", interval);
      return;
    }
    const bool is_given = !turned.empty();
    for (std::int64_t i = 1; !is_given && i <= std::min(*layers, max_layers); ++i)
      turned.push_back(i % interval == 0 ? 0 : 1);
    std::vector<std::string> unturned;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      if (turned[i] == 0) unturned.push_back(number_text(i));
    }
    if (unturned.size() == turned.size())
      config_.refuse(key, "a list with at least one 1, for a layer that is turned");
    if (!unturned.empty()) unturned_ = "layers " + join(unturned, ", ");
  }

  // Values of keys that agree, or of the class.

  template <class T>
  std::optional<T> number(const Sources& from, const ConfigKeys& rule, bool takes_default,
                          double above = 0, double most = any) const {
    std::vector<Named<T>> given, echoes;
    for (const Sources::Key& each : from.keys) {
      const ConfigKeys& keys = each.is_in_rule ? rule : config_;
      Named<T> value = {keys.path(each.name), {}};
      if constexpr (std::is_integral_v<T>) {
        value.second = keys.integer(each.name);
      } else {
        value.second = keys.real(each.name, above, most);
      }
      (each.is_echo ? echoes : given).push_back(value);
    }
    const bool is_given =
        std::ranges::any_of(given, [](const auto& each) { return !!each.second; });
    if (!is_given && takes_default && from.defaults.size() > 1) {
      throw InvalidArgument(
          format_text("the configuration has no {}, which is needed; Transformers 4 takes {}, "
                      "Transformers 5 {}",
                      config_.path(from.name()), from.defaults[0], from.defaults[1]));
    }
    if (!is_given && takes_default && !from.defaults.empty())
      given.emplace_back("the default of its class", static_cast<T>(from.defaults.front()));
    given.insert(given.end(), echoes.begin(), echoes.end());
    return agreed<T>(given);
  }

  std::optional<std::int64_t> whole(const Sources& from, bool takes_default) const {
    return number<std::int64_t>(from, config_, takes_default);
  }

  // Channels.

  static bool divides(const ModelType& kind) { return !kind.has("given") && !kind.has("either"); }

  /// The width over the heads. A nested configuration leaves out those of its class.
  std::int64_t quotient(const ModelType& kind) const {
    const auto [width, heads] = cut(kind.value("class"), '/');
    const auto size = [&](std::string_view word, const std::string& of_class) {
      Sources from = sources_of(kind, word);
      if (!of_class.empty() && config_.is_nested()) from.defaults = {std::stod(of_class)};
      return needed(config_.path(from.name()), whole(from, true));
    };
    const std::int64_t channels = size("width", width);
    return channels / size("heads", heads);
  }

  std::int64_t head_of(const ModelType& kind) const {
    const Sources from = sources_of(kind, "head");
    const std::string path = config_.path(from.name());
    auto heads = kind.has("per_layer") ? heads_of_layers(kind) : std::vector<Named<std::int64_t>>();
    heads.emplace_back(path, whole(from, false));
    const auto head = agreed<std::int64_t>(heads);
    if (kind.has("latent")) return head.value_or(0);
    if (divides(kind)) {
      const std::string name =
          sources_of(kind, "width").name() + " / " + sources_of(kind, "heads").name();
      return *agreed<std::int64_t>({{name, quotient(kind)}, {path, head}});
    }
    if (head) return *head;
    const bool is_null = config_.is_null(from.name()), has_default = !from.defaults.empty();
    if (is_null && has_default && !kind.has("divided_if_null"))
      config_.refuse(from.name(), "an integer");
    if (has_default && !is_null) return static_cast<std::int64_t>(from.defaults.front());
    return has_default || kind.has("either") ? quotient(kind) : needed(path, head);
  }

  /// As Transformers 5.16 saves those of some layers: {"5": {"head_dim": 512}, ...}.
  std::vector<Named<std::int64_t>> heads_of_layers(const ModelType& kind) const {
    std::vector<Named<std::int64_t>> heads;
    const ConfigJson types = config_.json().value("layer_types", ConfigJson());
    for (std::size_t i = 0; config_.has("per_layer_config") && i < types.size(); ++i) {
      const std::string key = format_text("per_layer_config.{}.head_dim", i);
      if (types[i] == kind.name) heads.emplace_back(key, needed(key, config_.integer(key)));
    }
    return heads;
  }

  /// Those of a head that are turned: even, 2 to max_d_model.
  std::int64_t turned_of(const ModelType& kind, const ConfigKeys& rule, std::int64_t head) const {
    const Sources of_turned = sources_of(kind, "turned"), of_share = sources_of(kind, "share");
    const auto turned = whole(of_turned, true);
    const auto share = number<double>(of_share, rule, !turned, 0, 1);
    if (!turned && kind.has("turned") && !kind.has("optional_turned"))
      refuse_absence(config_.path(of_turned.name()));
    const bool is_divided = divides(kind) && !kind.has("latent");
    const std::string of_head = sources_of(kind, is_divided ? "width" : "head").name();
    const std::string path = config_.path(turned ? of_turned.name() : of_head);
    if (turned && !kind.has("latent") && *turned > head)
      config_.refuse(of_turned.name(), format_text("at most {}, the channels of a head", head));
    std::vector<Named<std::int64_t>> all = {{path, turned}};
    if (turned && kind.has("latent") && head != 0) all.emplace_back(config_.path(of_head), head);
    if (kind.has("share_of_both") && turned && share) {
      const std::string_view other = "qk_nope_head_dim";
      head = *turned + needed(config_.path(other), config_.integer(other));
    }
    if (share) all.emplace_back("the share of the head", part_of(head, *share));
    const std::int64_t dimension = needed(config_.path(of_share.name()), agreed(all));
    if (dimension >= 2 && dimension % 2 == 0 && dimension <= max_d_model) return dimension;
    refuse(format_text("the dimension, from {},", path), dimension,
           format_text("even, 2 to {}", max_d_model));
  }

  // A rotary embedding.

  RotaryReading::Layers layers_of(const ModelType& kind) {
    const ConfigJson by_default =
        ConfigJson::parse(kind.has("rule") ? kind.value("rule") : std::string("{}"));
    const ConfigKeys default_rule(by_default, kind.has("rule") ? "the rule of its class" : "");
    const ConfigKeys* const given = keys_of(kind);
    const ConfigKeys& rule = given == nullptr ? default_rule : *given;
    const std::string name = rule_of(kind, rule);
    const std::int64_t head = head_of(kind);
    if (name != "default" && kind.has("head_for_rules"))
      needed(config_.path("head_dim"), config_.integer("head_dim"));
    const std::int64_t dimension = name == "proportional" ? head : turned_of(kind, rule, head);
    const auto base = number<double>(sources_of(kind, "base"), rule, true, 1, any);
    EncodingSpec spec = {.d_model = dimension,
                         .base = needed(config_.path("rope_theta"), base) * rope_ratio()};
    RotaryRule read = read_rule(name, rule, {config_, kind, dimension, options_.rows});
    if (type_.has("grows_in_steps")) grow_in_steps(read);
    spec.frequencies = read.rule;
    spec.base *= read.base_ratio;
    const RotarySpec rotary = {.angles = axes_of(kind, spec, rule),
                               .channels = options_.channels.value_or(channels()),
                               .attention_factor = read.attention_factor};
    validate(rotary);
    return {kind.name, rotary, read.note};
  }

  /// By the names of rules that a kind has, those that the reader of rules has, or "?".
  static std::map<std::string, std::string> rules_of(const ModelType& kind) {
    constexpr std::string_view standard = "standard";
    std::string list = kind.has("rules") ? kind.value("rules") : std::string(standard);
    if (list.starts_with(standard))
      list.replace(0, standard.size(), "default,dynamic,linear,llama3,longrope,yarn");
    std::map<std::string, std::string> rules;
    for (const std::string& each : split(list, ',')) {
      const auto [name, meaning] = cut(each, '>');
      rules[name] = meaning.empty() ? name : meaning;
    }
    return rules;
  }

  /// The rule that the keys name, as the reader of rules calls it.
  std::string rule_of(const ModelType& kind, const ConfigKeys& keys) {
    const auto type = keys.text("rope_type");
    auto older = keys.text("type");
    if (type == "longrope" && older == "su") older = type;
    if (kind.has("named_rope_type") && !type && older && older != "default")
      keys.refuse("type", "rope_type; Transformers 4 raises without it, Transformers 5 reads none");
    const std::map<std::string, std::string> rules = rules_of(kind);
    const auto meaning = [&](const std::optional<std::string>& name) {
      return name && rules.contains(*name) ? rules.at(*name) : name;
    };
    agreed<std::string>(
        {{keys.path("rope_type"), meaning(type)}, {keys.path("type"), meaning(older)}});
    const std::string name = type ? *type : older.value_or("default");
    const auto known = rules.find(name);
    if (known != rules.end() && known->second != "?") return known->second;
    std::vector<std::string> names;
    for (const auto& [each, meant] : rules) {
      if (meant != "?") names.push_back(each);
    }
    const std::string allowed = join(names, ", ");
    if (known != rules.end()) {
      refuse("rope_type", name,
             allowed + "; Transformers 4 follows the length of sequences, Transformers 5 does not");
    }
    if (warnings_ == nullptr || is_rule(name)) refuse("rope_type", name, allowed);
    warnings_->push_back(format_text("rope_type is {}; read as none", text_of(name)));
    return "default";
  }

  /// ChatGLM2's divides the positions, and that of the later models multiplies the base. Only the
  /// name of the model tells them apart.
  double rope_ratio() const {
    if (!type_.has("rope_ratio")) return 1;
    const double ratio = config_.real("rope_ratio").value_or(1);
    const ConfigJson name = config_.json().value("_name_or_path", ConfigJson());
    const bool is_second =
        name.is_string() && name.get<std::string>().find("chatglm2") != std::string::npos;
    if (is_second && ratio != 1)
      config_.refuse("rope_ratio", "1 of ChatGLM2, whose ratio divides positions");
    return ratio;
  }

  /// Beyond the rows of training, the base of the first Qwen grows in steps.
  void grow_in_steps(RotaryRule& read) const {
    const bool is_dynamic = config_.boolean("use_dynamic_ntk", false);
    const auto trained = config_.integer("seq_length");
    if (!is_dynamic || !options_.rows || !trained || *options_.rows <= *trained) return;
    const double ratio = static_cast<double>(*options_.rows) / static_cast<double>(*trained);
    read.rule = NtkScaling{std::exp2(std::ceil(std::log2(ratio) + 1)) - 1};
  }

  // Axes.

  AxesSpec axes_of(const ModelType& kind, const EncodingSpec& spec, const ConfigKeys& rule) const {
    if (!kind.has("sections")) return one_axis(spec);
    const auto [order, by_default] = cut(kind.value("sections"), ':');
    const auto [name, pairs] = kind.has("time_pairs")
                                   ? sections_of_time(spec)
                                   : sections_of(kind, order == "interleaved", by_default, rule);
    std::int64_t sum = 0;
    for (const std::int64_t each : pairs) sum = std::min(sum + each, spec.d_model);
    // M-RoPE's are of time, height and width, XD-RoPE's also of the position.
    const std::size_t axes = kind.has("four_axes") ? 4 : 3;
    if (sum != spec.d_model / 2 || pairs.size() != axes) {
      refuse(name, pairs,
             format_text("a list whose sum is {}, the number of pairs, in {} sections",
                         spec.d_model / 2, axes));
    }
    if (order == "in_sections") return axes_in_sections(pairs, spec);
    if (order == "interleaved") return axes_interleaved(pairs, spec);
    // ERNIE's are of height, width and time.
    if (pairs[0] != pairs[1])
      refuse(name, pairs, "equal sections of height and width, then that of time");
    return axes_alternating(Pairs{pairs[2], pairs[0], pairs[1]}, spec);
  }

  /// Those on time take `freq_allocation` pairs, those on height and width half of the others each.
  std::pair<std::string, Pairs> sections_of_time(const EncodingSpec& spec) const {
    const std::string_view key = "freq_allocation";
    const std::int64_t of_time = config_.integer(key, 0).value_or(20);
    const std::int64_t of_others = spec.d_model / 2 - of_time;
    if (of_others < 0 || of_others % 2 != 0)
      config_.refuse(key, format_text("up to {}, with an even rest", spec.d_model / 2));
    return {config_.path(key), {of_others / 2, of_others / 2, of_time}};
  }

  /// The number of pairs on each axis, in the order of the configuration, and the path of the key.
  static std::pair<std::string, Pairs> sections_of(const ModelType& kind, bool is_interleaved,
                                                   const std::string& by_default,
                                                   const ConfigKeys& rule) {
    for (const std::string_view flag : {"mrope_interleaved", "interleaved"}) {
      if (rule.has(flag) && rule.boolean(flag, is_interleaved) != is_interleaved)
        rule.refuse(flag, is_interleaved ? "true" : "false");
    }
    const bool has_own_name = kind.has("four_axes") && !rule.has("mrope_section");
    const std::string_view key = has_own_name ? "xdrope_section" : "mrope_section";
    if (rule.has(key) || by_default.empty()) return {rule.path(key), rule.integers(key)};
    return {rule.path(key), ConfigJson::parse("[" + by_default + "]").get<Pairs>()};
  }

  const ConfigKeys& config_;
  const ModelType& type_;
  const RotaryConfigOptions& options_;
  const Warnings warnings_;
  std::vector<ModelType> kinds_;
  std::string unturned_;
  /// One for each kind of layers, or under "" one for all of them.
  std::map<std::string, ConfigKeys> rules_;
};

/// Three types whose names begin like that one, or differ little.
std::string nearest_types(std::string_view type) {
  std::multimap<std::int64_t, std::string> by_rank;  // less is nearer
  for (const std::string& each : all_model_types()) {
    const auto prefix = std::ranges::mismatch(type, each).in1 - type.begin();
    by_rank.emplace(static_cast<std::int64_t>(edit_distance(type, each)) - 2 * prefix, each);
  }
  std::vector<std::string> names;
  for (const auto& [rank, name] : by_rank) names.push_back(name);
  names.resize(3);
  return join(names, ", ");
}

/// Of any model type: also of one that has the text model's configuration in its own.
class ConfigReader {
 public:
  ConfigReader(const RotaryConfigOptions& options, Warnings warnings)
      : options_(options), warnings_(warnings) {}

  RotaryReading read(const ConfigJson& json) const {
    const ConfigKeys config(json);
    const ModelType* const type = type_of(config);
    if (type != nullptr) return read_as(config, *type);
    if (warnings_ == nullptr) refuse_type(config);
    const ConfigJson text = json.value("text_config", ConfigJson());
    warnings_->push_back(format_text("model_type is {}; read as {}",
                                     text_of(json.value("model_type", ConfigJson())),
                                     text.is_object() ? "text_config" : "llama"));
    return text.is_object() ? read(text) : read_as(config, *find_type("llama", config));
  }

 private:
  /// nullptr if it is not known. Throws InvalidArgument if it has no rotary embedding.
  static const ModelType* type_of(const ConfigKeys& config) {
    const ConfigJson* const name = config.get("model_type");
    if (name == nullptr || !name->is_string()) return nullptr;
    const ModelType* const type = find_type(name->get<std::string>(), config);
    if (type != nullptr && type->has("none")) config.refuse("model_type", type->value("none"));
    return type;
  }

  [[noreturn]] static void refuse_type(const ConfigKeys& config) {
    const ConfigJson* const type = config.get("model_type");
    if (type == nullptr) refuse_absence(config.path("model_type"));
    const std::string name = type->is_string() ? type->get<std::string>() : "";
    config.refuse("model_type",
                  "one that docs/config-json.md lists, such as " + nearest_types(name));
  }

  RotaryReading read_as(const ConfigKeys& config, const ModelType& type) const {
    return type.has("text") ? read_wrapper(config, type)
                            : ModelReader(config, type, options_, warnings_).read();
  }

  RotaryReading read_wrapper(const ConfigKeys& config, const ModelType& wrapper) const {
    std::vector<ConfigKeys> outer;
    std::string path = config.path();
    const ConfigJson* text = &config.json();
    for (const std::string& key : split(wrapper.value("text"), '.')) {
      if (text == nullptr) break;
      outer.emplace_back(*text, path);
      path = outer.back().path(key);
      text = outer.back().object(key);
    }
    if (text == nullptr && wrapper.has("flat")) {
      ModelType type = *find_type(wrapper.value("type"), config);
      type.words.emplace("parts", "");
      return read_as(config, type);
    }
    if (text == nullptr) refuse_absence(wrapper.value("text"));
    ConfigJson json = ConfigJson::parse(  // with what the wrapper's class adds
        wrapper.has("defaults") ? wrapper.value("defaults") : std::string("{}"));
    json.update(*text);
    const ConfigKeys keys(json, path);
    const ModelType& type = type_of_text(keys, wrapper);
    RotaryReading reading = read_as(keys, type);
    for (const ConfigKeys& each : outer) {
      const std::string twin = wrapper.value("twin");
      const ConfigJson* const other = twin.empty() ? nullptr : each.object(twin);
      if (other != nullptr &&
          read_as(ConfigKeys(*other, each.path(twin)), type).layers != reading.layers)
        each.refuse(twin, "the rotary embedding of " + wrapper.value("text"));
      check_outer(each, json, type, reading);
    }
    return reading;
  }

  static const ModelType& type_of_text(const ConfigKeys& text, const ModelType& wrapper) {
    const ConfigJson* const given = text.get("model_type");
    const std::string usual = wrapper.value("type");
    if (wrapper.has("forced") || (given == nullptr && !usual.empty()))
      return *find_type(usual, text);
    if (wrapper.has("only") && *given != usual) text.refuse("model_type", usual);
    const ModelType* const type = type_of(text);
    if (type == nullptr || (type->has("text") && !wrapper.has("only"))) refuse_type(text);
    return *type;
  }

  /// A rope-like key around the text model's must say what is said there, or change nothing there.
  void check_outer(const ConfigKeys& outer, const ConfigJson& text, const ModelType& type,
                   const RotaryReading& reading) const {
    for (const auto& [key, value] : outer.json().items()) {
      if (!is_rope_like(key)) continue;
      if (value.is_null() || is_read_alike(key, value, text, type, reading)) {
        outer.mark(key);
      } else if (text.contains(key)) {
        outer.refuse(key, format_text("{}, as in text_config", text_of(text[key])));
      }
    }
    outer.mark("position_id_per_seconds");  // It sets positions, not frequencies.
    check_all_read(outer, true, warnings_);
  }

  bool is_read_alike(const std::string& key, const ConfigJson& value, ConfigJson text,
                     const ModelType& type, const RotaryReading& reading) const {
    if (text.contains(key) && value == text[key]) return true;
    text[key] = value;
    try {
      const ConfigKeys keys(text, "text_config");
      return ConfigReader(options_, nullptr).read_as(keys, type).layers == reading.layers;
    } catch (const InvalidArgument&) {
      return false;
    }
  }

  const RotaryConfigOptions& options_;
  const Warnings warnings_;
};

}  // namespace

RotaryReading read_model(const ConfigJson& config, const RotaryConfigOptions& options) {
  std::vector<std::string> warnings;
  RotaryReading reading = ConfigReader(options, options.strict ? nullptr : &warnings).read(config);
  reading.warnings = warnings;
  return reading;
}

}  // namespace posenc::detail
