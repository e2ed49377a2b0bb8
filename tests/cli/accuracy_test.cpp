// posenc accuracy.
#include "command.h"
#include "posenc/registry.h"

#include <nlohmann/json.hpp>

#include <map>
#include <sstream>

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

TEST(AccuracyCommand, SeveralBackendsKeepTheirChannels) {
  const std::string page =
      run_posenc(words("accuracy --rows 40 --d-model 64 --backend rotation,div_term")).out;
  EXPECT_THAT(page, HasSubstr("Largest |error| of the worst channels"));
}

TEST(AccuracyCommand, FitsOnAPage) {
  std::istringstream lines(run_posenc(words("accuracy --preset tutorial")).out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(AccuracyCommand, CsvHasARowForEachPartOfAReport) {
  const std::string csv =
      run_posenc(words("accuracy --rows 40 --d-model 6 --backend rotation,div_term --worst 2 "
                       "--layout halves --format csv"))
          .out;
  std::istringstream lines(csv);
  std::string header, line;
  std::getline(lines, header);
  EXPECT_THAT(
      header,
      StartsWith("backend,isa,dtype,table,part,first,count,channel,share,above,to,position"));
  std::map<std::string, int> parts;
  while (std::getline(lines, line)) {
    for (const char* const part : {",table,", ",positions,", ",channel,", ",quantile,", ",ulp,",
                                   ",worst_by_error,", ",worst_by_ulp,"}) {
      if (line.find(part) != std::string::npos) ++parts[part];
    }
    EXPECT_THAT(line, HasSubstr("\"40x6, halves\"")) << "a comma within a cell";
  }
  EXPECT_EQ(parts[",table,"], 2);
  EXPECT_EQ(parts[",positions,"], 2 * 7);
  EXPECT_EQ(parts[",channel,"], 2 * 6);
  EXPECT_EQ(parts[",quantile,"], 2 * 6);
  EXPECT_GE(parts[",ulp,"], 2 * 4);
  EXPECT_EQ(parts[",worst_by_error,"], 2 * 2);
  EXPECT_EQ(parts[",worst_by_ulp,"], 2 * 2);
}

TEST(AccuracyCommand, ListsTheWorstEntries) {
  const Arguments command = words("accuracy --rows 500 --d-model 64 --backend div_term --worst 10");
  const json report =
      json::parse(run_posenc(command + "--format json").out).at("measurements")[0].at("report");
  ASSERT_EQ(report.at("worst_by_error").size(), 10U);
  ASSERT_EQ(report.at("worst_by_ulp").size(), 10U);
  const std::string page = run_posenc(command).out;
  EXPECT_THAT(page, AllOf(HasSubstr("Largest errors in ulp"), HasSubstr("Errors in ulp")));
  for (const json& each : report.at("worst_by_ulp"))
    EXPECT_THAT(page, HasSubstr(each.at("position").dump()));
}

TEST(AccuracyCommand, TakesSeveralFirstPositions) {
  const json document = json::parse(
      run_posenc(words("accuracy --rows 9 --d-model 8 --backend naive --first 0,1000,1000000 "
                       "--format json"))
          .out);
  std::vector<std::int64_t> firsts;
  for (const json& each : document.at("measurements"))
    firsts.push_back(each.at("table").at("rows").at("first").get<std::int64_t>());
  EXPECT_THAT(firsts, ElementsAre(0, 1000, 1000000));
}

TEST(AccuracyCommand, APrintedBoundCanBeTypedBackIn) {
  for (const char* const backend : {"rotation", "rotation32", "div_term", "naive", "xsimd"}) {
    const Arguments shape = words("--preset tutorial");
    const std::string page =
        run_posenc(words("accuracy") + shape + Arguments{"--backend", backend}).out;
    std::istringstream row(page.substr(page.find("\n" + std::string(backend) + " ")));
    std::string name, isa, error, bound;
    row >> name >> isa >> error >> bound;
    const auto encoder = posenc::backend(backend).plan({.d_model = 512});
    EXPECT_GE(std::stod(bound), encoder->error_bound({0, 5000})) << backend;
    EXPECT_LE(std::stod(bound), encoder->error_bound({0, 5000}) * 1.01) << backend;
  }
}

TEST(RefusingBackend, IsOneRowAndNotTheEndOfAReport) {
  const auto run = [](const std::string& line) {
    return run_posenc(words(line), {.program = POSENC_REFUSING});
  };
  const CommandResult report = run("accuracy --preset llama_3_1 --rows 20");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out, AllOf(HasSubstr("picky:portable is not available: frequencies are"),
                                HasSubstr("\nrotation ")));
  const std::string all = run("accuracy --preset llama_3_1 --rows 20 --format json").out;
  EXPECT_THAT(all, HasSubstr("\"not_available\":\"frequencies are"));
  EXPECT_THAT(run("accuracy --preset llama_3_1 --rows 20 --format csv").out,
              HasSubstr("allowed for backend picky: those of the base"));

  const ScratchFolder folder;
  const std::string file = folder / "here.json";
  const CommandResult measured =
      run("measure --preset llama_3_1 --rows 20 --backend picky,rotation --processes 2 --output " +
          file);
  EXPECT_LE(measured.exit_code, 1) << measured.err;  // 1: other work ran
  const CommandResult shown = run("measure " + file);
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("picky:portable is not available: frequencies are"));
  EXPECT_EQ(run("pick " + file).exit_code, 0);
  EXPECT_EQ(run("generate --preset llama_3_1 --rows 2 --max-error 1e-6").exit_code, 0);
  EXPECT_EQ(run("list").exit_code, 0);

  // Asked for it alone, the reason is the answer.
  expect_refused(run("accuracy --preset llama_3_1 --rows 20 --backend picky"),
                 "frequencies are 'llama3:");
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
