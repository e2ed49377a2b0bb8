// posenc pick: error budgets, and the profile that it saves.
#include "command.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace posenc {
namespace {

using nlohmann::json;
using test::Arguments;
using test::expect_refused;
using test::operator+;
using test::run_posenc;
using test::ScratchFolder;
using test::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A short pick that accepts noise (--force): the tests check how figures are used, not the
/// figures.
Arguments short_pick(const Arguments& more) {
  return Arguments{"pick", "--preset", "stable_diffusion", "--processes", "2", "--force"} + more;
}

TEST(PickFrom, ReadsWhatPickWrites) {
  const ScratchFolder folder;
  const std::string file = folder / "pick.json";
  const auto measured = run_posenc(short_pick({"--format", "json"}));
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  write_file(file, measured.out);
  const auto read = run_posenc({"pick", "--from", file, "--format", "json"});
  ASSERT_EQ(read.exit_code, 0) << read.err;
  const json here = json::parse(measured.out), there = json::parse(read.out).at("runs")[0];
  EXPECT_EQ(here.at("picks"), there.at("picks"));
  EXPECT_EQ(here.at("measurements"), there.at("measurements"));
}

TEST(PickBudget, IsOneOfTwoMeasures) {
  expect_refused(run_posenc({"pick", "--max-error", "1e-6", "--max-ulp", "1"}), "--max-ulp");
  expect_refused(run_posenc({"pick", "--max-ulp", "-1"}), "--max-ulp is '-1'");
  const auto result = run_posenc(short_pick({"--max-ulp", "1", "--format", "json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("max_ulp"), 1);
  EXPECT_LE(document.at("picks")[0].at("max_ulp").get<double>(), 1);
}

TEST(PickBudget, DefaultsToOnePercentAboveHalfAnUlpOfOneForEveryType) {
  for (const DataType type : {DataType::float32, DataType::bfloat16}) {
    const std::string name(to_string(type));
    const auto result = run_posenc(short_pick({"--dtype", name}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out,
                AllOf(HasSubstr(name), HasSubstr("half an ulp of 1 and 1 %"), HasSubstr("picked")));
  }
}

TEST(PickSave, NothingIsSavedWithoutTheOption) {
  const ScratchFolder folder;
  const test::Environment environment = {{"POSENC_PROFILE", folder / "profile.json"},
                                         {"HOME", folder.path().string()}};
  const auto result = run_posenc(short_pick({}), {.environment = environment});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Nothing saved"));
  EXPECT_THAT(folder.listing(), IsEmpty());
}

TEST(PickSave, SavesTheMeasurementsWhereTheLibraryReadsThem) {
  const ScratchFolder folder;
  const std::string profile = folder / "profiles" / "here.json";
  const test::Environment environment = {{"POSENC_PROFILE", profile}};
  const auto result = run_posenc(short_pick({"--save"}), {.environment = environment});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("picked"), HasSubstr("Profile saved"), HasSubstr(profile)));
  const auto [loaded, reason] = load_profile(profile);
  ASSERT_TRUE(loaded.has_value()) << reason;
  ASSERT_EQ(loaded->classes.size(), 1U);
  EXPECT_EQ(loaded->classes.front().shapes, std::vector<std::string>{"stable_diffusion"});

  const auto list = run_posenc({"list", "--format", "json"}, {.environment = environment});
  EXPECT_THAT(list.out, HasSubstr("\"source\": \"profile\""));
  const auto shown = run_posenc({"profile"}, {.environment = environment});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr(profile), HasSubstr(loaded->cpu_model),
                               HasSubstr("rotation32:"), HasSubstr("--forget")));
}

TEST(PickSave, OutputIsTheReportAndSaveTheProfile) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json", profile = folder / "profile.json";
  const auto result =
      run_posenc(short_pick({"--format", "json", "--output", report, "--save", profile}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, IsEmpty());
  const json document = json::parse(test::read_file(report));
  EXPECT_EQ(document.at("profile"), profile);
  EXPECT_FALSE(document.at("measurements").empty());
  EXPECT_TRUE(load_profile(profile).profile.has_value());
}

TEST(PickSave, KeepsTheOtherClassesOfAnExistingProfile) {
  const ScratchFolder folder;
  const std::string file = folder / "profile.json";
  Profile older = profile_of_this_machine();
  MeasuredClass& measured = older.classes.emplace_back();
  measured.shape = ShapeClass::l1;
  measured.threads = 7;
  measured.measured_at = "2017-06-12T17:57:34Z";
  save_profile(older, file);
  const auto result = run_posenc(short_pick({"--save", file}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 earlier class kept"));
  EXPECT_EQ(load_profile(file).profile.value().classes.size(), 2U);
}

TEST(PickSave, IfMissingMeasuresOnlyUnmeasuredClasses) {
  const ScratchFolder folder;
  const std::string file = folder / "profile.json";
  const auto first = run_posenc(short_pick({"--save", file, "--if-missing"}));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("Profile saved"));
  const std::string content = test::read_file(file);

  const auto second = run_posenc(short_pick({"--save", file, "--if-missing"}));
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_THAT(second.out, AllOf(HasSubstr("Nothing to measure"), HasSubstr(file)));
  const json document =
      json::parse(run_posenc(short_pick({"--save", file, "--if-missing", "--format", "json"})).out);
  EXPECT_TRUE(document.at("measurements").empty());
  EXPECT_EQ(document.at("profile"), file);
  EXPECT_EQ(test::read_file(file), content);
  EXPECT_THAT(run_posenc(short_pick({"--save", file, "--if-missing", "--dtype", "float16"})).out,
              HasSubstr("1 earlier class kept"));
  expect_refused(run_posenc({"pick", "--if-missing"}), "--save");
}

TEST(PickSave, AnOutputThatCannotBeWrittenIsRefusedBeforeTheWork) {
  const ScratchFolder folder;
  const std::string file = folder / "profile.json";
  expect_refused(run_posenc(short_pick({"--save", file, "--output", "/nonexistent/report"})),
                 "/nonexistent/report");
  EXPECT_THAT(folder.listing(), IsEmpty());
}

TEST(PickSave, ABudgetThatNothingMeetsIsAFailedCheck) {
  const auto result = run_posenc(short_pick({"--max-error", "1e-12"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("1e-12"));
}

TEST(PickSave, AnUnwritableProfileIsAnErrorBeforeTheWork) {
  const ScratchFolder folder;
  write_file(folder / "file", "a file");
  expect_refused(run_posenc(short_pick({"--save", folder / "file" / "profile.json"})),
                 (folder / "file").string());
  expect_refused(run_posenc(short_pick({"--save", "/dev/full"})), "/dev/full");
}

TEST(PickProcess, RefusesInvalidTimingRequests) {
  const auto result = run_posenc({"pick", "--time-on-request"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("not a request"));
  EXPECT_THAT(run_posenc({"pick", "--help"}).out, Not(HasSubstr("--time-on-request")));
}

}  // namespace
}  // namespace posenc
