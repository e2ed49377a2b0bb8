#include "posenc/model/internal/config_keys.h"

#include "posenc/error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

constexpr std::int64_t max_integer = std::int64_t{1} << 53;

/// The value as a number of that type; none if it is not finite.
std::optional<double> finite(const ConfigJson& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) return {};
  return value.get<double>();
}

bool is_integer(const ConfigJson& value, std::int64_t least) {
  return value.is_number_integer() && value >= least && value <= max_integer;
}

/// Keys with the value that changes nothing, of models that do not read them. An array stands for
/// an array of any length of its element.
const ConfigJson& neutral_keys() {
  static const ConfigJson all = ConfigJson::parse(R"({
    "alibi": false, "compression_ratio": 1, "fuse_rope": false, "mrope_interleaved": false,
    "no_rope_layers": [1], "original_rope": true, "partial_rotary_factor": 1,
    "position_embedding_xdrope": false, "rope_interleaved": false, "rope_ratio": 1,
    "rope_reorder": false, "rotary": true, "rotary_emb_fraction": 1,
    "rotary_emb_interleaved": false, "rotary_pct": 1, "rotary_scaling_factor": 1,
    "swa_rope_theta": -1, "use_alibi": false, "use_mrope": false, "use_nope": false,
    "use_rope": true, "use_rotary_pos_emb": true})");
  return all;
}

bool is_neutral(const ConfigJson& value, const ConfigJson& neutral) {
  if (!neutral.is_array()) return value == neutral;
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [&](const ConfigJson& each) { return each == neutral[0]; });
}

std::string allowed_for(std::string_view key) {
  const auto found = neutral_keys().find(std::string(key));
  return found == neutral_keys().end() ? "none, since it is not read" : text_of(*found);
}

/// Names of objects whose keys are a user's words, or those of another program.
bool has_free_keys(std::string_view key) {
  return key == "label2id" || key == "id2label" || key == "quantization_config";
}

using Visit = std::function<void(const std::string&, const ConfigJson&, const std::string&)>;

void visit_all(const ConfigKeys& keys, const ConfigJson& value, const std::string& path,
               const Visit& visit) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      visit_all(keys, value[i], format_text("{}[{}]", path, i), visit);
  }
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    const std::string inner_path = path + "." + name_of_key(key);
    if (keys.is_read(inner_path)) continue;
    if (is_rope_like(key) && !changes_nothing(key, inner)) {
      visit(inner_path, inner, allowed_for(key));
    } else if (!has_free_keys(key)) {
      visit_all(keys, inner, inner_path, visit);
    }
  }
}

}  // namespace

ConfigKeys::ConfigKeys(const ConfigJson& object, std::string path)
    : json_(&object), path_(std::move(path)) {}

std::string ConfigKeys::path(std::string_view key) const {
  return path_.empty() ? name_of_key(key) : path_ + "." + name_of_key(key);
}

const ConfigJson* ConfigKeys::find(std::string_view key) const {
  if (const auto found = json_->find(std::string(key)); found != json_->end()) return &*found;
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto outer = json_->find(std::string(key.substr(0, dot)));
  if (outer == json_->end() || !outer->is_object()) return nullptr;
  const auto inner = outer->find(std::string(key.substr(dot + 1)));
  return inner == outer->end() ? nullptr : &*inner;
}

const ConfigJson* ConfigKeys::get(std::string_view key) const {
  mark(key);
  const ConfigJson* const value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool ConfigKeys::has(std::string_view key) const {
  const ConfigJson* const value = find(key);
  return value != nullptr && !value->is_null();
}

bool ConfigKeys::is_null(std::string_view key) const {
  const ConfigJson* const value = find(key);
  return value != nullptr && value->is_null();
}

void ConfigKeys::refuse(std::string_view key, std::string_view allowed) const {
  const ConfigJson* const value = find(key);
  posenc::refuse(path(key), value == nullptr ? ConfigJson() : *value, allowed);
}

std::optional<std::int64_t> ConfigKeys::integer(std::string_view key, std::int64_t least) const {
  const ConfigJson* const value = get(key);
  if (value == nullptr) return {};
  if (!is_integer(*value, least))
    refuse(key, format_text("an integer from {} to {}", least, max_integer));
  return value->get<std::int64_t>();
}

std::optional<double> ConfigKeys::real(std::string_view key, double above, double most) const {
  const ConfigJson* const value = get(key);
  if (value == nullptr) return {};
  const std::optional<double> number = finite(*value);
  if (number && *number > above && *number <= most) return number;
  const std::string limit = std::isinf(most) ? "" : format_text(", at most {}", most);
  refuse(key, format_text("a finite number above {}{}", above, limit));
}

bool ConfigKeys::boolean(std::string_view key, bool by_default) const {
  const ConfigJson* const value = get(key);
  if (value == nullptr) return by_default;
  if (!value->is_boolean()) refuse(key, "true, false");
  return value->get<bool>();
}

std::optional<std::string> ConfigKeys::text(std::string_view key) const {
  const ConfigJson* const value = get(key);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse(key, "a text");
  return value->get<std::string>();
}

std::vector<double> ConfigKeys::reals(std::string_view key, std::int64_t count) const {
  const ConfigJson* const value = get(key);
  std::vector<double> all;
  if (value != nullptr && value->is_array()) {
    for (const ConfigJson& each : *value) {
      const std::optional<double> number = finite(each);
      if (number && *number > 0) all.push_back(*number);
    }
  }
  if (value == nullptr || !value->is_array() || all.size() != value->size() ||
      static_cast<std::int64_t>(all.size()) != count) {
    refuse(key, format_text("a list of {} numbers above 0, one for each pair of channels", count));
  }
  return all;
}

std::vector<std::int64_t> ConfigKeys::integers(std::string_view key) const {
  const ConfigJson* const value = get(key);
  const auto is_allowed = [](const ConfigJson& each) { return is_integer(each, 0); };
  if (value == nullptr || !value->is_array() || !std::ranges::all_of(*value, is_allowed))
    refuse(key, "a list of integers from 0");
  return value->get<std::vector<std::int64_t>>();
}

void refuse_absence(std::string_view key) {
  throw InvalidArgument(format_text("the configuration has no {}, which is needed", key));
}

bool changes_nothing(std::string_view key, const ConfigJson& value) {
  const auto found = neutral_keys().find(std::string(key));
  return value.is_null() || (found != neutral_keys().end() && is_neutral(value, *found));
}

bool is_rope_like(std::string_view key) {
  constexpr std::string_view parts[] = {
      "rope",      "nope",      "rotary",     "rotate",      "theta",
      "yarn",      "ntk",       "mscale",     "position",    "pos_emb",
      "alibi",     "head_dim",  "head_size",  "kv_channels", "compression_ratio",
      "base_freq", "freq_base", "freq_alloc", "freq_scale"};
  // Words that contain a part, such as is_composition.
  constexpr std::string_view others[] = {"composition", "propert"};
  std::string lower(key);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  for (const std::string_view word : others) {
    for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at))
      lower.replace(at, word.size(), "_");
  }
  return lower == "alpha" || lower.ends_with("_pct") ||
         std::ranges::any_of(
             parts, [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

void for_each_unread(const ConfigKeys& keys, std::span<const std::string_view> left_out,
                     const Visit& visit) {
  for (const auto& [key, value] : keys.json().items()) {
    if (keys.is_read(key) || has_free_keys(key) || std::ranges::count(left_out, key) > 0) continue;
    if (!is_rope_like(key)) {
      visit_all(keys, value, name_of_key(key),
                [&](const std::string& path, const ConfigJson& inner, const std::string& allowed) {
                  visit(keys.path().empty() ? path : keys.path() + "." + path, inner, allowed);
                });
    } else if (!changes_nothing(key, value)) {
      visit(keys.path(key), value, allowed_for(key));
    }
  }
}

}  // namespace posenc
