// What read_rotary_config() makes of configurations. tests/python/rotary_config_test.py has those
// of every model type, and what is refused.
#include "posenc/model/rotary_config.h"
#include "posenc/model/rotary.h"
#include "support.h"

#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

/// A Llama, with these keys as JSON after its own.
std::string llama(const std::string& keys = "") {
  return R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, )"
         R"("max_position_embeddings": 4096)" +
         (keys.empty() ? "" : ", " + keys) + "}";
}

std::string message_of(const std::string& text) {
  const std::string message = refusal([&] { read_rotary_config(text); });
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  return message;
}

TEST(RotaryConfig, IsAPlainSpec) {
  const RotaryReading reading = read_rotary_config(llama(R"("rope_theta": 5e5)"));
  EXPECT_EQ(reading.model_type, "llama");
  EXPECT_EQ(reading.most_rows, 4096);
  EXPECT_THAT(reading.unturned, IsEmpty());
  ASSERT_THAT(reading.layers, SizeIs(1));
  EXPECT_EQ(reading.layers[0].kind, "");
  const RotarySpec expected = {.angles = one_axis({.d_model = 128, .base = 5e5})};
  EXPECT_EQ(reading.layers[0].rotary, expected);
  EXPECT_EQ(to_string(reading), "llama: dimension 128, base 500000, rule base, channels halves");
}

TEST(RotaryConfig, TextThatIsNoConfigurationIsRefused) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "the configuration is not JSON near byte 1"},
           {R"({"a":+1})", "the configuration is not JSON near byte 6"},
           {R"({"a":01})", "the configuration is not JSON near byte 7"},
           {R"({"a":1.})", "the configuration is not JSON near byte 8"},
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
  EXPECT_EQ(message_of(llama(R"("limit": [0, Infinity, -Infinity, NaN, "NaN, \\\"NaN\\"])")),
            nothing_thrown);
  for (const std::string number : {"NaN", "Infinity", "-Infinity"}) {
    EXPECT_EQ(message_of(llama("\"rope_theta\": " + number)),
              "rope_theta is '" + number + "'; allowed: a finite number above 1");
  }
  for (const std::string& number : {std::string("1e999"), std::string(400, '9')}) {
    EXPECT_EQ(message_of(llama("\"limit\": " + number)),
              "a number of the configuration is beyond double; allowed: up to 1.8e308");
  }
}

TEST(RotaryConfig, AnotherModelsPartsHaveRotaryEmbeddingsOfTheirOwn) {
  const std::string parts = R"("vision_config": {"rope_theta": 7}, "audio_config": {"nope": 1})";
  const std::string text =
      R"({"model_type": "llava", )" + parts + R"(, "text_config": )" + llama(parts) + "}";
  EXPECT_EQ(message_of(text), nothing_thrown);
  EXPECT_EQ(message_of(llama(parts)), nothing_thrown);
}

}  // namespace
}  // namespace posenc::test
