// posenc accuracy.
#include "command.h"
#include "posenc/registry.h"
#include "posenc/suite/document.h"

#include <nlohmann/json.hpp>

namespace posenc::test {
namespace {

using nlohmann::json;

TEST(AccuracyCommand, JsonHasEveryFieldOfTheReport) {
  const json document = json_of("accuracy --rows 300 --d-model 8 --first 5 --worst 3");
  EXPECT_EQ(document.at("measurements").size(), running_backends().size());
  for (const json& each : document.at("measurements")) {
    for (const char* key : {"entries", "reference", "quantiles", "worst", "by_position"})
      EXPECT_TRUE(each.at("report").contains(key)) << key;
    EXPECT_EQ(each.at("table").at("spec").at("d_model"), 8);
    EXPECT_EQ(each.at("table").at("rows").at("first"), 5);
    EXPECT_EQ(each.at("report").at("by_channel").size(), 8U);
    EXPECT_EQ(each.at("report").at("worst_by_error").size(), 3U);
    EXPECT_TRUE(each.at("seconds").empty());
  }
}

TEST(AccuracyCommand, TheSuffixOfTheOutputNamesTheFormat) {
  const ScratchFolder folder;
  const std::string measured = "accuracy --rows 9 --d-model 8 --backend naive";
  const auto written = [&](const std::string& file, const std::string& format = "") {
    const std::string path = folder / file;
    EXPECT_EQ(run_line(measured + format + " --output " + path).exit_code, 0);
    return read_file(path);
  };
  EXPECT_EQ(json::parse(written("report.json")).at("measurements").size(), 1U);
  const std::string table = run_line(measured).out;
  EXPECT_EQ(written("report.txt"), table);
  EXPECT_EQ(written("report.json", " --format table"), table);
}

TEST(AccuracyCommand, SeveralBackendsStandSideBySide) {
  EXPECT_THAT(run_line("accuracy --rows 40 --d-model 64 --backend rotation,div_term "
                       "--frequencies linear:factor=4")
                  .out,
              AllOf(HasSubstr("frequencies linear:factor=4"), HasSubstr("by position"),
                    HasSubstr("div_term:portable"), HasSubstr("32 .. 39"),
                    HasSubstr("Largest |error| of the worst channels")));
}

TEST(AccuracyCommand, MeasuresTheBackendsAndTablesThatAreNamed) {
  const auto measured = [](const std::string& options) {
    std::vector<std::string> rows;
    for (const Measurement& each : parse_measurements(json_of("accuracy " + options).dump()).all)
      rows.push_back(each.full_name() + " on " + each.table.text());
    return rows;
  };
  EXPECT_THAT(measured("--rows 9 --d-model 8 --backend naive --backend rotation"),
              ElementsAre("naive:portable on 9x8", backend("rotation").full_name() + " on 9x8"));
  EXPECT_THAT(measured("--preset mae --backend naive"),
              ElementsAre("naive:portable on mae"));  // the same name as in posenc measure
  EXPECT_THAT(measured("--isa portable --rows 9 --d-model 8"),
              AllOf(Contains("div_term:portable on 9x8"), testing::Each(HasSubstr(":portable "))));
  EXPECT_THAT(measured("--shape 9x8 --backend naive --first 0,1000"),
              ElementsAre("naive:portable on 9x8", "naive:portable on 9x8, first 1000"));
}

TEST(RefusingBackend, IsOneRowAndNotTheEndOfAReport) {
  const auto run = [](const std::string& line) {
    return run_line(line, {.program = POSENC_REFUSING});
  };
  const std::string table = " --preset llama_3_1 --rows 20";
  const CommandResult report = run("accuracy" + table);
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out, AllOf(HasSubstr("picky:portable is not available: frequencies are"),
                                HasSubstr("\nrotation ")));
  EXPECT_THAT(run("accuracy --format json" + table).out,
              HasSubstr("\"not_available\":\"frequencies are"));

  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const CommandResult measured =
      run("measure --backend picky,rotation --processes 2 --output " + file + table);
  EXPECT_LE(measured.exit_code, 1) << measured.err;  // 1: other work ran
  const CommandResult shown = run("measure " + file);
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("picky:portable is not available: frequencies are"));
  EXPECT_EQ(run("pick " + file).exit_code, 0);
  EXPECT_EQ(run("generate --preset llama_3_1 --rows 2 --max-error 1e-6").exit_code, 0);
  EXPECT_EQ(run("list").exit_code, 0);

  // If no other backend is asked for, the reason is the message.
  expect_refused(run("accuracy --backend picky" + table), "frequencies are 'llama3:");
}

}  // namespace
}  // namespace posenc::test
