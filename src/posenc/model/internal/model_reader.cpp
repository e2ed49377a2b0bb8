#include "posenc/model/internal/model_reader.h"

#include "posenc/error.h"
#include "posenc/model/internal/rotary_rules.h"
#include "posenc/spec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace posenc {
namespace {

constexpr std::string_view position_type_key = "position_embedding_type";
constexpr double any = std::numeric_limits<double>::infinity();
using Pairs = std::vector<std::int64_t>;

/// The rules of a configuration: one, or one for each kind of layers.
struct KindOfRule {
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

/// The integer part of a share of channels.
std::int64_t part_of(std::int64_t channels, double share) {
  return static_cast<std::int64_t>(static_cast<double>(channels) * share);
}

std::string names_of(const std::vector<ModelType>& kinds) {
  std::vector<std::string> names;
  for (const ModelType& each : kinds) names.push_back(each.name);
  return join(names, ", ");
}

class ModelReader {
 public:
  ModelReader(const ConfigKeys& config, std::string_view model_type, const ModelType& type,
              const RotaryConfigOptions& options)
      : config_(config),
        model_type_(model_type),
        type_(type),
        options_(options),
        kinds_(type.kinds),
        unturned_(type.has("unturned") ? type.value("unturned") + " layers" : "") {}

  RotaryReading read() {
    check_requirements();
    check_position_type();
    find_rules();
    choose_kinds();
    RotaryReading reading = {.model_type = std::string(model_type_)};
    for (const ModelType& kind : kinds_) reading.layers.push_back(layers_of(kind));
    reading.unturned = unturned_;
    reading.most_rows = config_.integer("max_position_embeddings", 2).value_or(0);
    for (const KindOfRule& each : rules_) {
      const bool is_used = each.kind.empty() || names(kinds_, each.kind);
      if (is_used) check_rule_keys(each.keys);
    }
    warnings_.swap(reading.warnings);
    return reading;
  }

 private:
  // What the keys of a single type have to say.

  void check_requirements() const {
    for (const std::string& key : split(type_.value("ignored"), ',')) config_.mark(key);
    for (const std::string_view word : {"needs", "allows"}) {
      for (const std::string& each : split(type_.value(word), ' ')) {
        const auto [key, rest] = cut(each, ':');
        check_requirement(key, rest, word == "needs");
      }
    }
    const std::string notnull = type_.value("notnull");
    if (!notnull.empty() && config_.is_null(notnull)) config_.refuse(notnull, "a number");
  }

  /// "JSON" or "JSON:the_reason".
  void check_requirement(const std::string& key, const std::string& text, bool is_needed) const {
    auto [json, reason] = cut(text, ':');
    const ConfigJson wanted = ConfigJson::parse(json);
    const ConfigJson* const value = config_.get(key);
    if (value == nullptr ? !is_needed : *value == wanted) return;
    std::ranges::replace(reason, '_', ' ');
    const std::string allowed = wanted.is_string() ? wanted.get<std::string>() : text_of(wanted);
    config_.refuse(key, reason.empty() ? allowed : allowed + "; " + reason);
  }

  void check_position_type() const {
    if (config_.is_read(position_type_key)) return;
    const auto name = config_.text(position_type_key);
    const bool is_interleaved = channels() == RotaryLayout::interleaved;
    if (!name || name == "rope" || (name == "rope_gptj" && is_interleaved)) return;
    config_.refuse(position_type_key, is_interleaved ? "rope, rope_gptj" : "rope");
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
    const ConfigJson* const older = object_of("rope_scaling");
    const ConfigJson* const newer = object_of("rope_parameters");
    if (older != nullptr && newer != nullptr && !says_the_same(*older, *newer))
      config_.refuse("rope_scaling", "rope_parameters, which is given too");
    const std::string_view name = newer != nullptr ? "rope_parameters" : "rope_scaling";
    const ConfigJson* const rules = newer != nullptr ? newer : older;
    if (rules == nullptr && type_.has("rule") && config_.is_null("rope_scaling"))
      config_.refuse(name, "a rule; Transformers 4 reads none, Transformers 5 that of its class");
    if (rules == nullptr) return;
    const bool has_kinds = type_.kinds.size() > 1;
    if (!is_object_of_objects(*rules)) {
      if (has_kinds && newer != nullptr)
        config_.refuse(name, "a rule for each kind of layers: " + names_of(type_.kinds));
      rules_.push_back({"", ConfigKeys(*rules, config_.path(name))});
      return;
    }
    if (!has_kinds) config_.refuse(name, "one rule, since the model has one rotary embedding");
    for (const auto& [kind, rule] : rules->items()) {
      const std::string path = config_.path(name) + "." + name_of_key(kind);
      if (rule.is_null()) continue;
      if (!rule.is_object()) refuse(path, rule, "an object, as the other kinds of layers have");
      if (!names(type_.kinds, kind))
        refuse(path, rule, "a rule for a kind of layers: " + names_of(type_.kinds));
      rules_.push_back({kind, ConfigKeys(rule, path)});
    }
  }

  const ConfigJson* object_of(std::string_view key) const {
    const ConfigJson* const value = config_.get(key);
    if (value != nullptr && !value->is_object()) config_.refuse(key, "an object");
    return value == nullptr || value->empty() ? nullptr : value;
  }

  /// The rule's keys of a kind; nullptr if there are none.
  const ConfigKeys* keys_of(const ModelType& kind) const {
    if (rules_.empty()) return nullptr;
    if (!has_rule_for_each_kind()) return kind.has("plain") ? nullptr : &rules_.front().keys;
    const auto found = std::ranges::find(rules_, kind.name, &KindOfRule::kind);
    return found == rules_.end() ? nullptr : &found->keys;
  }

  static bool names(const std::vector<ModelType>& kinds, std::string_view name) {
    return std::ranges::count(kinds, name, &ModelType::name) > 0;
  }

  bool has_rule_for_each_kind() const { return !rules_.empty() && !rules_.front().kind.empty(); }

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
    const auto is_attention = [](std::string_view kind) {
      return kind == "full_attention" || kind == "sliding_attention";
    };
    if (types == nullptr || kinds_.empty() || !is_attention(kinds_.front().name)) return;
    if (!types->is_array()) config_.refuse("layer_types", "a list of kinds of layers");
    const std::vector<ConfigJson> all(types->begin(), types->end());
    if (std::ranges::none_of(all, [&](const ConfigJson& each) {
          return each.is_string() && is_attention(each.get_ref<const std::string&>());
        }))
      return;
    std::erase_if(kinds_, [&](const ModelType& kind) {
      return std::ranges::find(all, ConfigJson(kind.name)) == all.end();
    });
    if (kinds_.empty())
      config_.refuse("layer_types", "at least one kind of layers with a rotary embedding");
  }

  /// A list with 1 for every layer that is turned; by default all but every n-th.
  void read_no_rope_layers() {
    constexpr std::int64_t max_layers = 4096;
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
    std::vector<std::string> names;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      if (turned[i] == 0) names.push_back(format_text("{}", i));
    }
    if (names.size() == turned.size())
      config_.refuse("no_rope_layers", "a list with at least one 1, for a layer that is turned");
    if (!names.empty()) unturned_ = "layers " + join(names, ", ");
  }

  // Values of keys that agree, or of the class.

  template <class T, class Read>
  std::optional<T> value_of(const Sources& from, const ConfigKeys& rule, bool takes_default,
                            const Read& read) const {
    std::vector<Named<T>> given, echoes;
    for (const Sources::Key& each : from.keys) {
      const ConfigKeys& keys = each.is_in_rule ? rule : config_;
      (each.is_echo ? echoes : given).emplace_back(keys.path(each.name), read(keys, each.name));
    }
    const bool is_given =
        std::ranges::any_of(given, [](const auto& each) { return !!each.second; });
    if (!is_given && takes_default && from.defaults.size() > 1) refuse_default(from);
    if (!is_given && takes_default && !from.defaults.empty())
      given.emplace_back("the default of its class", static_cast<T>(from.defaults.front()));
    given.insert(given.end(), echoes.begin(), echoes.end());
    return agreed<T>(given);
  }

  [[noreturn]] void refuse_default(const Sources& from) const {
    throw InvalidArgument(format_text(
        "the configuration has no {}, which is needed; Transformers 4 takes {}, Transformers 5 {}",
        config_.path(from.name()), from.defaults[0], from.defaults[1]));
  }

  std::optional<std::int64_t> whole(const Sources& from, bool takes_default) const {
    return value_of<std::int64_t>(
        from, none_, takes_default,
        [](const ConfigKeys& keys, const std::string& key) { return keys.integer(key); });
  }

  std::optional<double> real(const Sources& from, const ConfigKeys& rule, bool takes_default,
                             double above, double most) const {
    return value_of<double>(from, rule, takes_default,
                            [&](const ConfigKeys& keys, const std::string& key) {
                              return keys.real(key, above, most);
                            });
  }

  // Channels.

  /// The width over the heads. A nested configuration leaves out those of its class.
  std::int64_t quotient(const ModelType& kind) const {
    const auto [width, heads] = cut(kind.value("class"), '/');
    return size_of(kind, "width", width) / size_of(kind, "heads", heads);
  }

  std::int64_t size_of(const ModelType& kind, std::string_view word,
                       const std::string& by_default) const {
    Sources from = sources_of(kind, word);
    if (!by_default.empty() && config_.is_nested()) from.defaults = {std::stod(by_default)};
    return needed(config_.path(from.name()), whole(from, true));
  }

  std::int64_t head_of(const ModelType& kind) const {
    const Sources from = sources_of(kind, "head");
    auto head = whole(from, false);
    if (kind.has("per_layer")) head = head_of_layers(kind, config_.path(from.name()), head);
    if (kind.has("latent")) return head.value_or(0);
    if (divides(kind)) {
      const std::int64_t divided = quotient(kind);
      const std::string name =
          sources_of(kind, "width").name() + " / " + sources_of(kind, "heads").name();
      agreed<std::int64_t>({{name, divided}, {config_.path(from.name()), head}});
      return divided;
    }
    if (head) return *head;
    if (config_.is_null(from.name()) && !from.defaults.empty()) {
      if (!kind.has("divided_if_null")) config_.refuse(from.name(), "an integer");
      return quotient(kind);
    }
    if (!from.defaults.empty()) return static_cast<std::int64_t>(from.defaults.front());
    return kind.has("either") ? quotient(kind) : needed(config_.path(from.name()), head);
  }

  static bool divides(const ModelType& kind) { return !kind.has("given") && !kind.has("either"); }

  /// As Transformers 5.16 saves those of some layers: {"5": {"head_dim": 512}, ...}.
  std::optional<std::int64_t> head_of_layers(const ModelType& kind, const std::string& head_path,
                                             std::optional<std::int64_t> head) const {
    const std::string_view key = "per_layer_config";
    const ConfigJson* const layers = config_.get(key);
    if (layers == nullptr) return head;
    std::vector<Named<std::int64_t>> all = {{head_path, head}};
    const ConfigJson* const types = config_.get("layer_types");
    if (!layers->is_object() || types == nullptr || !types->is_array())
      config_.refuse(key, "an object, beside layer_types");
    for (std::size_t i = 0; i < types->size(); ++i) {
      const std::string name = format_text("{}", i), path = config_.path(key) + "." + name;
      const auto layer = layers->find(name);
      if ((layer != layers->end()) != ((*types)[i] == kind.name))
        config_.refuse(key, "those of the layers with " + kind.name);
      if (layer == layers->end()) continue;
      if (!layer->is_object()) refuse(path, *layer, "an object");
      const ConfigKeys keys(*layer, path);
      all.emplace_back(keys.path("head_dim"), keys.integer("head_dim"));
      std::vector<std::string> warnings;
      check_all_read(keys, false, true, warnings);
    }
    return agreed<std::int64_t>(all);
  }

  /// Those of a head that are turned: even, 2 to max_d_model.
  std::int64_t turned_of(const ModelType& kind, const ConfigKeys& rule, std::int64_t head) const {
    const Sources of_turned = sources_of(kind, "turned"), of_share = sources_of(kind, "share");
    const auto turned = whole(of_turned, true);
    const auto share = real(of_share, rule, !turned, 0, 1);
    std::string key = sources_of(kind, divides(kind) ? "width" : "head").name();
    std::int64_t dimension = 0;
    if (turned) {
      key = of_turned.name();
      dimension = *turned;
      check_turned(kind, key, *turned, head, share);
    } else if (kind.has("turned") && !kind.has("optional_turned")) {
      refuse_absence(config_.path(of_turned.name()));
    } else {
      dimension = part_of(head, needed(config_.path(of_share.name()), share));
    }
    if (dimension >= 2 && dimension % 2 == 0 && dimension <= max_d_model) return dimension;
    refuse(format_text("the dimension, from {},", config_.path(key)), ConfigJson(dimension),
           format_text("even, 2 to {}", max_d_model));
  }

  void check_turned(const ModelType& kind, const std::string& key, std::int64_t turned,
                    std::int64_t head, const std::optional<double>& share) const {
    if (kind.has("latent") && head != 0) {
      agreed<std::int64_t>(
          {{config_.path(key), turned}, {config_.path(sources_of(kind, "head").name()), head}});
    }
    if (!kind.has("latent") && turned > head)
      config_.refuse(key, format_text("at most {}, the channels of a head", head));
    if (!share) return;
    constexpr std::string_view nope = "qk_nope_head_dim";
    if (kind.has("share_of_both"))
      head = turned + needed(config_.path(nope), config_.integer(nope));
    agreed<std::int64_t>(
        {{config_.path(key), turned}, {"the share of the head", part_of(head, *share)}});
  }

  // A rotary embedding.

  RotaryReading::Layers layers_of(const ModelType& kind) {
    const ConfigJson by_default =
        kind.has("rule") ? ConfigJson::parse(kind.value("rule")) : ConfigJson::object();
    const ConfigKeys default_rule(by_default, kind.has("rule") ? "the rule of its class" : "");
    const ConfigKeys* const given = keys_of(kind);
    const ConfigKeys& rule = given == nullptr ? default_rule : *given;
    const std::string name = rule_of(kind, rule);
    const std::int64_t head = head_of(kind);
    if (name != "default" && kind.has("head_for_rules"))
      needed(config_.path("head_dim"), config_.integer("head_dim"));
    const std::int64_t dimension = name == "proportional" ? head : turned_of(kind, rule, head);
    const auto base = real(sources_of(kind, "base"), rule, true, 1, any);
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

  /// The rule that the keys name, as the reader of rules calls it.
  std::string rule_of(const ModelType& kind, const ConfigKeys& keys) {
    const auto type = keys.text("rope_type");
    auto older = keys.text("type");
    if (type == "longrope" && older == "su") older = type;
    if (kind.has("named_rope_type") && !type && older && older != "default")
      keys.refuse("type", "rope_type; Transformers 4 raises without it, Transformers 5 reads none");
    const auto meaning = [&](const std::optional<std::string>& name) {
      return name && !meaning_of(kind, *name).empty() ? meaning_of(kind, *name) : name;
    };
    agreed<std::string>(
        {{keys.path("rope_type"), meaning(type)}, {keys.path("type"), meaning(older)}});
    const std::string name = type ? *type : older.value_or("default");
    const std::string known = meaning_of(kind, name), allowed = allowed_rules(kind);
    if (known == "?") {
      refuse("rope_type", ConfigJson(name),
             allowed + "; Transformers 4 follows the length of sequences, Transformers 5 does not");
    }
    if (!known.empty()) return known;
    if (options_.strict || is_rule(name)) refuse("rope_type", ConfigJson(name), allowed);
    warn("rope_type", ConfigJson(name), "read as none");
    return "default";
  }

  /// "name" or "name>meaning".
  static std::vector<std::string> rules_of(const ModelType& kind) {
    const std::string standard = "default,dynamic,linear,llama3,longrope,yarn";
    const auto [first, rest] = cut(kind.value("rules"), ',');
    return split(first.empty() || first == "standard" ? standard + "," + rest : first + "," + rest,
                 ',');
  }

  /// The last of them counts; empty if there is none.
  static std::string meaning_of(const ModelType& kind, std::string_view name) {
    std::string result;
    for (const std::string& each : rules_of(kind)) {
      const auto [known, meaning] = cut(each, '>');
      if (known == name) result = meaning.empty() ? known : meaning;
    }
    return result;
  }

  /// Names that mean no other name.
  static std::string allowed_rules(const ModelType& kind) {
    std::vector<std::string> names;
    for (const std::string& each : rules_of(kind)) {
      const std::string name = cut(each, '>').first;
      const std::string known = meaning_of(kind, name);
      const bool is_other = known != name && !meaning_of(kind, known).empty();
      if (known != "?" && !is_other && std::ranges::count(names, name) == 0) names.push_back(name);
    }
    return join(names, ", ");
  }

  /// ChatGLM2's divides the positions, and that of the later models multiplies the base. Only the
  /// name of the model tells them apart.
  double rope_ratio() const {
    if (!type_.has("rope_ratio")) return 1;
    const double ratio = config_.real("rope_ratio").value_or(1);
    const ConfigJson* const name = config_.get("_name_or_path");
    const bool is_second = name != nullptr && name->is_string() &&
                           name->get<std::string>().find("chatglm2") != std::string::npos;
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
    if (sum != spec.d_model / 2) {
      refuse(name, ConfigJson(pairs),
             format_text("a list whose sum is {}, the number of pairs", spec.d_model / 2));
    }
    // M-RoPE's are of time, height and width, XD-RoPE's also of the position.
    const bool has_four = kind.has("four_axes");
    if (pairs.size() != (has_four ? 4 : 3))
      refuse(name, ConfigJson(pairs), has_four ? "four sections" : "three sections");
    if (order == "in_sections") return axes_in_sections(pairs, spec);
    if (order == "interleaved") return axes_interleaved(pairs, spec);
    // ERNIE's are of height, width and time.
    if (pairs[0] != pairs[1]) {
      refuse(name, ConfigJson(pairs), "equal sections of height and width, then that of time");
    }
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
    if (rule.has(key)) return {rule.path(key), rule.integers(key)};
    Pairs pairs;
    for (const std::string& each : split(by_default, ',')) pairs.push_back(std::stoll(each));
    if (pairs.empty()) refuse_absence(rule.path(key));
    return {rule.path(key), pairs};
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
  const ModelType& type_;
  const RotaryConfigOptions& options_;
  const ConfigKeys none_ = ConfigKeys(empty_);
  std::vector<ModelType> kinds_;
  std::string unturned_;
  std::vector<KindOfRule> rules_;
  std::vector<std::string> warnings_;
};

}  // namespace

RotaryReading read_model(const ConfigKeys& config, std::string_view model_type,
                         const ModelType& type, const RotaryConfigOptions& options) {
  RotaryReading reading = ModelReader(config, model_type, type, options).read();
  // A configuration in another one is that of a part of a model.
  check_all_read(config, type.has("parts") || config.is_nested(), options.strict, reading.warnings);
  return reading;
}

void check_all_read(const ConfigKeys& keys, bool leaves_parts_out, bool is_strict,
                    std::vector<std::string>& warnings) {
  // Parts of multimodal models, whose rotary embeddings are not those of the text.
  static constexpr std::string_view parts[] = {
      "audio",           "audio_config",     "audio_encoder_config", "audio_processor",
      "code2wav_config", "embd_layer",       "encoder_config",       "image_processor",
      "img_processor",   "perceiver_config", "projector_config",     "qformer_config",
      "talker_config",   "token2wav_config", "vision_config",        "visual",
      "vq_config"};
  const auto left_out = leaves_parts_out ? std::span(parts) : std::span<const std::string_view>();
  for_each_unread(
      keys, left_out,
      [&](const std::string& path, const ConfigJson& value, const std::string& allowed) {
        if (is_strict) refuse(path, value, allowed);
        warnings.push_back(format_text("{} is {}; not read", path, text_of(value)));
      });
}

}  // namespace posenc
