// posenc compare.
#include "command.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace posenc {
namespace {

using nlohmann::json;
using test::Arguments;
using test::CommandResult;
using test::expect_refused;
using test::operator+;
using test::read_file;
using test::run_posenc;
using test::run_posenc_on_terminal;
using test::ScratchFolder;
using test::write_accuracy_report;
using test::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Compare, TheSameReportTwiceIsNoRegression) {
  const ScratchFolder folder;
  const std::string report = folder / "a.json";
  write_accuracy_report(report);
  const CommandResult result = run_posenc({"compare", report, report});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rotation"));
  EXPECT_THAT(result.err, IsEmpty());
}

/// Two reports of the backends that run here, the second with a change.
struct TwoReports {
  ScratchFolder folder;
  std::string a = folder / "a.json";
  std::string b = folder / "b.json";

  template <class Change>
  explicit TwoReports(const Change& change) {
    write_accuracy_report(a);
    json document = json::parse(read_file(a));
    change(document.at("results"));
    write_file(b, document.dump());
  }
  CommandResult compared(const Arguments& options) const {
    return run_posenc(Arguments{"compare", a, b} + options);
  }
};

void grow(json& result, double factor) {
  result["max_abs"] = result.at("max_abs").get<double>() * factor;
}

TEST(Compare, AWorseErrorIsARegressionAndABetterOneIsNot) {
  const TwoReports reports([](json& results) { grow(results.at(0), 1.5); });
  const CommandResult worse = reports.compared({});
  EXPECT_EQ(worse.exit_code, 1);
  EXPECT_THAT(worse.out, HasSubstr("regression"));
  EXPECT_EQ(run_posenc({"compare", reports.b, reports.a}).exit_code, 0);
}

TEST(Compare, AMissingBackendFailsUnlessItIsAllowed) {
  const TwoReports reports([](json& results) { results.erase(0); });
  EXPECT_EQ(reports.compared({}).exit_code, 1);
  EXPECT_THAT(reports.compared({}).out,
              AllOf(HasSubstr("only in A"), HasSubstr("1 of A is missing in B")));
  EXPECT_EQ(json::parse(reports.compared({"--format", "json"}).out).at("missing"), 1);
  EXPECT_EQ(reports.compared({"--allow-missing"}).exit_code, 0);
  EXPECT_EQ(run_posenc({"compare", reports.b, reports.a}).exit_code, 0) << "B may have more";
}

TEST(Compare, TheToleranceAcceptsGrowthOfAnError) {
  const TwoReports reports([](json& results) { grow(results.at(0), 1.05); });
  EXPECT_EQ(reports.compared({}).exit_code, 1);
  EXPECT_EQ(reports.compared({"--tolerance", "0.04"}).exit_code, 1);
  EXPECT_EQ(reports.compared({"--tolerance", "0.06"}).exit_code, 0);
}

TEST(Compare, ToleranceNeverExcusesAWronglyRoundedEntry) {
  const TwoReports reports([](json& results) {
    for (json& each : results) {
      if (each.at("backend") == "rotation") each["correctly_rounded"] = 1 - 1e-6;
    }
  });
  EXPECT_EQ(reports.compared({"--tolerance", "0.5"}).exit_code, 1);
}

TEST(Compare, TheFilterSelectsBackends) {
  const TwoReports reports(
      [](json& results) { grow(results.at(0), 1.5); });  // naive, the first of all
  EXPECT_EQ(reports.compared({"--filter", "^naive:"}).exit_code, 1);
  const CommandResult others = reports.compared({"--filter", "^rotation:"});
  EXPECT_EQ(others.exit_code, 0) << others.err;
  EXPECT_THAT(others.out, AllOf(HasSubstr("rotation"), Not(HasSubstr("naive"))));
  expect_refused(reports.compared({"--filter", "rotten"}), "--filter is 'rotten'");
}

TEST(Compare, StringsOfFilesReachTheTerminalEscaped) {
  const std::string control_sequences = "naive\x1b[2J\x1b[31m\x07\xc2\x9b";
  const TwoReports reports([&](json& results) { results.at(0)["backend"] = control_sequences; });
  const CommandResult result = reports.compared({});
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(result.out, HasSubstr("naive\\x1b[2J\\x1b[31m\\x07\\xc2\\x9b"));
  const CommandResult on_terminal = run_posenc_on_terminal({"compare", reports.a, reports.b});
  EXPECT_THAT(on_terminal.out,
              AllOf(Not(HasSubstr("\x1b[2J")), Not(HasSubstr("\x07")), Not(HasSubstr("\xc2\x9b"))));
  const CommandResult as_json = reports.compared({"--format", "json"});
  EXPECT_THAT(as_json.out, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xc2\x9b"))));
  EXPECT_THAT(json::parse(as_json.out).dump(), HasSubstr("\\u001b[2J"));
}

TEST(Compare, NamesOfFilesReachTheTerminalEscaped) {
  const ScratchFolder folder;
  const std::string report = folder / "a\x1b[2J\xff.json";
  write_accuracy_report(report);
  const CommandResult compared = run_posenc({"compare", report, report});
  EXPECT_THAT(compared.out, AllOf(HasSubstr("a\\x1b[2J\\xff.json"), Not(HasSubstr("\x1b"))));
  const CommandResult missing = run_posenc({"compare", report + "\n", report});
  expect_refused(missing, "a\\x1b[2J\\xff.json\\n cannot be read");
}

TEST(Compare, FilesThatCannotBeComparedAreBadInput) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json", other = folder / "other.json";
  write_accuracy_report(report);
  expect_refused(run_posenc({"compare", report, folder / "missing.json"}), "missing.json");
  for (const std::string content : {"", "{", "[]", "{}", "{\"version\": 1, \"results\": 3}",
                                    "{\"version\": 2, \"results\": []}", "null"}) {
    write_file(other, content);
    expect_refused(run_posenc({"compare", report, other}), "other.json");
  }
  expect_refused(run_posenc({"compare", folder.path(), report}), folder.path());
}

TEST(Compare, BenchmarkResultsAreRefusedWithTheToolForThem) {
  const ScratchFolder folder;
  write_file(folder / "speed.json", R"({"context": {}, "benchmarks": []})");
  expect_refused(run_posenc({"compare", folder / "speed.json", folder / "speed.json"}),
                 "compare.py, Debian: libbenchmark-tools");
}

}  // namespace
}  // namespace posenc
