// Golden tests: each preset against the formula that its system publishes, written as that system
// writes it, but in long double: a difference is then one of convention, not of rounding. The
// formulas use nothing of the library.
#include "posenc/presets.h"

#include "posenc/registry.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ostream>
#include <string>

namespace posenc::test {
namespace {

using Real = long double;

// PyTorch's tutorial and OpenNMT-py:
// div_term = exp(arange(0, d_model, 2) * (-log(10000.0) / d_model))
// pe[:, 0::2] = sin(position * div_term); pe[:, 1::2] = cos(position * div_term)
Real tutorial(Real position, int channel, int d_model) {
  const Real div_term = std::exp(Real(channel / 2 * 2) * (-std::log(Real{10000}) / d_model));
  return channel % 2 == 0 ? std::sin(position * div_term) : std::cos(position * div_term);
}

// tensor2tensor, TF's Model Garden, CTranslate2, Marian NMT and OpenAI's Whisper; and fairseq,
// Speech2Text and M2M-100, whose step is log(10000) / (half_dim - 1):
// num_timescales = channels // 2
// increment = log(max_timescale / min_timescale) / max(num_timescales - 1, 1)
// signal = concat([sin(scaled_time), cos(scaled_time)], axis=1)
Real tensor2tensor(Real position, int channel, int channels) {
  const int num_timescales = channels / 2;
  const Real increment = std::log(Real{1e4} / Real{1}) / std::max(num_timescales - 1, 1);
  const Real scaled_time = position * std::exp(Real(channel % num_timescales) * -increment);
  return channel < num_timescales ? std::sin(scaled_time) : std::cos(scaled_time);
}

// Hugging Face's Marian, RoFormer and XLM: position_enc[pos, j] = pos / power(10000, 2 * (j // 2) /
// dim)
Real huggingface_position_enc(Real position, int j, int dim) {
  return position / std::pow(Real{10000}, 2 * Real(j / 2) / dim);
}
// out[:, 0:sentinel] = sin(position_enc[:, 0::2]); out[:, sentinel:] = cos(position_enc[:, 1::2])
Real huggingface_halves(Real position, int channel, int dim) {
  const int sentinel = dim / 2;
  if (channel < sentinel) return std::sin(huggingface_position_enc(position, 2 * channel, dim));
  return std::cos(huggingface_position_enc(position, 2 * (channel - sentinel) + 1, dim));
}
// out[:, 0::2] = sin(position_enc[:, 0::2]); out[:, 1::2] = cos(position_enc[:, 1::2])
// The same in bert4keras's RoFormer: indices = pow(10000.0, -2 * arange(0, output_dim // 2) /
// output_dim)
Real xlm(Real position, int channel, int dim) {
  const Real angle = huggingface_position_enc(position, channel, dim);
  return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

// MusicGen: adim = arange(half_dim); phase = positions / (max_period ** (adim / (half_dim - 1)))
// cat([cos(phase), sin(phase)], dim=-1)
Real musicgen(Real position, int channel, int dim) {
  const int half_dim = dim / 2;
  const Real phase = position / std::pow(Real{10000}, Real(channel % half_dim) / (half_dim - 1));
  return channel < half_dim ? std::cos(phase) : std::sin(phase);
}

// MAE: omega = arange(embed_dim // 2) / (embed_dim / 2.); omega = 1. / 10000**omega
// concatenate([sin(out), cos(out)])
Real mae(Real position, int channel, int embed_dim) {
  const int half = embed_dim / 2;
  const Real omega = 1 / std::pow(Real{10000}, (channel % half) / (embed_dim / Real{2}));
  return channel < half ? std::sin(position * omega) : std::cos(position * omega);
}

// timescales = power(1 / max_wavelength, 2 * (arange(hidden_size) // 2) / hidden_size)
// cos_mask = arange(hidden_size) % 2; sin_mask = 1 - cos_mask
// positional_encodings = sin(angles) * sin_mask + cos(angles) * cos_mask
Real keras_hub(Real position, int channel, int hidden_size) {
  const Real timescale = std::pow(1 / Real{10000}, Real(2 * (channel / 2)) / hidden_size);
  const int cos_mask = channel % 2;
  return std::sin(position * timescale) * (1 - cos_mask) +
         std::cos(position * timescale) * cos_mask;
}

// diffusers; and DiT and ggml, which have no shift, and whose cosines come first:
// exponent = -log(max_period) * arange(half_dim) / (half_dim - downscale_freq_shift)
// cat([sin(emb), cos(emb)]); flip_sin_to_cos swaps the halves
Real timestep_embedding(Real timestep, int channel, int dim, bool flip_sin_to_cos,
                        int downscale_freq_shift) {
  const int half_dim = dim / 2;
  const Real exponent =
      -std::log(Real{10000}) * (channel % half_dim) / (half_dim - downscale_freq_shift);
  const Real emb = timestep * std::exp(exponent);
  return (channel < half_dim) != flip_sin_to_cos ? std::sin(emb) : std::cos(emb);
}
Real diffusers(Real timestep, int channel, int dim) {
  return timestep_embedding(timestep, channel, dim, false, 1);
}
Real stable_diffusion(Real timestep, int channel, int dim) {
  return timestep_embedding(timestep, channel, dim, true, 0);
}

// vLLM; Llama 3, which has the base 500000; and GPT-J, whose sines come first:
// inv_freq = 1.0 / (base ** (arange(0, rotary_dim, 2) / rotary_dim))
// cache = cat((freqs.cos(), freqs.sin()), dim=-1)
template <int base, bool cosines_first = true>
Real vllm(Real position, int channel, int rotary_dim) {
  const int half = rotary_dim / 2;
  const Real inv_freq = 1 / std::pow(Real{base}, Real(2 * (channel % half)) / rotary_dim);
  return (channel < half) == cosines_first ? std::cos(position * inv_freq)
                                           : std::sin(position * inv_freq);
}

// Llama 3.1: apply_scaling() of llama-models, then the same table.
Real llama_3_1(Real t, int channel, int dim) {
  const Real scale_factor = 8, low_freq_factor = 1, high_freq_factor = 4, old_context_len = 8192;
  const bool is_cosine = channel < dim / 2;
  const int even = 2 * channel - (is_cosine ? 0 : dim);
  Real freq = 1 / std::pow(Real{500000}, Real(even) / dim);
  const Real wavelen = 2 * std::numbers::pi_v<Real> / freq;
  if (wavelen > old_context_len / low_freq_factor) {
    freq /= scale_factor;
  } else if (wavelen >= old_context_len / high_freq_factor) {
    const Real smooth =
        (old_context_len / wavelen - low_freq_factor) / (high_freq_factor - low_freq_factor);
    freq = (1 - smooth) * freq / scale_factor + smooth * freq;
  }
  return is_cosine ? std::cos(t * freq) : std::sin(t * freq);
}

struct Golden {
  const char* preset;
  Real (*formula)(Real position, int channel, int d_model);
  std::int64_t first_position;  // first row of the system's table
  int d_model;                  // width of the system's usual model
  double base = 10000;
  std::int64_t rows = 0;  // that the system publishes, if it does

  friend std::ostream& operator<<(std::ostream& out, const Golden& golden) {
    return out << golden.preset;
  }
};

constexpr Golden goldens[] = {
    {"tutorial", tutorial, 0, 512, 10000, 5000},
    {"tensor2tensor", tensor2tensor, 0, 512},
    {"model_garden", tensor2tensor, 0, 512},
    {"fairseq", tensor2tensor, 2, 512},  // padding_idx 1, first position padding_idx + 1
    {"opennmt", tutorial, 0, 512},
    {"speech2text", tensor2tensor, 2, 256},            // offset 2
    {"m2m_100", tensor2tensor, 2, 1024, 10000, 1024},  // offset 2
    {"marian", tensor2tensor, 0, 512},
    {"hf_marian", huggingface_halves, 0, 512},
    {"xlm", xlm, 0, 2048},
    {"whisper", tensor2tensor, 0, 1280, 10000, 1500},
    {"musicgen", musicgen, 0, 1024},
    {"mae", mae, 0, 512},
    {"keras_hub", keras_hub, 0, 768},
    {"diffusers", diffusers, 0, 320},
    {"stable_diffusion", stable_diffusion, 0, 320},
    {"dit", stable_diffusion, 0, 256, 10000, 1000},
    {"ggml", stable_diffusion, 0, 320},
    {"ctranslate2", tensor2tensor, 1, 512},  // positions from 1
    {"roformer", xlm, 0, 64},
    {"hf_roformer", huggingface_halves, 0, 64},
    {"gpt_j", vllm<10000, false>, 0, 64},
    {"llama_3", vllm<500000>, 0, 128, 500000, 8192},
    {"llama_3_1", llama_3_1, 0, 128, 500000, 131072},
    {"vllm", vllm<10000>, 0, 128},
};

class PresetGolden : public testing::TestWithParam<Golden> {};

TEST_P(PresetGolden, MatchesItsSystemsFormula) {
  const auto& [name, formula, first_position, d_model, base, rows] = GetParam();
  const Preset& preset = posenc::preset(name);
  EXPECT_EQ(preset.rows.first, first_position);
  ASSERT_EQ(preset.spec.d_model, d_model);
  EXPECT_EQ(preset.spec.base, base);
  EXPECT_TRUE(rows == 0 || preset.rows.count == rows);

  const auto encoder = backend("naive").plan(preset.spec);
  const std::int64_t last = preset.rows.first + preset.rows.count - 1;
  for (const std::int64_t position :
       {first_position, first_position + 1, first_position + 7, last / 2, last}) {
    const Matrix row = encoded(*encoder, {position, 1});
    for (int channel = 0; channel < d_model; ++channel) {
      // Half a float32 ulp of 1, with a margin for the double phases of naive. A wrong convention
      // gives an error that is larger by orders of magnitude.
      ASSERT_NEAR(row(0, channel), static_cast<double>(formula(position, channel, d_model)),
                  2.99e-8)
          << "position " << position << ", channel " << channel;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PresetGolden, testing::ValuesIn(goldens),
                         [](const auto& golden) { return std::string(golden.param.preset); });

TEST(Preset, EachHasAFormulaAndIsFoundByItsNameAndUnknownNamesAreRefused) {
  for (const Preset& each : presets()) {
    EXPECT_FALSE(each.name.empty());
    EXPECT_EQ(std::ranges::count(goldens, each.name, &Golden::preset), 1) << each.name;
    EXPECT_NO_THROW(validate(each.spec)) << each.name;
    EXPECT_NO_THROW(validate(each.rows)) << each.name;
    EXPECT_GT(each.rows.count, 0) << each.name;
    EXPECT_EQ(&preset(each.name), &each);
    EXPECT_FALSE(each.description.empty()) << each.name;
  }
  EXPECT_THAT(refusal([] { preset("wisper"); }),
              AllOf(HasSubstr("preset is 'wisper'"), HasSubstr("whisper")));
}

}  // namespace
}  // namespace posenc::test
