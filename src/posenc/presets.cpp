#include "posenc/presets.h"

#include "posenc/support/format.h"

#include <vector>

namespace posenc {
namespace {

using enum Layout;
using enum Spacing;

/// The list is built by the compiler, and its destructor does nothing, so that it is valid at any
/// time.
/// tests/presets_test.cpp compares each preset with the formula of its system.
union Kept {
  Preset all[25] = {
      // Tables that are added to embeddings.
      {"tutorial", "PyTorch's tutorial", {512, 1e4, interleaved, paper}, {0, 5000}},
      {"tensor2tensor", "tensor2tensor", {512, 1e4, halves, inclusive}, {0, 256}},
      {"model_garden", "TF Model Garden", {512, 1e4, halves, inclusive}, {0, 512}},
      {"fairseq", "fairseq: padding_idx 1", {512, 1e4, halves, inclusive}, {2, 1024}},
      {"opennmt", "OpenNMT-py, PositionalEncoding", {512, 1e4, interleaved, paper}, {0, 5000}},
      {"speech2text", "Hugging Face Speech2Text", {256, 1e4, halves, inclusive}, {2, 6000}},
      {"m2m_100", "Hugging Face M2M-100", {1024, 1e4, halves, inclusive}, {2, 1024}},
      {"marian", "Marian NMT", {512, 1e4, halves, inclusive}, {0, 512}},
      {"hf_marian", "Hugging Face Marian", {512, 1e4, halves, paper}, {0, 512}},
      {"xlm", "Hugging Face XLM", {2048, 1e4, interleaved, paper}, {0, 512}},
      {"whisper", "OpenAI Whisper large, encoder", {1280, 1e4, halves, inclusive}, {0, 1500}},
      {"musicgen", "MusicGen small", {1024, 1e4, halves_cos_first, inclusive}, {0, 2048}},
      {"mae", "MAE ViT-L/16, one grid axis", {512, 1e4, halves, paper}, {0, 14}},
      {"keras_hub", "KerasHub, SinePositionEncoding", {768, 1e4, interleaved, paper}, {0, 512}},
      {"ctranslate2", "CTranslate2", {512, 1e4, halves, inclusive}, {1, 500}},
      // Timesteps of diffusion models.
      {"diffusers", "diffusers' default: shift 1", {320, 1e4, halves, inclusive}, {0, 1000}},
      {"stable_diffusion", "diffusers' UNets", {320, 1e4, halves_cos_first, paper}, {0, 1000}},
      {"dit", "DiT, timestep embedding", {256, 1e4, halves_cos_first, paper}, {0, 1000}},
      {"ggml", "ggml, timestep embedding", {320, 1e4, halves_cos_first, paper}, {0, 1000}},
      // Caches of rotary embeddings for one head.
      {"roformer", "RoFormer, rotary", {64, 1e4, interleaved, paper}, {0, 512}},
      {"hf_roformer", "Hugging Face RoFormer, rotary", {64, 1e4, halves, paper}, {0, 1536}},
      {"gpt_j", "GPT-J, rotary: turns channels 2k and 2k + 1", {64, 1e4, halves, paper}, {0, 2048}},
      {"llama_3", "Llama 3, rotary", {128, 5e5, halves_cos_first, paper}, {0, 8192}},
      {"llama_3_1",
       "Llama 3.1, rotary",
       {128, 5e5, halves_cos_first, paper, Llama3Scaling{}},
       {0, 131072}},
      {"vllm", "vLLM, rotary", {128, 1e4, halves_cos_first, paper}, {0, 4096}},
  };
  ~Kept() {}
};
#ifdef __clang__
[[clang::no_destroy]]
#endif
constinit const Kept kept;

}  // namespace

std::span<const Preset> presets() noexcept { return kept.all; }

const Preset& preset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset& each : presets()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw_invalid("preset is '{}'; allowed: {}", name, join(names, ", "));
}

}  // namespace posenc
