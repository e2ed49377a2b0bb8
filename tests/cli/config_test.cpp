// posenc generate --config: the rotary cache of a model.
#include "command.h"
#include "posenc/matrix.h"
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"

#include <string>
#include <utility>

namespace posenc::test {

using namespace model;
namespace {

constexpr const char* qwen = R"({"model_type": "qwen2", "hidden_size": 64,
    "num_attention_heads": 4, "max_position_embeddings": 32, "rope_theta": 1e6,
    "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}})";
constexpr const char* gemma = R"({"model_type": "gemma3_text", "head_dim": 8})";

class GenerateConfig : public testing::Test {
 protected:
  /// Writes the configuration, and runs the command on its file.
  CommandResult generated(const char* config, const std::string& options) {
    write_file(file, config);
    return run_line("generate --config " + file + " " + options);
  }
  void expect_cache(const Rotary& rotary, RowRange rows, const char* config,
                    const std::string& options) {
    Matrix cache(rows.count, rotary.dimension());
    rotary.cache(rows, RotaryLayout::halves, cache.view());
    EXPECT_EQ(generated(config, "--format raw " + options).out, bytes_of(cache));
  }

  ScratchFolder folder;
  const std::string file = folder / "config.json";
};

TEST_F(GenerateConfig, WritesTheCacheWithTheAttentionFactor) {
  const Rotary rotary(16, 1e6, RotaryLayout::halves, YarnScaling{.factor = 4, .trained_rows = 32});
  expect_cache(rotary, {7, 3}, qwen, "--rows 3 --first 7");
  expect_cache(rotary, {0, 32}, qwen, "");
  EXPECT_EQ(run_line("generate --format raw --config " + folder.path().string()).out,
            generated(qwen, "--format raw").out);
  EXPECT_THAT(generated(qwen, "--rows 1 --format safetensors").out,
              AllOf(HasSubstr("qwen2: dimension 16, base 1000000, rule yarn:"),
                    HasSubstr(R"("rotary_cache":{"dtype":"F32","shape":[1,16])")));
}

TEST_F(GenerateConfig, LayersAreChosenByTheirKind) {
  expect_refused(generated(gemma, "--rows 2"),
                 "layers is not given; allowed for gemma3_text: "
                 "full_attention, sliding_attention");
  expect_cache(Rotary(8, 1e4), {0, 2}, gemma, "--rows 2 --layers sliding_attention");
  expect_cache(Rotary(8, 1e6), {0, 2}, gemma, "--rows 2 --layers full_attention");
  EXPECT_THAT(generated(gemma, "--rows 2 --layers full_attention --rotary interleaved").out,
              StartsWith("1,0,1,0,1,0,1,0\n0.5403023,0.84147096,"));
}

TEST_F(GenerateConfig, IsRefusedInALine) {
  expect_refused(generated(R"({"model_type": "spiral"})", "--rows 1"),
                 file + ": model_type is 'spiral'; allowed: one that posenc list --models names");
  expect_refused(run_line("generate --config " + file + "x"), "cannot read " + file + "x");
  expect_refused(generated(gemma, "--layers full_attention"),
                 "--rows is not given, and the configuration has no max_position_embeddings");
}

TEST_F(GenerateConfig, TypesComeFromAFile) {
  const std::string types = folder / "types.json", options = "--rows 3 --types " + types;
  write_file(types, R"({"models": [{"types": ["mine"], "head": "given", "base_keys": ["my_base"],
      "is_interleaved": true}]})");
  const char* const mine = R"({"model_type": "mine", "head_dim": 8, "my_base": 1e6})";
  expect_cache(Rotary(8, 1e6, RotaryLayout::interleaved), {0, 3}, mine, options);
  expect_refused(generated(mine, "--rows 3"),
                 "model_type is 'mine'; allowed: one that posenc list");
  for (const auto& [bad, named] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"models": [{"types": ["x"], "hed": "given"}]})",
            "types: models[0].hed is 'given'; allowed: none, since it is not read"},
           {R"({"models": [{"head": "given"}]})", "has no models[0].types, which is needed"},
           {R"({"models": [{"types": ["x"], "head": "half"}]})",
            "models[0].head is 'half'; allowed: quotient, given, either, latent"},
           {R"({"models": [{"types": ["x"], "rules": "mine"}]})",
            "models[0].rules is 'mine'; allowed: an object of rules and readers, or a set: "},
           {R"({"models": [{"types": ["x"], "rules": {"linear": "lin"}}]})",
            "models[0].rules.linear is 'lin'; allowed: none, alpha, "},
           {R"({"models": [{"types": ["x"], "dependent": "a"}]})",
            "has no models[0].dependent_on, which is needed"},
           {"[]", "types: the configuration is []; allowed: an object"}}) {
    write_file(types, bad);
    expect_refused(generated(mine, options), named);
  }
}

TEST_F(GenerateConfig, TheLengthDecidesARule) {
  const char* const dynamic = R"({"model_type": "llama", "hidden_size": 16,
      "num_attention_heads": 2, "max_position_embeddings": 32,
      "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}})";
  expect_cache(Rotary(read_rotary_config(dynamic, 64).layers[0].rotary), {0, 3}, dynamic,
               "--rows 3 --length 64");
  EXPECT_THAT(generated(dynamic, "--rows 1 --length 64 --format safetensors").out,
              HasSubstr("rule ntk:factor=3"));
}

}  // namespace
}  // namespace posenc::test
