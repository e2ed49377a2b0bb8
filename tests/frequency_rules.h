// Specs of every rule of frequencies, for tests that hold for each of them.
#pragma once

#include "posenc/spec.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace posenc::test {

struct SpecOfRule {
  std::string name;
  EncodingSpec spec;
};

/// The rules as real systems configure them, and frequencies that are hard: 0, negative ones, those
/// next to a half or a whole turn, and large ones. Attention factors are 1, as in any encoding.
inline std::vector<SpecOfRule> specs_of_every_rule() {
  LongRopeScaling longrope = {.attention_factor = 1};
  double factor = 1;
  for (int k = 0; k < 48; ++k, factor *= 1.093) longrope.factors.push_back(factor);
  OwnFrequencies powers_of_two;
  double frequency = 3.141592653589793;
  for (int k = 0; k < 10; ++k, frequency *= 2) powers_of_two.values.push_back(frequency);
  const OwnFrequencies hard = {{0, 3.1415926535, -3.1415926535, 6.28318530717958623,
                                -6.28318530717958623, -1e-3, 1.5707963268, -0.3, 0x1p-100, -0x1p32,
                                1e-30, 4294967295.75, 1e9 / 3}};
  const auto yarn = [](double scale, std::int64_t trained_rows) {
    return YarnScaling{.factor = scale, .trained_rows = trained_rows, .attention_factor = 1};
  };
  YarnScaling gpt_oss = yarn(32, 4096);
  gpt_oss.truncate = false;
  return {
      {"linear", {.d_model = 128, .frequencies = LinearScaling{4}}},
      {"linear_thousandths", {.d_model = 20, .frequencies = LinearScaling{0.001}}},
      {"linear_2_to_53", {.d_model = 20, .frequencies = LinearScaling{0x1p53}}},
      {"linear_2_to_64", {.d_model = 20, .base = 1e6, .frequencies = LinearScaling{0x1p64}}},
      {"ntk", {.d_model = 128, .frequencies = NtkScaling{8}}},
      {"ntk_of_two_channels", {.d_model = 2, .frequencies = NtkScaling{8}}},
      {"dynamic_ntk", {.d_model = 64, .frequencies = dynamic_ntk_scaling(2.5, 4096, 10000)}},
      {"yarn_qwen", {.d_model = 128, .base = 1e6, .frequencies = yarn(4, 32768)}},
      {"yarn_deepseek", {.d_model = 64, .frequencies = yarn(40, 4096)}},
      {"yarn_gpt_oss", {.d_model = 64, .base = 150000, .frequencies = gpt_oss}},
      {"yarn_in_one_step", {.d_model = 16, .base = 1e9, .frequencies = yarn(3, 6)}},
      {"llama3", {.d_model = 128, .base = 5e5, .frequencies = Llama3Scaling{}}},
      {"llama3_small", {.d_model = 64, .base = 5e5, .frequencies = Llama3Scaling{.factor = 32}}},
      {"longrope", {.d_model = 96, .frequencies = longrope}},
      {"powers_of_two", {.d_model = 20, .frequencies = powers_of_two}},
      {"hard", {.d_model = 26, .frequencies = hard}},
      {"proportional",
       {.d_model = 64, .base = 1e6, .frequencies = ProportionalScaling{.factor = 8, .turned = 8}}},
      {"turns",
       {.d_model = 22,
        .frequencies =
            TurnFrequencies{{1, 1, -1, 0, 7, -5, 1, 1, 3, max_position, max_position - 1},
                            {4, 12, 2, 1, 1, 3, 2, 360, 1024, 7, max_position}}}},
      {"powers_of_two_half_turns",
       {.d_model = 8, .frequencies = TurnFrequencies{{1, 2, 4, 8}, {2, 2, 2, 2}}}},
      {"base_turns_dinov3", {.d_model = 32, .base = 100, .frequencies = BaseTurns{1, 14}}},
      {"base_turns_ltx",
       {.d_model = 20, .spacing = Spacing::inclusive, .frequencies = BaseTurns{10000, 80}}},
      {"base_turns_large", {.d_model = 20, .frequencies = BaseTurns{max_position, 3}}},
  };
}

}  // namespace posenc::test
