#include "posenc/layers/rotary_config.h"

#include "posenc/error.h"
#include "posenc/layers/internal/family_reader.h"
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
  const std::string_view reason = why_not_read(type);
  if (!reason.empty()) config.refuse("model_type", reason);
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
    if (const RotaryFamily* const family = find_family(type))
      return read_family(config, type, *family, options_);
    if (const ConfigWrapper* const wrapper = find_wrapper(type))
      return read_wrapper(config, *wrapper);
    if (options_.strict || !why_not_read(type).empty()) refuse_type(config, type);
    return read_unknown(config);
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
    return has_text ? read_any(*text)
                    : read_family(config, "llama", *find_family("llama"), options_);
  }

  RotaryReading read_wrapper(const ConfigKeys& config, const ConfigWrapper& wrapper) {
    std::vector<ConfigKeys> outer = {config};
    std::string path;
    const ConfigJson* text = &config.json();
    for (std::string_view rest = wrapper.path; !rest.empty() && text != nullptr;) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      const std::string_view key = rest.substr(0, dot);
      rest.remove_prefix(std::min(dot + 1, rest.size()));
      path = outer.back().path(key);
      text = outer.back().get(key);
      if (text != nullptr && !text->is_object()) outer.back().refuse(key, "an object");
      if (text != nullptr && !rest.empty()) outer.emplace_back(*text, path);
    }
    if (text == nullptr && wrapper.may_be_flat) return read_flat(config, wrapper);
    if (text == nullptr) refuse_absence(wrapper.path);
    const ConfigKeys keys(*text, path);
    const std::string type = text_type(keys, wrapper);
    RotaryReading reading = read_family(keys, type, *find_family(type), options_);
    for (const ConfigKeys& each : outer) check_outer(each, *text, type, reading);
    return reading;
  }

  RotaryReading read_flat(const ConfigKeys& config, const ConfigWrapper& wrapper) {
    RotaryFamily family = *find_family(wrapper.text_type);
    family.is_multimodal = true;
    return read_family(config, wrapper.text_type, family, options_);
  }

  static std::string text_type(const ConfigKeys& text, const ConfigWrapper& wrapper) {
    const ConfigJson* const given = text.get("model_type");
    std::string type(wrapper.text_type.empty() ? wrapper.default_type : wrapper.text_type);
    if (given != nullptr) type = given->is_string() ? given->get<std::string>() : "";
    if (type.empty() && given == nullptr) refuse_absence(text.path("model_type"));
    const bool is_allowed = wrapper.text_type.empty() || type == wrapper.text_type;
    if (is_allowed && find_family(type) != nullptr) return type;
    if (wrapper.text_type.empty()) refuse_type(text, type);
    text.refuse("model_type", wrapper.text_type);
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
    check_all_read(outer, parts_beside_text(), options_.strict, reading.warnings);
  }

  /// True if the key would change nothing in the text model's configuration.
  bool is_read_alike(const std::string& key, const ConfigJson& value, const ConfigJson& text,
                     const std::string& type, const RotaryReading& reading) const {
    if (text.contains(key) && value == text[key]) return true;
    ConfigJson changed = text;
    changed[key] = value;
    RotaryConfigOptions strict = options_;
    strict.strict = true;
    try {
      const RotaryReading other =
          read_family(ConfigKeys(changed, std::string(text_key)), type, *find_family(type), strict);
      return std::ranges::equal(other.layers, reading.layers, [](const auto& a, const auto& b) {
        return a.kind == b.kind && a.rotary == b.rotary;
      });
    } catch (const InvalidArgument&) {
      return false;
    }
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
  return reading.model_type + kind + ": " + to_string(layers.rotary);
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

std::vector<std::string> known_model_types() {
  return {all_model_types().begin(), all_model_types().end()};
}

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
  if (spec.attention_factor != 1)
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
