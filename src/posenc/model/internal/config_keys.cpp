#include "posenc/model/internal/config_keys.h"

#include "posenc/error.h"
#include "posenc/support/made_once.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>

namespace posenc::detail {
namespace {

constexpr std::int64_t max_integer = std::int64_t{1} << 53;

/// Keys that some models do not read, with the value that changes nothing. An array stands for an
/// array of any length with the same element.
const ConfigJson& neutral_keys() {
  using Held = const HeldJson<ConfigJson>;
  static std::atomic<Held*> kept;
  return made_once(kept,
                   [] {
                     return std::make_unique<Held>(
                         parse_json_text<ConfigJson>(R"({
    "alibi": false, "compression_ratio": 1, "fuse_rope": false, "mrope_interleaved": false,
    "no_rope_layers": [1], "original_rope": true, "partial_rotary_factor": 1,
    "position_embedding_xdrope": false, "rope_interleaved": false, "rope_ratio": 1,
    "rope_reorder": false, "rotary": true, "rotary_emb_fraction": 1,
    "rotary_emb_interleaved": false, "rotary_pct": 1, "rotary_scaling_factor": 1,
    "swa_rope_theta": -1, "use_alibi": false, "use_mrope": false, "use_nope": false,
    "use_rope": true, "use_rotary_pos_emb": true})",
                                                     "the list of neutral keys"));
                   })
      .json;
}

/// True if the value is the neutral one, or a list of its only element.
bool is_neutral(const ConfigJson& value, const ConfigJson& neutral) {
  const bool is_list = neutral.is_array() && value.is_array() && !value.empty();
  return value == neutral ||
         (is_list && std::all_of(value.begin(), value.end(),
                                 [&](const ConfigJson& each) { return each == neutral[0]; }));
}

/// A key whose name contains one of these words may belong to a rotary embedding.
constexpr std::string_view rope_like[] = {
    "rope",      "nope",      "rotary",     "rotate",      "theta",
    "yarn",      "ntk",       "mscale",     "position",    "pos_emb",
    "alibi",     "head_dim",  "head_size",  "kv_channels", "compression_ratio",
    "base_freq", "freq_base", "freq_alloc", "freq_scale"};

/// Objects whose keys are chosen by a user, belong to another program, or belong to another part of
/// a multimodal model, whose rotary embedding is not the text model's.
constexpr std::string_view skipped_objects =
    "audio audio_config audio_encoder_config audio_processor audio_video_config code2wav_config "
    "codec_config dac_config depth_decoder_config dual_chunk_attention_config embd_layer "
    "encoder_config id2label image_processor img_processor label2id perceiver_config "
    "projector_config qformer_config quantization_config semantic_model_config talker_config "
    "token2wav_config video_config vision_config visual vq_config";

/// Quotes NaN and infinities, which Python writes.
std::string with_quoted_numbers(std::string_view text) {
  std::string result;
  for (bool is_in_text = false; !text.empty();) {
    std::size_t size = is_in_text && text.front() == '\\' ? 2 : 1;  // an escaped character
    is_in_text = is_in_text != (text.front() == '"');
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (!is_in_text && text.starts_with(word)) size = word.size();
    }
    const std::string piece(text.substr(0, size));
    result += size > 2 ? '"' + piece + '"' : piece;
    text.remove_prefix(piece.size());
  }
  return result;
}

std::string ascii_text(const ConfigJson& value) {
  constexpr bool ensure_ascii = true;  // keeps control characters from a terminal
  return value.dump(-1, ' ', ensure_ascii, ConfigJson::error_handler_t::replace);
}

/// The text of a string as it stands between quotes in JSON.
std::string inner_text(std::string_view text) {
  const std::string quoted = ascii_text(std::string(text));
  return shortened(quoted.substr(1, quoted.size() - 2), max_quoted_bytes);
}

bool is_real(const ConfigJson& value, double above) {
  return value.is_number() && std::isfinite(value.get<double>()) && value > above;
}

bool is_integer(const ConfigJson& value, std::int64_t least) {
  return value.is_number_integer() && value >= least && value <= max_integer;
}

/// True for a list all of whose elements are allowed.
template <class IsAllowed>
bool is_list_of(const ConfigJson& value, const IsAllowed& is_allowed) {
  return value.is_array() && std::ranges::all_of(value, is_allowed);
}

/// True if the text has the word.
bool is_one_of(std::string_view word, std::string_view words) {
  for (std::size_t end = 0; !words.empty(); words.remove_prefix(std::min(end + 1, words.size()))) {
    end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
  }
  return false;
}

}  // namespace

bool is_rope_like(std::string_view key) {
  std::string lower(key);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  for (const std::string_view word : {"composition", "propert"}) {  // contain rope-like words
    if (const auto at = lower.find(word); at != std::string::npos)
      lower.replace(at, word.size(), "_");
  }
  return lower == "alpha" || lower.ends_with("_pct") ||
         std::ranges::any_of(rope_like, [&](std::string_view part) {
           return lower.find(part) != std::string::npos;
         });
}

HeldJson<ConfigJson> parse_config(std::string_view text) {
  try {
    auto config = parse_json_text<ConfigJson>(with_quoted_numbers(text), "the configuration");
    if (!config.json.is_object()) refuse("the configuration", config.json, "an object");
    return config;
  } catch (const ConfigJson::parse_error& error) {
    throw_invalid("the configuration is not JSON near byte {}; allowed: the text of a config.json",
                  error.byte);
  } catch (const ConfigJson::out_of_range&) {
    throw InvalidArgument("a number of the configuration is beyond double; allowed: up to 1.8e308");
  }
}

std::string text_of(const ConfigJson& value) {
  return value.is_string() ? "'" + inner_text(value.get_ref<const std::string&>()) + "'"
                           : shortened(ascii_text(value), max_quoted_bytes);
}

void refuse(std::string_view name, const ConfigJson& value, std::string_view allowed) {
  throw_invalid("{} is {}; allowed: {}", name, text_of(value), allowed);
}

void refuse_absence(std::string_view key) {
  throw_invalid("the configuration has no {}, which is needed", key);
}

std::string ConfigKeys::path(std::string_view key) const {
  return (path_.empty() ? "" : path_ + ".") + inner_text(key);
}

const ConfigJson* ConfigKeys::find(std::string_view key) const {
  if (key.empty()) return nullptr;  // a model type without this key
  if (const auto found = json_->find(std::string(key)); found != json_->end()) return &*found;
  std::string pointer = "/" + std::string(key);
  std::ranges::replace(pointer, '.', '/');
  const ConfigJson::json_pointer at(pointer);
  return json_->contains(at) ? &(*json_)[at] : nullptr;
}

const ConfigJson* ConfigKeys::get(std::string_view key) const {
  mark(key);
  return has(key) ? find(key) : nullptr;
}

bool ConfigKeys::has(std::string_view key) const { return find(key) != nullptr && !is_null(key); }

bool ConfigKeys::is_null(std::string_view key) const {
  const ConfigJson* const value = find(key);
  return value != nullptr && value->is_null();
}

void ConfigKeys::refuse(std::string_view key, std::string_view allowed) const {
  const ConfigJson* const value = find(key);
  const ConfigJson none;
  detail::refuse(path(key), value == nullptr ? none : *value, allowed);
}

template <class T, class IsAllowed>
std::optional<T> ConfigKeys::value(std::string_view key, const std::string& allowed,
                                   const IsAllowed& is_allowed) const {
  const ConfigJson* const found = get(key);
  if (found == nullptr) return {};
  if (!std::invoke(is_allowed, *found)) refuse(key, allowed);
  return found->get<T>();
}

const ConfigJson* ConfigKeys::object(std::string_view key) const {
  const ConfigJson* const found = get(key);
  if (found != nullptr && !found->is_object()) refuse(key, "an object");
  return found;
}

std::optional<std::int64_t> ConfigKeys::integer(std::string_view key, std::int64_t least) const {
  return value<std::int64_t>(key, format_text("an integer from {} to {}", least, max_integer),
                             [&](const ConfigJson& each) { return is_integer(each, least); });
}

std::optional<double> ConfigKeys::real(std::string_view key, double above, double most) const {
  const std::string limit = std::isinf(most) ? "" : format_text(", at most {}", most);
  return value<double>(
      key, format_text("a finite number above {}{}", above, limit),
      [&](const ConfigJson& each) { return is_real(each, above) && each.get<double>() <= most; });
}

bool ConfigKeys::boolean(std::string_view key, bool by_default) const {
  return value<bool>(key, "true, false", &ConfigJson::is_boolean).value_or(by_default);
}

std::optional<std::string> ConfigKeys::text(std::string_view key) const {
  return value<std::string>(key, "a text", &ConfigJson::is_string);
}

template <class T, class IsAllowed>
std::optional<std::vector<T>> ConfigKeys::list(std::string_view key, const std::string& allowed,
                                               const IsAllowed& is_allowed) const {
  return value<std::vector<T>>(key, allowed,
                               [&](const ConfigJson& all) { return is_list_of(all, is_allowed); });
}

std::vector<double> ConfigKeys::reals(std::string_view key, std::int64_t count) const {
  const std::string allowed =
      format_text("a list of {} numbers above 0, one for each pair of channels", count);
  const auto numbers =
      list<double>(key, allowed, [](const ConfigJson& each) { return is_real(each, 0); });
  if (!numbers || std::ssize(*numbers) != count) refuse(key, allowed);
  return *numbers;
}

std::vector<std::int64_t> ConfigKeys::integers(std::string_view key) const {
  return needed(path(key),
                list<std::int64_t>(key, "a list of integers from 0",
                                   [](const ConfigJson& each) { return is_integer(each, 0); }));
}

std::vector<std::string> ConfigKeys::texts(std::string_view key) const {
  return list<std::string>(key, "a list of texts", &ConfigJson::is_string)
      .value_or(std::vector<std::string>());
}

std::vector<ConfigKeys> ConfigKeys::objects(std::string_view key) const {
  std::vector<ConfigKeys> all;
  const ConfigJson* const list = get(key);
  if (list == nullptr) return all;
  if (!is_list_of(*list, &ConfigJson::is_object)) refuse(key, "a list of objects");
  for (const ConfigJson& each : *list)
    all.emplace_back(each, format_text("{}[{}]", path(key), all.size()));
  return all;
}

/// `path` is the path of `value` in this object.
void ConfigKeys::check_all_read(const ConfigJson& value, const std::string& path,
                                Scope scope) const {
  for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
    check_all_read(value[i], format_text("{}[{}]", path, i), scope);
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    const std::string inner_path = path.empty() ? key : path + '.' + key;
    if (is_read(inner_path) || is_one_of(key, skipped_objects)) continue;
    if (scope != Scope::rule && !is_rope_like(key)) {
      check_all_read(inner, inner_path, scope);
      continue;
    }
    const auto neutral = neutral_keys().find(key);
    const bool has_neutral = neutral != neutral_keys().end();
    if (inner.is_null() || (has_neutral && is_neutral(inner, *neutral))) continue;
    detail::refuse(this->path(inner_path), inner,
                   has_neutral ? text_of(*neutral) : "none, since it is not read");
  }
}

}  // namespace posenc::detail
