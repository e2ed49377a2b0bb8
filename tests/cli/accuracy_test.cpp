// posenc accuracy.
#include "command.h"
#include "posenc/registry.h"

#include <nlohmann/json.hpp>

namespace posenc::test {
namespace {

using nlohmann::json;

TEST(AccuracyCommand, JsonHasEveryFieldOfTheReport) {
  const json document = json_of("accuracy --rows 300 --d-model 8 --first 5");
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

TEST(AccuracyCommand, ListsTheWorstEntries) {
  const std::string command = "accuracy --rows 500 --d-model 64 --backend div_term --worst 10";
  const json report = json_of(command).at("measurements")[0].at("report");
  EXPECT_EQ(report.at("worst_by_error").size(), 10U);
  EXPECT_EQ(report.at("worst_by_ulp").size(), 10U);
  const std::string page = run_line(command).out;
  EXPECT_THAT(page, AllOf(HasSubstr("Largest errors in ulp"), HasSubstr("Errors in ulp")));
  for (const json& each : report.at("worst_by_ulp"))
    EXPECT_THAT(page, HasSubstr(each.at("position").dump()));
}

TEST(AccuracyCommand, TakesSeveralFirstPositions) {
  std::vector<std::int64_t> firsts;
  const json document =
      json_of("accuracy --rows 9 --d-model 8 --backend naive --first 0,1000,1000000");
  for (const json& each : document.at("measurements"))
    firsts.push_back(each.at("table").at("rows").at("first").get<std::int64_t>());
  EXPECT_THAT(firsts, ElementsAre(0, 1000, 1000000));
}

TEST(AccuracyCommand, MeasuresOnlyTheNamedBackends) {
  const auto measured = [&](const std::string& choice) {
    std::vector<std::string> names;
    const json document = json_of("accuracy --rows 50 --d-model 8 " + choice);
    for (const json& each : document.at("measurements")) {
      names.push_back(each.at("backend").get<std::string>() + ":" +
                      each.at("isa").get<std::string>());
    }
    return names;
  };
  EXPECT_THAT(measured("--backend naive --backend rotation"),
              ElementsAre("naive:portable", backend("rotation").full_name()));
  std::vector<std::string> portable;
  for (const Backend* each : backends())
    if (each->isa() == Isa::portable) portable.push_back(each->full_name());
  EXPECT_EQ(measured("--isa portable"), portable);
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
