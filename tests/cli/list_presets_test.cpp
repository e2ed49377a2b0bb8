// posenc list --presets: as a table and as JSON.
#include "command.h"

#include "posenc/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <sstream>
#include <string>

namespace posenc {
namespace {

using nlohmann::json;
using test::run_posenc;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// The line of the table that begins with `name`.
std::string line_of(const std::string& page, const std::string& name) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " ")) return line;
  }
  return "no line of " + name;
}

TEST(ListPresets, ShowsTheConventionOfEach) {
  const auto result = run_posenc({"list", "--presets"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const Preset& each : presets()) {
    const std::string line = line_of(result.out, std::string(each.name));
    EXPECT_THAT(line, HasSubstr(" " + std::string(to_string(each.spec.layout)) + " "));
    EXPECT_THAT(line, HasSubstr(" " + std::string(to_string(each.spec.spacing)) + " "));
    EXPECT_THAT(line, HasSubstr(" " + std::to_string(each.rows.count) + " x " +
                                std::to_string(each.spec.d_model)));
  }
  EXPECT_THAT(line_of(result.out, "llama_3"), MatchesRegex(".* paper +500000 +8192 x 128 +0"));
  EXPECT_THAT(line_of(result.out, "fairseq"), MatchesRegex(".* inclusive +10000 +1024 x 512 +2"));
  EXPECT_THAT(result.out, Not(HasSubstr("long_context")));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(ListPresets, JsonHasEveryPreset) {
  const auto result = run_posenc({"list", "--presets", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("version"), 1);
  ASSERT_EQ(document.at("presets").size(), presets().size());
  for (std::size_t i = 0; i < presets().size(); ++i) {
    const Preset& preset = presets()[i];
    const json& listed = document.at("presets").at(i);
    EXPECT_EQ(listed.at("name"), preset.name);
    EXPECT_EQ(listed.at("description"), preset.description);
    EXPECT_EQ(listed.at("spec").at("d_model"), preset.spec.d_model);
    EXPECT_EQ(listed.at("spec").at("base"), preset.spec.base);
    EXPECT_EQ(listed.at("spec").at("layout"), to_string(preset.spec.layout));
    EXPECT_EQ(listed.at("spec").at("spacing"), to_string(preset.spec.spacing));
    EXPECT_EQ(parse_frequency_rule(listed.at("spec").value("frequencies", "base")),
              preset.spec.frequencies);
    EXPECT_EQ(listed.at("rows").at("first"), preset.rows.first);
    EXPECT_EQ(listed.at("rows").at("count"), preset.rows.count);
  }
}

TEST(ListPresets, BenchmarkShapesAreNotPresets) {
  const auto result = run_posenc({"accuracy", "--preset", "chunk"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("preset is 'chunk'; allowed: tutorial, tensor2tensor"));
}

}  // namespace
}  // namespace posenc
