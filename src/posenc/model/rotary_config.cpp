#include "posenc/model/rotary_config.h"

#include "posenc/error.h"
#include "posenc/model/internal/model_reader.h"
#include "posenc/support/edit_distance.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cstddef>

namespace posenc {
namespace {

constexpr std::string_view text_key = "text_config";

/// Up to three types whose names begin like that one, or differ in less than half of it.
std::string nearest_types(std::string type) {
  constexpr std::size_t most_characters = 64, most_types = 3, long_prefix = 3;
  type.resize(std::min(type.size(), most_characters));
  std::ranges::transform(type, type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  struct Candidate {
    std::string_view name;
    std::int64_t rank;  // less is nearer
  };
  std::vector<Candidate> near;
  for (const std::string_view each : all_model_types()) {
    const auto mismatch = std::ranges::mismatch(type, each);
    const auto prefix = static_cast<std::size_t>(mismatch.in1 - type.begin());
    const std::size_t distance = edit_distance(type, each);
    if (prefix < long_prefix && 2 * distance > type.size()) continue;
    near.push_back(
        {each, static_cast<std::int64_t>(distance) - 2 * static_cast<std::int64_t>(prefix)});
  }
  std::ranges::stable_sort(near, {}, &Candidate::rank);
  near.resize(std::min(near.size(), most_types));
  std::vector<std::string_view> names;
  for (const Candidate& each : near) names.push_back(each.name);
  return names.empty() ? "llama" : join(names, ", ");
}

[[noreturn]] void refuse_type(const ConfigKeys& config, const std::string& type) {
  if (!config.has("model_type")) refuse_absence(config.path("model_type"));
  const ModelType* const found = find_type(type, config);
  if (found != nullptr && found->has("none")) config.refuse("model_type", found->value("none"));
  config.refuse("model_type",
                format_text("one that docs/config-json.md lists, such as {}", nearest_types(type)));
}

/// Reads a configuration, or the one of the text model in it.
class ConfigReader {
 public:
  explicit ConfigReader(const RotaryConfigOptions& options) : options_(options) {}

  RotaryReading read(const ConfigJson& json) {
    RotaryReading reading = read_any(json);
    reading.warnings.insert(reading.warnings.begin(), warnings_.begin(), warnings_.end());
    return reading;
  }

 private:
  RotaryReading read_any(const ConfigJson& json) {
    const ConfigKeys config(json);
    const std::string type = type_of(config);
    const ModelType* const found = find_type(type, config);
    if (found != nullptr && !found->has("none")) return read_as(config, type, *found);
    if (options_.strict || found != nullptr) refuse_type(config, type);
    return read_unknown(config);
  }

  RotaryReading read_as(const ConfigKeys& config, const std::string& name, const ModelType& type) {
    return type.has("text") ? read_wrapper(config, type) : read_model(config, name, type, options_);
  }

  static std::string type_of(const ConfigKeys& config) {
    const ConfigJson* const type = config.get("model_type");
    return type != nullptr && type->is_string() ? type->get<std::string>() : "";
  }

  RotaryReading read_unknown(const ConfigKeys& config) {
    const ConfigJson* const text = config.get(text_key);
    const bool has_text = text != nullptr && text->is_object();
    const ConfigJson* const type = config.get("model_type");
    warnings_.push_back(format_text("model_type is {}; read as {}",
                                    text_of(type == nullptr ? ConfigJson() : *type),
                                    has_text ? text_key : "llama"));
    return has_text ? read_any(*text) : read_as(config, "llama", *find_type("llama", config));
  }

  RotaryReading read_wrapper(const ConfigKeys& config, const ModelType& wrapper) {
    std::vector<ConfigKeys> outer = {config};
    const std::string where = wrapper.value("text");
    std::string path;
    const ConfigJson* text = &config.json();
    for (std::string_view rest = where; !rest.empty() && text != nullptr;) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      const std::string_view key = rest.substr(0, dot);
      rest.remove_prefix(std::min(dot + 1, rest.size()));
      path = outer.back().path(key);
      text = outer.back().get(key);
      if (text != nullptr && !text->is_object()) outer.back().refuse(key, "an object");
      if (text != nullptr && !rest.empty()) outer.emplace_back(*text, path);
    }
    if (text == nullptr && wrapper.has("flat")) return read_flat(config, wrapper);
    if (text == nullptr) refuse_absence(where);
    const ConfigJson json = with_defaults(*text, wrapper);
    const ConfigKeys keys(json, path);
    const std::string type = text_type(keys, wrapper);
    RotaryReading reading = read_as(keys, type, *find_type(type, keys));
    for (const ConfigKeys& each : outer) {
      if (wrapper.has("twin")) check_twin(each, wrapper, type, reading);
      check_outer(each, json, type, reading);
    }
    return reading;
  }

  /// What the wrapper's class adds to the configuration of its text model.
  static ConfigJson with_defaults(const ConfigJson& text, const ModelType& wrapper) {
    if (!wrapper.has("defaults")) return text;
    ConfigJson result = ConfigJson::parse(wrapper.value("defaults"));
    result.update(text);
    return result;
  }

  RotaryReading read_flat(const ConfigKeys& config, const ModelType& wrapper) {
    ModelType type = *find_type(wrapper.value("type"), config);
    type.words.emplace("parts", "");
    return read_as(config, type.name, type);
  }

  static std::string text_type(const ConfigKeys& text, const ModelType& wrapper) {
    const ConfigJson* const given = text.get("model_type");
    const std::string usual = wrapper.value("type");
    if (wrapper.has("forced") || (given == nullptr && !usual.empty())) return usual;
    if (given == nullptr) refuse_absence(text.path("model_type"));
    const std::string type = type_of(text);
    if (wrapper.has("only") && type != usual) text.refuse("model_type", usual);
    const ModelType* const found = find_type(type, text);
    const bool is_model = found != nullptr && !found->has("none");
    if (!is_model || (found->has("text") && !wrapper.has("only"))) refuse_type(text, type);
    return type;
  }

  void check_twin(const ConfigKeys& outer, const ModelType& wrapper, const std::string& type,
                  const RotaryReading& reading) {
    const std::string key = wrapper.value("twin");
    const ConfigJson* const twin = outer.get(key);
    if (twin == nullptr) return;
    if (!twin->is_object()) outer.refuse(key, "an object");
    const ConfigKeys keys(*twin, outer.path(key));
    if (!are_alike(read_as(keys, type, *find_type(type, keys)), reading))
      outer.refuse(key, "the rotary embedding of " + wrapper.value("text"));
  }

  /// A rope-like key around the text model's must say what is said there.
  void check_outer(const ConfigKeys& outer, const ConfigJson& text, const std::string& type,
                   RotaryReading& reading) const {
    for (const auto& [key, value] : outer.json().items()) {
      if (!is_rope_like(key)) continue;
      if (value.is_null() || is_read_alike(key, value, text, type, reading)) {
        outer.mark(key);
      } else if (text.contains(key)) {
        outer.refuse(key, format_text("{}, as in {}", text_of(text[key]), text_key));
      }
    }
    outer.mark("position_id_per_seconds");  // It sets positions, not frequencies.
    check_all_read(outer, true, options_.strict, reading.warnings);
  }

  /// True if the key would change nothing in the text model's configuration.
  bool is_read_alike(const std::string& key, const ConfigJson& value, const ConfigJson& text,
                     const std::string& type, const RotaryReading& reading) const {
    if (text.contains(key) && value == text[key]) return true;
    ConfigJson changed = text;
    changed[key] = value;
    RotaryConfigOptions strict = options_;
    strict.strict = true;
    const ConfigKeys keys(changed, std::string(text_key));
    try {
      return are_alike(ConfigReader(strict).read_as(keys, type, *find_type(type, keys)), reading);
    } catch (const InvalidArgument&) {
      return false;
    }
  }

  static bool are_alike(const RotaryReading& a, const RotaryReading& b) {
    return std::ranges::equal(a.layers, b.layers, [](const auto& one, const auto& other) {
      return one.kind == other.kind && one.rotary == other.rotary;
    });
  }

  const RotaryConfigOptions& options_;
  std::vector<std::string> warnings_;
};

/// The text of a rule, shortened, without the attention factor, which the spec has.
std::string rule_text(const FrequencyRule& rule) {
  constexpr std::size_t most = 200;
  std::string text = to_string(rule);
  constexpr std::string_view factor = ",attention_factor=1";
  if (text.ends_with(factor)) text.resize(text.size() - factor.size());
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

/// How the pairs are divided between axes: "; axes in sections 16, 24, 24".
std::string axes_text(const AxesSpec& angles) {
  std::vector<std::int64_t> pairs(static_cast<std::size_t>(angles.axes()));
  for (const AxisPairs& part : angles.parts)
    pairs[static_cast<std::size_t>(part.axis)] += part.count();
  std::vector<std::string> counts;
  for (const std::int64_t each : pairs) counts.push_back(format_text("{}", each));
  const std::string list = join(counts, ", ");
  const EncodingSpec& spec = angles.parts.front().spec;
  const auto is = [&](auto* make) {
    try {
      return make(pairs, spec) == angles;
    } catch (const InvalidArgument&) {
      return false;
    }
  };
  if (is(axes_in_sections)) return "in sections of " + list + " pairs";
  if (is(axes_interleaved)) return "interleaved, of " + list + " pairs";
  if (is(axes_alternating)) return "alternating, of " + list + " pairs";
  return "of " + list + " pairs";
}

std::string text_of_layers(const RotaryReading& reading, const RotaryReading::Layers& layers) {
  const std::string kind = layers.kind.empty() ? "" : ", " + layers.kind;
  const std::string note = layers.note.empty() ? "" : "; " + layers.note;
  return reading.model_type + kind + ": " + to_string(layers.rotary) + note;
}

bool are_alike(const std::vector<RotaryReading::Layers>& layers) {
  return std::ranges::all_of(layers, [&](const RotaryReading::Layers& each) {
    return each.rotary == layers.front().rotary;
  });
}

}  // namespace

RotaryReading read_rotary_config(std::string_view text, const RotaryConfigOptions& options) {
  if (options.rows && (*options.rows < 1 || *options.rows > max_position)) {
    throw InvalidArgument(
        format_text("rows is {}; allowed: an integer from 1 to {}", *options.rows, max_position));
  }
  return ConfigReader(options).read(parse_config(text));
}

const RotaryReading::Layers& layers_of(const RotaryReading& reading, std::string_view kind) {
  std::vector<std::string> kinds;
  for (const RotaryReading::Layers& each : reading.layers) {
    if (each.kind == kind) return each;
    kinds.push_back(each.kind);
  }
  const std::string allowed = kinds.size() == 1 && kinds.front().empty()
                                  ? "none, since all layers are alike"
                                  : join(kinds, ", ");
  if (kind.empty() && are_alike(reading.layers)) return reading.layers.front();
  throw InvalidArgument(format_text("layers is {}; allowed for {}: {}",
                                    kind.empty() ? "not given" : text_of(ConfigJson(kind)),
                                    reading.model_type, allowed));
}

std::vector<std::string> known_model_types() { return all_model_types(); }

std::string to_string(const RotarySpec& spec) {
  std::string text = format_text("dimension {}", spec.dimension());
  const std::vector<AxisPairs>& parts = spec.angles.parts;
  const auto is_alike = [&](const AxisPairs& part) {
    return part.spec.base == parts.front().spec.base &&
           part.spec.frequencies == parts.front().spec.frequencies;
  };
  if (!parts.empty() && std::ranges::all_of(parts, is_alike)) {
    const EncodingSpec& angles = parts.front().spec;
    text += format_text(", base {}, rule {}", angles.base, rule_text(angles.frequencies));
  }
  text += spec.channels == RotaryLayout::halves ? ", channels halves" : ", channels interleaved";
  if (spec.angles.axes() > 1) text += ", axes " + axes_text(spec.angles);
  const FrequencyRule& rule = parts.empty() ? FrequencyRule() : parts.front().spec.frequencies;
  if (spec.attention_factor != 1 || std::holds_alternative<YarnScaling>(rule))
    text += format_text(", attention factor {}", spec.attention_factor);
  return text;
}

std::string to_string(const RotaryReading& reading) {
  std::vector<std::string> all;
  for (const RotaryReading::Layers& each : reading.layers)
    all.push_back(text_of_layers(reading, each));
  if (!reading.unturned.empty()) all.push_back("no rotary embedding: " + reading.unturned);
  return join(all, "; ");
}

}  // namespace posenc
