// posenc accuracy.
#include "command.h"
#include "posenc/registry.h"

#include <nlohmann/json.hpp>

namespace posenc::test {
namespace {

using nlohmann::json;

TEST(AccuracyCommand, JsonHasEveryFieldOfTheReport) {
  const CommandResult result = run_posenc(
      {"accuracy", "--rows", "300", "--d-model", "8", "--first", "5", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("measurements").size(), running_backends().size());
  for (const json& each : document.at("measurements")) {
    for (const char* key : {"entries", "reference", "quantiles", "worst", "by_position"})
      EXPECT_TRUE(each.at("report").contains(key)) << key;
    EXPECT_EQ(each.at("table").at("spec").at("d_model"), 8);
    EXPECT_EQ(each.at("table").at("rows").at("first"), 5);
    EXPECT_EQ(each.at("report").at("by_channel").size(), 8U);
    EXPECT_TRUE(each.at("seconds").empty());
    if (each.at("backend") == "rotation") {
      EXPECT_EQ(each.at("error").at("correctly_rounded"), 1.0);
      EXPECT_LE(each.at("error").at("max_abs").get<double>(), 2.9803e-8);
    }
  }
}

TEST(AccuracyCommand, TheSuffixOfTheOutputNamesTheFormat) {
  const ScratchFolder folder;
  const Arguments measured = words("accuracy --rows 9 --d-model 8 --backend naive");
  const auto written = [&](const std::string& file, const Arguments& format) {
    EXPECT_EQ(run_posenc(measured + format + Arguments{"--output", folder / file}).exit_code, 0);
    return read_file(folder / file);
  };
  EXPECT_EQ(json::parse(written("report.json", {})).at("measurements").size(), 1U);
  const std::string table = run_posenc(measured).out;
  EXPECT_EQ(written("report.txt", {}), table);
  EXPECT_EQ(written("report.json", {"--format", "table"}), table);
}

TEST(AccuracyCommand, NamesTheRuleOfFrequencies) {
  const Arguments measured =
      words("accuracy --rows 9 --d-model 8 --frequencies linear:factor=4 --backend rotation");
  const json document = json::parse(run_posenc(measured + "--format json").out);
  EXPECT_EQ(document.at("measurements")[0].at("table").at("spec").at("frequencies"),
            "linear:factor=4");
  EXPECT_THAT(run_posenc(measured).out, HasSubstr("frequencies linear:factor=4"));
}

TEST(AccuracyCommand, SeveralBackendsStandSideBySideByPosition) {
  const std::string page =
      run_posenc(words("accuracy --rows 40 --d-model 64 --backend rotation --backend div_term"))
          .out;
  EXPECT_THAT(
      page, AllOf(HasSubstr("by position"), HasSubstr("div_term:portable"), HasSubstr("32 .. 39")));
}

TEST(AccuracyCommand, MeasuresOnlyTheNamedBackends) {
  const Arguments shape = words("accuracy --rows 50 --d-model 8 --format json");
  const auto measured = [&](const Arguments& choice) {
    std::vector<std::string> names;
    const json document = json::parse(run_posenc(shape + choice).out);
    for (const json& each : document.at("measurements")) {
      names.push_back(each.at("backend").get<std::string>() + ":" +
                      each.at("isa").get<std::string>());
    }
    return names;
  };
  EXPECT_THAT(measured({"--backend", "naive"}), ElementsAre("naive:portable"));
  EXPECT_THAT(measured({"--backend", "naive", "--backend", "rotation"}),
              ElementsAre("naive:portable", backend("rotation").full_name()));
  std::vector<std::string> portable;
  for (const Backend* each : backends())
    if (each->isa() == Isa::portable) portable.push_back(each->full_name());
  EXPECT_EQ(measured({"--isa", "portable"}), portable);
}

}  // namespace
}  // namespace posenc::test
