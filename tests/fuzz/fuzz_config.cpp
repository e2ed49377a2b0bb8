// The reader of configurations with random texts: any text, and objects of keys that it knows. What
// it accepts is a rotary embedding that can be planned, and what it refuses is refused in a line of
// printable characters.
#include "arena.h"

#include "posenc/model/rotary_config.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::fuzz {

using namespace model;
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

const std::string& one_of(FuzzedDataProvider& input, const std::vector<std::string>& words) {
  return words[input.ConsumeIntegralInRange<std::size_t>(0, words.size() - 1)];
}

/// Keys that it knows.
const std::vector<std::string> keys = words_of(
    "alibi alpha attention_factor attention_head_dim attn_rotary_emb beta_fast beta_slow "
    "factor freq_allocation full_attention global_head_dim global_rope_theta head_dim "
    "hidden_size high_freq_factor kv_channels layer_types llm_config local_rope_theta "
    "long_factor low_freq_factor max_position_embeddings model_type mrope_interleaved "
    "mrope_section mscale mscale_all_dim n_embd n_head no_rope_layer_interval no_rope_layers "
    "num_attention_heads num_hidden_layers original_max_position_embeddings "
    "partial_rotary_factor position_embedding_type qk_rope_head_dim rope_interleave "
    "rope_parameters rope_ratio rope_scaling rope_theta rope_type rotary_dim rotary_emb_base "
    "rotary_pct short_factor sliding_attention text_config truncate type xdrope_section");

std::string value_of(FuzzedDataProvider& input, int depth);

std::string object_of(FuzzedDataProvider& input, int depth) {
  std::string text = "{";
  for (int left = input.ConsumeIntegralInRange(0, 8); left > 0; --left) {
    text += text.size() > 1 ? ", \"" : "\"";
    text += one_of(input, keys);
    text += "\": " + value_of(input, depth + 1);
  }
  return text + "}";
}

std::string list_of(FuzzedDataProvider& input, int depth) {
  std::string text = "[";
  for (int left = input.ConsumeIntegralInRange(0, 8); left > 0; --left)
    text += (text.size() > 1 ? ", " : "") + value_of(input, depth + 1);
  return text + "]";
}

std::string value_of(FuzzedDataProvider& input, int depth) {
  static const std::vector<std::string> types = known_model_types();
  static const std::vector<std::string> words = words_of(
      "null true false NaN -Infinity 1e999 0 1 2 64 0.5 \"rope\" \"sliding_attention\" "
      "9007199254740992");
  static const std::vector<std::string> rules =
      words_of("default dynamic linear llama3 longrope mrope proportional xdrope yarn");
  switch (depth > 4 ? 3 : input.ConsumeIntegralInRange(0, 7)) {
    case 0: return object_of(input, depth);
    case 1: return list_of(input, depth);
    case 2: return '"' + one_of(input, types) + '"';
    case 4: return std::to_string(input.ConsumeIntegral<std::int64_t>());
    case 5: return std::to_string(input.ConsumeIntegralInRange(0, 300));
    case 6: return '"' + one_of(input, rules) + '"';
    default: return one_of(input, words);
  }
}

void check_line(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }))
    fail("a message is not one line of printable characters");
}

void check_reading(const RotaryReading& reading) {
  if (reading.layers.empty()) fail("no layers");
  for (const RotaryReading::Layers& each : reading.layers) {
    validate(each.rotary);
    if (!(layers_of(reading, each.kind).rotary == each.rotary)) fail("a kind is not found");
  }
  check_line(to_string(reading));
}

void read(FuzzedDataProvider& input, const std::string& text) {
  std::optional<std::int64_t> rows;
  if (input.ConsumeBool()) rows = input.ConsumeIntegral<std::int64_t>();
  try {
    check_reading(read_rotary_config(text, rows));
  } catch (const InvalidArgument& error) {
    check_line(error.what());
  }
}

void fuzz_text(FuzzedDataProvider& input, Arena& /*arena*/) {
  const std::string text = input.ConsumeRandomLengthString();
  read(input, text);
}

void fuzz_objects(FuzzedDataProvider& input, Arena& /*arena*/) {
  static const std::vector<std::string> types = known_model_types();
  const std::string& type = one_of(input, types);
  std::string rest = object_of(input, 0).substr(1);
  if (rest != "}") rest = ", " + rest;
  read(input, R"({"model_type": ")" + type + "\"" + rest);
}

}  // namespace
}  // namespace posenc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace posenc::fuzz;
  return fuzz_one_of({fuzz_text, fuzz_objects}, data, size);
}
