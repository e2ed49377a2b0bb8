#include "posenc/spec.h"

#include "posenc/support/format.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace posenc {
namespace {

constexpr Layout interleaved = Layout::interleaved;
constexpr Layout halves = Layout::halves;
constexpr Layout halves_cos_first = Layout::halves_cos_first;
constexpr Spacing paper = Spacing::paper;
constexpr Spacing inclusive = Spacing::inclusive;

constexpr std::array all_presets = std::to_array<Preset>({
    {"tutorial",
     "PyTorch's Transformer tutorial, the Annotated Transformer",
     {512, 1e4, interleaved, paper},
     {0, 5000}},
    {"tensor2tensor", "tensor2tensor, get_timing_signal_1d", {512, 1e4, halves, inclusive}, {0, 256}},
    {"model_garden", "TF Model Garden, RelativePositionEmbedding", {512, 1e4, halves, inclusive}, {0, 512}},
    {"fairseq", "fairseq: padding_idx 1, so that positions start at 2", {512, 1e4, halves, inclusive}, {2, 1024}},
    {"speech2text", "Hugging Face Speech2Text: offset 2", {256, 1e4, halves, inclusive}, {2, 6000}},
    {"m2m_100", "Hugging Face M2M-100: offset 2", {1024, 1e4, halves, inclusive}, {2, 1024}},
    {"marian", "Hugging Face Marian", {512, 1e4, halves, paper}, {0, 512}},
    {"xlm", "Hugging Face XLM", {2048, 1e4, interleaved, paper}, {0, 512}},
    {"whisper", "OpenAI Whisper large, encoder", {1280, 1e4, halves, inclusive}, {0, 1500}},
    {"keras_hub", "KerasHub, SinePositionEncoding", {768, 1e4, interleaved, paper}, {0, 512}},
    {"diffusers", "diffusers, get_timestep_embedding by default (shift 1)", {320, 1e4, halves, inclusive}, {0, 1000}},
    {"stable_diffusion",
     "diffusers, as its UNets call it (flipped, shift 0)",
     {320, 1e4, halves_cos_first, paper},
     {0, 1000}},
    {"ggml", "ggml, timestep embedding", {320, 1e4, halves_cos_first, paper}, {0, 1000}},
    {"ctranslate2", "CTranslate2: positions from 1", {512, 1e4, halves, inclusive}, {1, 500}},
    {"vllm", "vLLM, rotary cache of one head", {128, 1e4, halves_cos_first, paper}, {0, 4096}},
    {"chunk", "a chunk of a stream", {512, 1e4, interleaved, paper}, {0, 8}},
    {"long_context", "a long context", {128, 1e4, interleaved, paper}, {0, 131072}},
    {"wide", "a wide model", {4096, 1e4, interleaved, paper}, {0, 8192}},
});

constexpr std::array layout_names = std::to_array<std::string_view>({"interleaved", "halves", "halves_cos_first"});
constexpr std::array spacing_names = std::to_array<std::string_view>({"paper", "inclusive"});

template <class Enum>
Enum parse(std::string_view argument, std::string_view name, std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw InvalidArgument(
      format_text("{} is '{}'; allowed: {}", argument, name, join(names, ", ")));
}

}  // namespace

void validate(const EncodingSpec& spec) {
  if (spec.d_model < 2 || spec.d_model > max_d_model || spec.d_model % 2 != 0) {
    throw InvalidArgument(format_text("d_model is {}; allowed: even, 2 to {}", spec.d_model, max_d_model));
  }
  if (!std::isfinite(spec.base) || !(spec.base > 1)) {
    throw InvalidArgument(format_text("base is {}; allowed: finite and greater than 1", spec.base));
  }
  const auto known = [](auto value, std::size_t count) { return static_cast<std::size_t>(value) < count; };
  if (!known(spec.layout, layout_names.size())) {
    throw InvalidArgument(
        format_text("layout is {}; allowed: 0 to {}", static_cast<int>(spec.layout), layout_names.size() - 1));
  }
  if (!known(spec.spacing, spacing_names.size())) {
    throw InvalidArgument(
        format_text("spacing is {}; allowed: 0 to {}", static_cast<int>(spec.spacing), spacing_names.size() - 1));
  }
}

void validate(RowRange rows) {
  if (rows.first < 0 || rows.first > max_position) {
    throw InvalidArgument(format_text("first position is {}; allowed: 0 to {}", rows.first, max_position));
  }
  if (rows.count < 0 || rows.count > max_position - rows.first + 1) {
    throw InvalidArgument(format_text("row count is {}; allowed from position {}: 0 to {}", rows.count, rows.first,
                                      max_position - rows.first + 1));
  }
}

std::int64_t table_bytes(const EncodingSpec& spec, std::int64_t count, std::int64_t element_bytes) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(spec.d_model, element_bytes, &bytes) || __builtin_mul_overflow(bytes, count, &bytes)) {
    throw InvalidArgument(format_text("row count is {}; at d_model {} a table may have at most {} rows", count,
                                      spec.d_model, INT64_MAX / element_bytes / spec.d_model));
  }
  return bytes;
}

std::span<const Preset> presets() noexcept { return all_presets; }

const Preset& preset(std::string_view name) {
  std::array<std::string_view, all_presets.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = all_presets[i].name;
    if (names[i] == name) return all_presets[i];
  }
  throw InvalidArgument(format_text("preset is '{}'; allowed: {}", name, join(names, ", ")));
}

std::string_view to_string(Layout layout) noexcept { return layout_names[static_cast<std::size_t>(layout)]; }
std::string_view to_string(Spacing spacing) noexcept { return spacing_names[static_cast<std::size_t>(spacing)]; }
Layout parse_layout(std::string_view name) { return parse<Layout>("layout", name, layout_names); }
Spacing parse_spacing(std::string_view name) { return parse<Spacing>("spacing", name, spacing_names); }

}  // namespace posenc
