// What read_rotary_config() makes of configurations, and what it refuses. The readings of every
// model type are compared with their formulas in tests/python/rotary_families_test.py.
#include "posenc/model/rotary_config.h"
#include "posenc/error.h"
#include "posenc/model/rotary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace posenc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

/// A Llama, with these keys as JSON after its own.
std::string llama(const std::string& keys = "") {
  return R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, )"
         R"("max_position_embeddings": 4096)" +
         (keys.empty() ? "" : ", " + keys) + "}";
}

std::string message_of(const std::string& text, const RotaryConfigOptions& options = {}) {
  try {
    read_rotary_config(text, options);
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "accepted";
}

const RotarySpec& only(const RotaryReading& reading) { return layers_of(reading, "").rotary; }

/// The axis of each pair of a row.
std::vector<std::int64_t> axes_of_pairs(const AxesSpec& angles) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(angles.d_model() / 2), -1);
  for (const AxisPairs& part : angles.parts) {
    for (std::size_t i = 0; i < part.pairs.size(); ++i) {
      EXPECT_EQ(part.pairs[i], part.frequencies[i]);  // one run of frequencies through all axes
      axes[static_cast<std::size_t>(part.pairs[i])] = part.axis;
    }
  }
  return axes;
}

TEST(RotaryConfig, IsAPlainSpec) {
  const RotaryReading reading = read_rotary_config(llama(R"("rope_theta": 5e5)"));
  EXPECT_EQ(reading.model_type, "llama");
  EXPECT_EQ(reading.most_rows, 4096);
  EXPECT_THAT(reading.unturned, IsEmpty());
  EXPECT_THAT(reading.warnings, IsEmpty());
  ASSERT_THAT(reading.layers, SizeIs(1));
  EXPECT_EQ(reading.layers[0].kind, "");
  const RotarySpec expected = {.angles = one_axis({.d_model = 128, .base = 5e5})};
  EXPECT_EQ(reading.layers[0].rotary, expected);
  EXPECT_EQ(to_string(reading), "llama: dimension 128, base 500000, rule base, channels halves");
}

TEST(RotaryConfig, KeepsTheAttentionFactorApartFromTheRule) {
  const RotarySpec spec = only(read_rotary_config(
      llama(R"("rope_scaling": {"rope_type": "yarn", "factor": 4, "attention_factor": 1.5})")));
  EXPECT_EQ(spec.attention_factor, 1.5);
  EXPECT_EQ(attention_factor(spec.angles.parts.at(0).spec.frequencies), 1);
  EXPECT_EQ(Rotary(spec).attention_factor(), 1.5);
}

TEST(RotaryConfig, ChannelsCanBeGiven) {
  const RotaryConfigOptions options = {.rows = {}, .channels = RotaryLayout::interleaved};
  EXPECT_EQ(only(read_rotary_config(llama(), options)).channels, RotaryLayout::interleaved);
}

TEST(RotaryConfig, LongRopeDependsOnTheRows) {
  const std::string text = R"({"model_type": "minicpm", "hidden_size": 4, "num_attention_heads": 1,
      "max_position_embeddings": 8192, "rope_scaling": {"type": "longrope", "factor": 4,
      "short_factor": [1, 2], "long_factor": [3, 4], "original_max_position_embeddings": 2048}})";
  const auto factors = [&](std::optional<std::int64_t> rows) {
    const RotarySpec spec = only(read_rotary_config(text, {.rows = rows, .channels = {}}));
    return std::get<LongRopeScaling>(spec.angles.parts.at(0).spec.frequencies).factors;
  };
  EXPECT_THAT(factors({}), ElementsAre(3, 4));
  EXPECT_THAT(factors(2049), ElementsAre(3, 4));
  EXPECT_THAT(factors(2048), ElementsAre(1, 2));
}

TEST(RotaryConfig, PairsOfSectionsHaveTheirAxes) {
  const auto read = [](const std::string& type, const std::string& rule) {
    return only(read_rotary_config(R"({"model_type": ")" + type +
                                   R"(", "hidden_size": 32, "num_attention_heads": 2,
                                   "head_dim": 16, "rope_theta": 1e4, "rope_scaling": )" +
                                   rule + "}"))
        .angles;
  };
  EXPECT_THAT(axes_of_pairs(read("qwen2_vl_text", R"({"mrope_section": [2, 3, 3]})")),
              ElementsAre(0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_THAT(axes_of_pairs(read("qwen3_vl_text", R"({"mrope_section": [4, 2, 2]})")),
              ElementsAre(0, 1, 2, 0, 1, 2, 0, 0));
  // Height, width, time.
  EXPECT_THAT(axes_of_pairs(read("ernie4_5_vl_moe_text", R"({"mrope_section": [2, 2, 4]})")),
              ElementsAre(1, 2, 1, 2, 0, 0, 0, 0));
  EXPECT_THAT(
      axes_of_pairs(read("hunyuan_vl_text",
                         R"({"type": "xdrope", "alpha": 9, "xdrope_section": [2, 2, 2, 2]})")),
      ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST(RotaryConfig, KindsOfLayersAreChosenByName) {
  const RotaryReading reading = read_rotary_config(R"({"model_type": "gemma3_text"})");
  EXPECT_EQ(layers_of(reading, "full_attention").rotary.angles.parts.at(0).spec.base, 1e6);
  EXPECT_EQ(layers_of(reading, "sliding_attention").rotary.angles.parts.at(0).spec.base, 1e4);
  for (const std::string kind : {"", "global"}) {
    try {
      layers_of(reading, kind);
      ADD_FAILURE() << kind;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr("gemma3_text: full_attention, sliding_attention"));
    }
  }
}

TEST(RotaryConfig, GemmaFourTurnsSomePairsOfALongerHead) {
  const RotaryReading reading = read_rotary_config(R"({"model_type": "gemma4_text"})");
  const EncodingSpec& spec = layers_of(reading, "full_attention").rotary.angles.parts.at(0).spec;
  EXPECT_EQ(spec.d_model, 512);
  EXPECT_EQ(spec.frequencies, FrequencyRule(ProportionalScaling{.factor = 1, .turned = 64}));
}

TEST(RotaryConfig, KnownTypesAreInOrder) {
  const std::vector<std::string> known = known_model_types();
  EXPECT_GT(known.size(), 140u);
  EXPECT_EQ(std::set<std::string>(known.begin(), known.end()).size(), known.size());
  EXPECT_TRUE(std::is_sorted(known.begin(), known.end()));
}

TEST(RotaryConfig, UnknownTypesNameTheNearestOnes) {
  EXPECT_EQ(message_of(R"({"model_type": "qwen25"})"),
            "model_type is 'qwen25'; allowed: one that docs/config-json.md lists, such as qwen2, "
            "qwen2_vl, qwen");
  EXPECT_THAT(message_of(R"({"model_type": ")" + std::string(5000, 'x') + "\"}"),
              HasSubstr("lists, such as "));
  for (const std::string& each : known_model_types())  // found with a letter more
    EXPECT_THAT(message_of(R"({"model_type": ")" + each + R"(x"})"), HasSubstr("such as " + each));
}

TEST(RotaryConfig, TypesWithoutARotaryEmbeddingSayWhy) {
  EXPECT_EQ(message_of(R"({"model_type": "bert"})"),
            "model_type is 'bert'; allowed: none; its positions are learned");
  EXPECT_THAT(message_of(R"({"model_type": "llava", "text_config": {"model_type": "mpt"}})"),
              StartsWith("text_config.model_type is 'mpt'; allowed: none; it has ALiBi"));
  RotaryConfigOptions options;
  options.strict = false;
  EXPECT_THROW(read_rotary_config(R"({"model_type": "bert"})", options), InvalidArgument);
}

TEST(RotaryConfig, TextThatIsNoConfigurationIsRefused) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "the configuration is not JSON near byte 1"},
           {"{", "the configuration is not JSON near byte 2"},
           {"7", "the configuration is 7; allowed: an object"},
           {"NaN", "the configuration is 'NaN'; allowed: an object"},
           {"{\"a\xff\": 1}", "the configuration is not JSON near byte"},
           {R"({"a": 1, "a": 2})", "a is given twice; allowed: once"},
           {R"({"a\n\u001b": 1, "a\n\u001b": 2})", R"(a\n\x1b is given twice; allowed: once)"},
           {std::string(100, '['), "the configuration is nested 65 deep; allowed: at most 64"},
           {"[" + std::string(100, '{'), "the configuration is not JSON near byte"},
           {R"({"model_type": "\u001b[31m"})", R"(model_type is '\u001b[31m'; allowed)"},
       }) {
    EXPECT_THAT(message_of(text), StartsWith(message)) << text;
  }
}

TEST(RotaryConfig, NumbersThatJsonDoesNotHaveMatterWhereTheyAreRead) {
  EXPECT_EQ(message_of(llama(R"("limit": [0, Infinity, -Infinity, NaN, 1e999, "NaN, \"1e999"])")),
            "accepted");
  for (const std::string number : {"NaN", "Infinity", "-Infinity", "1e999", "-1e999"}) {
    EXPECT_EQ(message_of(llama("\"rope_theta\": " + number)),
              "rope_theta is '" + number + "'; allowed: a finite number above 1");
  }
  EXPECT_EQ(message_of(llama("\"head_dim\": 1" + std::string(400, '0'))),
            "head_dim is '1" + std::string(27, '0') + "..." + std::string(28, '0') +
                "'; allowed: an integer from 1 to 9007199254740992");
}

TEST(RotaryConfig, EveryRopeLikeKeyThatIsNotReadIsNamed) {
  for (const auto& [keys, message] : std::vector<std::pair<std::string, std::string>>{
           {R"("rope_style": "new")", "rope_style is 'new'; allowed: none, since it is not read"},
           {R"("rotary_pct": 0.5)", "rotary_pct is 0.5; allowed: 1"},
           {R"("no_rope_layers": [1, 0])", "no_rope_layers is [1,0]; allowed: [1]"},
           {R"("a": {"b": [{"NoPE": 1}]})", "a.b[0].NoPE is 1; allowed: none"},
           {R"("rope_scaling": {"type": "linear", "factor": 2, "shape": 1})",
            "rope_scaling.shape is 1; allowed: none, since it is not read"},
           {R"("rope_parameters": {"full_attention": {}})",
            "rope_parameters is {\"full_attention\":{}}; allowed: one rule"},
       }) {
    EXPECT_THAT(message_of(llama(keys)), StartsWith(message)) << keys;
  }
  EXPECT_EQ(message_of(llama(R"("rotary_pct": 1.0, "no_rope_layers": [1, 1], "rope_ratio": null,
                                "label2id": {"POSITION": 0})")),
            "accepted");
}

TEST(RotaryConfig, WhatIsNotKnownIsAWarningIfNotStrict) {
  const RotaryConfigOptions options = {.rows = {}, .channels = {}, .strict = false};
  const RotaryReading reading =
      read_rotary_config(llama(R"("rope_style": "new", "a": {"b": [{"NoPE": 1}]},
               "rope_scaling": {"type": "helix", "turns": 2})"),
                         options);
  EXPECT_EQ(only(reading), only(read_rotary_config(llama())));
  EXPECT_THAT(reading.warnings,
              ElementsAre("rope_type is 'helix'; read as none", "rope_scaling.turns is 2; not read",
                          "a.b[0].NoPE is 1; not read", "rope_style is 'new'; not read"));
  EXPECT_THAT(message_of(llama(R"("head_dim": 0)"), options), StartsWith("head_dim is 0;"));
  EXPECT_THAT(message_of(R"({"model_type": "spiral"})", options),
              StartsWith("the configuration has no hidden_size"));
}

TEST(RotaryConfig, NumbersAreRefusedByName) {
  for (const auto& [keys, message] : std::vector<std::pair<std::string, std::string>>{
           {R"("num_attention_heads": 0)", "num_attention_heads is given twice"},
           {R"("head_dim": 0)", "head_dim is 0; allowed: an integer from 1"},
           {R"("head_dim": true)", "head_dim is true; allowed: an integer from 1"},
           {R"("head_dim": "64")", "head_dim is '64'; allowed: an integer from 1"},
           {R"("head_dim": 64.0)", "head_dim is 64.0; allowed: an integer from 1"},
           {R"("head_dim": 63)", "the dimension, from head_dim, is 63; allowed: even, 2 to"},
           {R"("head_dim": 2097152)", "the dimension, from head_dim, is 2097152; allowed: even"},
           {R"("rope_theta": false)", "rope_theta is false; allowed: a finite number above 1"},
           {R"("rope_theta": 1)", "rope_theta is 1; allowed: a finite number above 1"},
           {R"("rope_scaling": [])", "rope_scaling is []; allowed: an object"},
           {R"("rope_scaling": {"type": "yarn", "factor": -2})", "rope_scaling.factor is -2;"},
           {R"("rope_scaling": {"type": "yarn"})", "the configuration has no rope_scaling.factor"},
       }) {
    EXPECT_THAT(message_of(llama(keys)), StartsWith(message)) << keys;
  }
  EXPECT_THAT(message_of(llama(), {.rows = 0, .channels = {}}), StartsWith("rows is 0; allowed"));
}

TEST(RotaryConfig, AnotherModelsPartsHaveRotaryEmbeddingsOfTheirOwn) {
  const std::string parts = R"("vision_config": {"rope_theta": 7}, "audio_config": {"nope": 1})";
  const std::string text =
      R"({"model_type": "llava", )" + parts + R"(, "text_config": )" + llama(parts) + "}";
  EXPECT_EQ(message_of(text), "accepted");
  EXPECT_EQ(message_of(llama(parts)),
            "audio_config.nope is 1; allowed: none, since it is not read");
}

}  // namespace
}  // namespace posenc
