// posenc list: backends and the selection, and with --presets the conventions.
#include "command.h"
#include "posenc/cpu.h"
#include "posenc/model/rotary_config.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/suite/measurement_json.h"
#include "posenc/support/format.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>

namespace posenc::test {
namespace {

using nlohmann::json;

TEST(List, NamesEveryBackendTheCpuAndTheSelection) {
  const CommandResult result = run_line("list");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  for (const Backend* each : backends())
    EXPECT_THAT(result.out, HasSubstr("\n" + std::string(each->name()) + " "));
  EXPECT_THAT(result.out, AllOf(HasSubstr(cpu().model), HasSubstr("built-in order")));

  const json document = json_of("list");
  EXPECT_EQ(document.at("version"), 1);
  EXPECT_EQ(document.at("backends").size(), backends().size());
  EXPECT_EQ(document.at("machine").at("cpu"), cpu().model);
}

TEST(List, PrintsTheBoundsThatTheReadmeStates) {
  const std::string readme = read_file(std::filesystem::path(POSENC_TEST_DATA) / "../../README.md");
  const auto bound_of = [](const Backend& backend) {
    return bound_text(backend.plan({.d_model = 512})->error_bound({0, 5000}));
  };
  const std::string without_fma = bound_of(backend("rotation32", Isa::portable));
  EXPECT_EQ(without_fma, "2.89e-07");
  EXPECT_THAT(readme, HasSubstr("(2.89e-7 without FMA)"));
  const std::string here = bound_of(backend("rotation32"));
  EXPECT_THAT(here, AnyOf("2.24e-07", without_fma));
  EXPECT_THAT(readme, HasSubstr("| 2.24e-7 ("));
}

/// The line of the table that begins with `name`.
std::string line_of(const std::string& page, const std::string& name) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " ")) return line;
  }
  return "no line of " + name;
}

TEST(ListPresets, ShowsTheConventionOfEach) {
  const std::string page = run_line("list --presets").out;
  const json document = json_of("list --presets");
  ASSERT_EQ(document.at("presets").size(), presets().size());
  for (std::size_t i = 0; i < presets().size(); ++i) {
    const Preset& preset = presets()[i];
    EXPECT_THAT(line_of(page, std::string(preset.name)),
                AllOf(HasSubstr(" " + std::string(to_string(preset.spec.layout)) + " "),
                      HasSubstr(" " + std::to_string(preset.rows.count) + " x " +
                                std::to_string(preset.spec.d_model))));
    const json& listed = document.at("presets").at(i);
    EXPECT_EQ(listed.at("name"), preset.name);
    EXPECT_EQ(listed.at("spec"), json(suite::to_json(preset.spec)));
    EXPECT_EQ(listed.at("rows"), json(suite::to_json(preset.rows)));
  }
  EXPECT_THAT(line_of(page, "llama_3"), testing::MatchesRegex(".* paper +500000 +8192 x 128 +0"));
  EXPECT_THAT(line_of(page, "fairseq"),
              testing::MatchesRegex(".* inclusive +10000 +1024 x 512 +2"));
  EXPECT_THAT(page, HasSubstr("1 x 64 x 64"));
}

TEST(ListCpus, ShowsThoseThatPickAnswersFor) {
  const std::string page = run_line("list --cpus").out;
  EXPECT_THAT(line_of(page, "Zen 4"), testing::ContainsRegex("AMD +25 +17 +AMD EPYC +avx512"));
  EXPECT_THAT(line_of(page, "Emerald Rapids"), testing::ContainsRegex("Intel +6 +207 "));
  const json document = json_of("list --cpus");
  EXPECT_GE(document.at("cpus").size(), 5U);
  for (const json& each : document.at("cpus")) {
    const std::string family = each.at("family").dump(), model = each.at("model").dump();
    const auto picked = run_posenc({"pick", "--cpu", "family " + family + ", model " + model});
    EXPECT_EQ(picked.exit_code, 0) << picked.err;
    EXPECT_THAT(picked.out, HasSubstr("measured: "));
  }
}

TEST(ListModels, NamesEveryModelType) {
  const auto all = model::known_model_types();
  EXPECT_EQ(json_of("list --models").at("models"), json(all));
  EXPECT_THAT(run_line("list --models").out,
              AllOf(StartsWith(std::to_string(all.size()) + " model types"), HasSubstr(" llama,")));
}

}  // namespace
}  // namespace posenc::test
