// posenc generate --config: the rotary cache of a model.
#include "command.h"
#include "posenc/matrix.h"
#include "posenc/model/rotary.h"

#include <fstream>
#include <string>

namespace posenc::test {

using namespace model;
namespace {

constexpr const char* qwen = R"({"model_type": "qwen2", "hidden_size": 64,
    "num_attention_heads": 4, "max_position_embeddings": 32, "rope_theta": 1e6,
    "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}})";
constexpr const char* gemma = R"({"model_type": "gemma3_text", "head_dim": 8})";

class GenerateConfig : public testing::Test {
 protected:
  std::string write(const char* text) {
    std::ofstream(folder_.path() / "config.json") << text;
    return (folder_.path() / "config.json").string();
  }
  std::string folder() const { return folder_.path().string(); }

 private:
  ScratchFolder folder_;
};

std::string cache_of(const Rotary& rotary, RowRange rows) {
  Matrix cache(rows.count, rotary.dimension());
  rotary.cache(rows, RotaryLayout::halves, cache.view());
  return bytes_of(cache);
}

TEST_F(GenerateConfig, WritesTheCacheWithTheAttentionFactor) {
  const std::string file = write(qwen);
  const Rotary rotary(16, 1e6, RotaryLayout::halves, YarnScaling{.factor = 4, .trained_rows = 32});
  const Arguments raw = words("generate --format raw");
  EXPECT_EQ(run_posenc(raw + Arguments{"--config", file, "--rows", "3", "--first", "7"}).out,
            cache_of(rotary, {7, 3}));
  // All rows of the model, by the folder.
  EXPECT_EQ(run_posenc(raw + Arguments{"--config", folder()}).out, cache_of(rotary, {0, 32}));
}

TEST_F(GenerateConfig, NamesWhatWasRead) {
  const CommandResult result =
      run_posenc({"generate", "--config", write(qwen), "--rows", "1", "--format", "safetensors"});
  EXPECT_THAT(result.out, HasSubstr("qwen2: dimension 16, base 1000000, rule yarn:"));
  EXPECT_THAT(result.out, HasSubstr(R"("rotary_cache":{"dtype":"F32","shape":[1,16])"));
}

TEST_F(GenerateConfig, LayersAreChosenByTheirKind) {
  const std::string file = write(gemma);
  const Arguments command = {"generate", "--config", file, "--rows", "2", "--format", "raw"};
  expect_refused(run_posenc(command),
                 "layers is not given; allowed for gemma3_text: "
                 "full_attention, sliding_attention");
  EXPECT_EQ(run_posenc(command + "--layers sliding_attention").out,
            cache_of(Rotary(8, 1e4), {0, 2}));
  EXPECT_EQ(run_posenc(command + "--layers full_attention").out, cache_of(Rotary(8, 1e6), {0, 2}));
  EXPECT_THAT(run_posenc({"generate", "--config", file, "--layers", "sliding_attention", "--rows",
                          "2", "--rotary", "interleaved", "--format", "csv"})
                  .out,
              StartsWith("1,0,1,0,1,0,1,0\n0.5403023,0.84147096,"));
}

TEST_F(GenerateConfig, IsRefusedInALine) {
  const std::string file = write(R"({"model_type": "spiral"})");
  expect_refused(run_posenc({"generate", "--config", file, "--rows", "1"}),
                 file + ": model_type is 'spiral'; allowed: one that docs/config-json.md lists");
  expect_refused(run_posenc({"generate", "--config", file + "x"}), "cannot read " + file + "x");
  expect_refused(run_posenc({"generate", "--config", ""}),
                 "--config is ''; allowed: at least one character");
  expect_refused(run_posenc({"generate", "--config", file, "--base", "7"}), "excludes");
  expect_refused(run_posenc({"generate", "--config", write(gemma), "--layers", "full_attention"}),
                 "--rows is not given, and the configuration has no max_position_embeddings");
}

}  // namespace
}  // namespace posenc::test
