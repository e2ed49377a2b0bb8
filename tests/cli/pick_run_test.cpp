// posenc pick --from: decisions from stored results, and their explanations.
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
using test::expect_refused;
using test::run_posenc;
using test::ScratchFolder;
using test::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The JSON of a pick on another CPU, reduced to what a decision needs. rotation32 is twice as fast
/// as rotation.
json result_of(const std::string& cpu, double error_of_rotation32 = 1e-7) {
  const auto entry = [](const char* backend, double seconds, double max_abs) {
    return json{
        {"backend", backend},
        {"isa", "avx2"},
        {"name", "tutorial"},
        {"shape_class", "l3"},
        {"spec",
         {{"d_model", 512}, {"base", 10000.0}, {"layout", "interleaved"}, {"spacing", "paper"}}},
        {"rows", {{"first", 0}, {"count", 5000}}},
        {"max_abs", max_abs},
        {"max_ulp", max_abs / 6e-8},
        {"error_bound", max_abs},
        {"seconds", {seconds, seconds * 1.01, seconds * 0.99, seconds, seconds, seconds * 1.01}},
        {"self_ratios", {1.0, 1.01, 0.99, 1.0, 1.0, 1.01}}};
  };
  return {{"version", 1},
          {"cpu", {{"model", cpu}, {"isas", {"scalar", "sse2", "avx2"}}}},
          {"dtype", "float32"},
          {"threads", 1},
          {"processes", 6},
          {"disturbed", nullptr},
          {"max_error", 1e-6},
          {"max_ulp", nullptr},
          {"measurements",
           {entry("rotation", 2e-3, 2.98e-8), entry("rotation32", 1e-3, error_of_rotation32)}}};
}

struct Files {
  ScratchFolder folder;
  std::string one = folder / "one.json";
  std::string two = folder / "two.json";
};

TEST(PickFrom, KeepsTheLimitOfPlainStores) {
  const Files files;
  write_file(files.one, result_of("Some CPU").dump());
  EXPECT_THAT(run_posenc({"pick", "--from", files.one}).out, Not(HasSubstr("Stores")));
  json compared = result_of("Some CPU");
  compared["most_cached_bytes"] = 8 << 20;
  write_file(files.two, compared.dump());
  EXPECT_THAT(run_posenc({"pick", "--from", files.one, files.two}).out,
              HasSubstr("Stores of float32 tables: plain up to 8 MiB, then non-temporal\n"));
  const auto result = run_posenc({"pick", "--from", files.two, "--format", "json"});
  EXPECT_EQ(json::parse(result.out).at("runs").at(0).at("most_cached_bytes"), 8 << 20);
}

TEST(PickFrom, GivesThePickOfEveryCpuWithoutMeasuring) {
  const Files files;
  write_file(files.one, result_of("Fast CPU 1").dump());
  write_file(files.two, result_of("Rough CPU 2", 1e-3).dump());
  const auto result = run_posenc({"pick", "--from", files.one, files.two, "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json runs = json::parse(result.out).at("runs");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].at("cpu").at("model"), "Fast CPU 1");
  EXPECT_EQ(runs[0].at("picks")[0].at("backend"), "rotation32");
  EXPECT_NEAR(runs[0].at("picks")[0].at("margin").get<double>(), 1, 0.05);
  EXPECT_NEAR(runs[0].at("picks")[0].at("next_over_pick").at("ratio").get<double>(), 2, 0.05);
  EXPECT_GT(runs[0].at("picks")[0].at("next_over_pick").at("low").get<double>(), 1.9);
  EXPECT_NEAR(runs[0].at("picks")[0].at("noise_floor").get<double>(), 0.0101, 0.0001);
  EXPECT_EQ(runs[1].at("picks")[0].at("backend"), "rotation")
      << "the faster one is over the budget there";

  const auto table = run_posenc({"pick", "--from", files.one, files.two});
  const std::string fast = table.out.substr(0, table.out.find("Rough CPU 2"));
  EXPECT_LT(fast.find("rotation32:avx2"), fast.find("rotation:avx2"));
  EXPECT_THAT(fast, AllOf(HasSubstr("next/pick"), HasSubstr("2.000  2.000 .. 2.000")));
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("Fast CPU 1"), HasSubstr("Rough CPU 2"), HasSubstr("over budget")));
}

TEST(PickFrom, PoolsTheResultsOfOneCpu) {
  const Files files;
  json other = result_of("CPU 1");
  for (json& each : other["measurements"]) each["name"] = "whisper";
  write_file(files.one, result_of("CPU 1").dump());
  write_file(files.two, other.dump());
  const json runs =
      json::parse(run_posenc({"pick", "--from", files.one, files.two, "--format", "json"}).out)
          .at("runs");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].at("picks")[0].at("shapes"), json({"tutorial", "whisper"}));

  write_file(files.two, result_of("CPU 1").dump());
  const json samples =
      json::parse(run_posenc({"pick", "--from", files.one, files.two, "--format", "json"}).out)
          .at("runs");
  EXPECT_EQ(samples[0].at("measurements")[0].at("seconds").size(), 12U);
}

TEST(PickFrom, AppliesTheBudgetOfTheCommandLine) {
  const Files files;
  write_file(files.one, result_of("CPU 1").dump());
  const auto picked = [&](const char* option, const char* value) {
    const auto result =
        run_posenc({"pick", "--from", files.one, "--format", "json", option, value});
    return json::parse(result.out).at("runs")[0].at("picks")[0].at("backend").get<std::string>();
  };
  EXPECT_EQ(picked("--max-error", "5e-8"), "rotation");
  EXPECT_EQ(picked("--max-ulp", "0.6"), "rotation");
  EXPECT_EQ(picked("--max-ulp", "2"), "rotation32");
  EXPECT_EQ(run_posenc({"pick", "--from", files.one, "--max-error", "1e-12"}).exit_code, 1);
}

TEST(PickFrom, RefusesFilesThatAreNotPickResults) {
  const Files files;
  for (const std::string content : {"", "[]", "{}", "null", "{\"version\": 1}"}) {
    write_file(files.one, content);
    expect_refused(run_posenc({"pick", "--from", files.one}), "one.json");
  }
  json negative = result_of("CPU 1");
  negative["measurements"][0]["seconds"][0] = -1;
  write_file(files.one, negative.dump());
  expect_refused(run_posenc({"pick", "--from", files.one}), "not a time above 0");

  write_file(files.one, result_of("CPU 1").dump());
  expect_refused(run_posenc({"pick", "--from", files.one, files.one}), "twice");
  expect_refused(run_posenc({"pick", "--from", files.one, "--max-error", "0"}),
                 "--max-error is '0'");
  expect_refused(run_posenc({"pick", "--from", files.one, "--threads", "2"}), "--threads");
  json other_budget = result_of("CPU 1");
  other_budget["max_error"] = 1e-3;
  write_file(files.two, other_budget.dump());
  expect_refused(run_posenc({"pick", "--from", files.one, files.two}), "another error budget");
}

/// The words of a page, each followed by one space instead of line breaks and indentation.
std::string unbroken(const std::string& page) {
  std::istringstream words(page);
  std::string text;
  for (std::string word; words >> word;) text += word + " ";
  return text;
}

TEST(PickExplain, ExplainsTheDecision) {
  const Files files;
  write_file(files.one, result_of("CPU 1").dump());
  const auto explained = [&] {
    return unbroken(run_posenc({"pick", "--from", files.one, "--explain"}).out);
  };
  const std::string won = explained();
  EXPECT_THAT(
      won, AllOf(HasSubstr("Why"), HasSubstr("Next: rotation:avx2 (100 % slower"),
                 HasSubstr("timed twice differs from"), Not(HasSubstr("Over the error budget"))));
  write_file(files.one, result_of("CPU 1", 1e-3).dump());
  EXPECT_THAT(explained(), HasSubstr("Over the error budget: rotation32:avx2 (bound 1.00e-03"));

  json close = result_of("CPU 1");
  for (json& each : close["measurements"])
    each["seconds"] = {1e-3, 1.01e-3, 0.99e-3, 1e-3, 1e-3, 1.01e-3};
  write_file(files.one, close.dump());
  EXPECT_THAT(explained(),
              AllOf(HasSubstr("Tied with rotation32:avx2"), HasSubstr("picked (tie)")));
}

}  // namespace
}  // namespace posenc
