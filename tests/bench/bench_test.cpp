// The benchmark binaries: when they show results, the format of their files, and bad input.
#include "bench/groups.h"
#include "bench/program.h"
#include "command.h"
#include "support.h"

#include <benchmark/benchmark.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace posenc {
namespace {

using nlohmann::json;
using test::Arguments;
using test::CommandResult;
using test::operator+;
using test::read_file;
using test::run_posenc;
using test::ScratchFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Captures std::cout until it is destroyed.
class CapturedOutput {
 public:
  CapturedOutput() : before_(std::cout.rdbuf(text_.rdbuf())) {}
  ~CapturedOutput() { std::cout.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

const Arguments brief = {"--benchmark_repetitions=2", "--benchmark_min_time=0.0001"};

/// Runs bench::run() in this process with the benchmarks that `add_benchmarks` adds.
int run_here(const Arguments& arguments, const std::function<void()>& add_benchmarks) {
  static std::string name = "bench_test";  // Google Benchmark keeps the pointer to it.
  Arguments words = brief + arguments;
  std::vector<char*> pointers = {name.data()};
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  const int count = static_cast<int>(pointers.size()) - 1;
  return bench::run(count, pointers.data(), {.name = name, .register_benchmarks = add_benchmarks});
}

void count_up(benchmark::State& state) {
  std::int64_t sum = 0;
  for (auto _ : state) benchmark::DoNotOptimize(++sum);
  state.SetItemsProcessed(state.iterations());
  state.counters["own"] = 5;
  state.SetLabel("label");
}

TEST(Groups, AResultIsShownWhenItsGroupIsDone) {
  const CapturedOutput shown;
  std::string seen;
  const int code = run_here({}, [&] {
    bench::add("first/a", count_up);
    bench::add("first/b", count_up);
    bench::begin_group();
    bench::add("second/a", [&](benchmark::State& state) {
      seen = shown.text();
      count_up(state);
    });
  });
  EXPECT_EQ(code, 0);
  EXPECT_THAT(seen,
              AllOf(HasSubstr("\nfirst/a "), HasSubstr("\nfirst/b "), Not(HasSubstr("second/a"))));
  EXPECT_THAT(shown.text(), StartsWith(seen));
  EXPECT_THAT(shown.text(), HasSubstr("\nsecond/a"));
}

TEST(Groups, TitlesAreRepeatedOnlyWhereTheColumnsChange) {
  const auto titles = [](const std::string& text) {
    std::istringstream lines(text);
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.starts_with("benchmark ");
    return count;
  };
  const auto shown_with = [](const std::function<void(benchmark::State&)>& last) {
    const CapturedOutput shown;
    EXPECT_EQ(run_here({},
                       [&] {
                         bench::add("some/a", count_up);
                         bench::begin_group();
                         bench::add("some/b", count_up);
                         bench::begin_group();
                         bench::add("some/c", last);
                       }),
              0);
    return shown.text();
  };
  EXPECT_EQ(titles(shown_with(count_up)), 1);
  EXPECT_EQ(titles(shown_with([](benchmark::State& state) {
              count_up(state);
              state.counters["speed_up"] = 1;
            })),
            2);
}

/// A benchmark whose iteration runs a short loop `count` times.
bench::Body passes(int count) {
  return [count](benchmark::State& state) {
    std::int64_t sum = 0;
    for (auto _ : state) {
      for (int i = 0; i < 1000 * count; ++i) benchmark::DoNotOptimize(++sum);
    }
  };
}

void add_with_ratios() {
  bench::add("slow", passes(16), {{"own", {"slow"}}});
  bench::add("fast", passes(1));
  bench::add("wrong", [](benchmark::State& state) { state.SkipWithError("wrong"); });
  bench::add("some", passes(4),
             {{"speed", {"slow", "fast", "wrong"}},
              {"double_work", {"fast"}, 2},
              {"time", {"fast"}, 1, bench::Quantity::time},
              {"over_wrong", {"wrong"}}});
}

/// The entries of the benchmark `name` in the JSON output of the added benchmarks that match
/// `filter`.
std::vector<json> entries_of(const std::string& name, const std::string& filter,
                             const std::function<void()>& add_benchmarks) {
  const CapturedOutput shown;
  const int code =
      run_here({"--benchmark_format=json", "--benchmark_filter=" + filter}, add_benchmarks);
  EXPECT_EQ(code, 0);
  std::vector<json> entries;
  const json document = json::parse(shown.text());
  for (const json& each : document.at("benchmarks")) {
    if (each.at("run_name") == name) entries.push_back(each);
  }
  return entries;
}

std::vector<double> values_of(const std::vector<json>& entries, const std::string& key,
                              const std::string& type = "iteration") {
  std::vector<double> values;
  for (const json& each : entries) {
    if (each.at("run_type") == type && each.contains(key)) values.push_back(each.at(key));
  }
  return values;
}

TEST(Ratios, AreOfTheFastestBaselinesMedianTimeInEveryRepetition) {
  const CapturedOutput shown;
  ASSERT_EQ(run_here({"--benchmark_format=json"}, add_with_ratios), 0);
  const json document = json::parse(shown.text());
  const auto median_of = [&](const std::string& name) {
    for (const json& each : document.at("benchmarks")) {
      if (each.at("name") == name + "_median") return each.at("cpu_time").get<double>();
    }
    return 0.0;
  };
  const double fastest = std::min(median_of("fast"), median_of("slow"));
  ASSERT_GT(fastest, 0);
  int repetitions = 0;
  for (const json& each : document.at("benchmarks")) {
    if (each.at("run_name") != "some" || each.at("run_type") != "iteration") continue;
    const double seconds = each.at("cpu_time");
    const double to_fast = median_of("fast") / seconds;
    EXPECT_NEAR(each.at("speed"), fastest / seconds, 1e-9 * fastest / seconds);
    EXPECT_NEAR(each.at("double_work"), 2 * to_fast, 1e-9 * to_fast);
    EXPECT_NEAR(each.at("time"), 1 / to_fast, 1e-9 / to_fast);
    EXPECT_FALSE(each.contains("over_wrong")) << "a baseline without figures";
    ++repetitions;
  }
  EXPECT_EQ(repetitions, 2);
}

TEST(Ratios, HaveTheAggregatesOfTheirRepetitions) {
  const std::vector<json> entries = entries_of("some", "some", add_with_ratios);
  const std::vector<double> values = values_of(entries, "speed");
  ASSERT_EQ(values.size(), 2U);
  int aggregates = 0;
  for (const json& each : entries) {
    if (each.at("run_type") != "aggregate") continue;
    ++aggregates;
    ASSERT_TRUE(each.contains("speed")) << each.at("name");
    const double middle = (values[0] + values[1]) / 2;
    const std::string aggregate = each.at("aggregate_name");
    if (aggregate == "median" || aggregate == "mean") {
      EXPECT_NEAR(each.at("speed"), middle, 1e-9 * middle);
    }
    if (aggregate == "relative_iqr") {
      EXPECT_NEAR(each.at("speed"), std::abs(values[0] - values[1]) / 4 / middle, 1e-9);
    }
  }
  EXPECT_EQ(aggregates, 5) << "mean, median, stddev, cv, relative_iqr";
}

TEST(Ratios, OfABaselineToItselfAreOne) {
  EXPECT_THAT(values_of(entries_of("slow", "slow", add_with_ratios), "own"), ElementsAre(1.0, 1.0));
}

TEST(Ratios, AFilterTakesTheBaselinesToo) {
  EXPECT_EQ(values_of(entries_of("fast", "^some$", add_with_ratios), "cpu_time").size(), 2U);
  EXPECT_THAT(entries_of("some", "^fast$", add_with_ratios), IsEmpty());
  EXPECT_THAT(entries_of("fast", "-fast|some", add_with_ratios), IsEmpty());
  EXPECT_THAT(entries_of("slow", "-fast|some", add_with_ratios), Not(IsEmpty()));
}

TEST(Ratios, AreInTheTable) {
  const CapturedOutput shown;
  EXPECT_EQ(run_here({},
                     [] {
                       bench::add("one", passes(1));
                       bench::add("two", passes(1), {{"share_of_limit", {"one"}}});
                     }),
            0);
  EXPECT_THAT(shown.text(), HasSubstr("of limit"));
}

TEST(Groups, BenchmarksJoinTheGroupOfTheirBaseline) {
  const auto add_benchmarks = [] {
    bench::add("base", passes(1));
    bench::begin_group();
    bench::add("other", passes(1));
    bench::add("base", passes(100));  // The name is taken.
    bench::add("late", passes(1), {{"speed", {"base"}}});
  };
  EXPECT_EQ(values_of(entries_of("base", ".", add_benchmarks), "cpu_time").size(), 2U);
  EXPECT_EQ(values_of(entries_of("late", ".", add_benchmarks), "speed").size(), 2U);
}

TEST(Groups, AggregatesOnlyKeepsTheRatios) {
  const CapturedOutput shown;
  ASSERT_EQ(
      run_here({"--benchmark_format=json", "--benchmark_report_aggregates_only"}, add_with_ratios),
      0);
  const json document = json::parse(shown.text());
  int medians = 0;
  for (const json& each : document.at("benchmarks")) {
    if (each.value("error_occurred", false)) continue;
    EXPECT_EQ(each.at("run_type"), "aggregate") << each.at("name");
    medians += each.at("name") == "some_median" && each.contains("speed");
  }
  EXPECT_EQ(medians, 1);
}

/// Identifies a result: its name, run type and repetition.
using Key = std::tuple<std::string, std::string, int>;

std::map<Key, json> by_key(const json& document) {
  std::map<Key, json> entries;
  for (const json& each : document.at("benchmarks")) {
    entries[{each.at("name"), each.at("run_type"), each.value("repetition_index", -1)}] = each;
  }
  return entries;
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

/// The JSON that Google Benchmark's own reporter writes for two benchmarks. bench::run() must have
/// set its flags before.
json written_by_google_benchmark() {
  for (const char* name : {"first/a", "second/a"}) {
    benchmark::RegisterBenchmark(name, count_up)
        ->ComputeStatistics(
            "relative_iqr", [](const auto&) { return 0.0; }, benchmark::kPercentage);
  }
  std::ostringstream text;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&text);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
  return json::parse(text.str());
}

void add_two_groups() {
  bench::add("first/a", count_up);
  bench::begin_group();
  bench::add("second/a", count_up);
}

void expect_same_fields(const json& ours, const json& theirs) {
  for (const std::string& key : keys_of(theirs.at("context"))) {
    EXPECT_TRUE(ours.at("context").contains(key)) << key;
  }
  for (const char* key : {"cpu", "compiler", "posenc_commit"})
    EXPECT_TRUE(ours.at("context").contains(key)) << key;
  const auto expected = by_key(theirs), entries = by_key(ours);
  ASSERT_EQ(entries.size(), expected.size());
  for (const auto& [key, their] : expected) {
    ASSERT_TRUE(entries.contains(key)) << std::get<0>(key);
    const json& our = entries.at(key);
    EXPECT_EQ(keys_of(our), keys_of(their)) << std::get<0>(key);
    for (const auto& [field, value] : their.items()) {
      EXPECT_EQ(our.at(field).type_name(), std::string(value.type_name())) << field;
      const bool is_measured = field == "iterations" || field == "real_time" ||
                               field == "cpu_time" || field == "items_per_second" || field == "own";
      if (is_measured) continue;
      EXPECT_EQ(our.at(field), value) << field;
    }
  }
}

TEST(Results, TheFileHasTheFieldsOfGoogleBenchmarksOwn) {
  const ScratchFolder folder;
  const std::string file = folder / "out.json";
  {
    const CapturedOutput shown;
    ASSERT_EQ(run_here({"--benchmark_out=" + file}, add_two_groups), 0);
    EXPECT_THAT(shown.text(), HasSubstr("second/a"));
  }
  const CapturedOutput shown;
  ASSERT_EQ(run_here({"--benchmark_format=json"}, add_two_groups), 0);  // for its flags
  expect_same_fields(json::parse(read_file(file)), written_by_google_benchmark());
}

TEST(Results, JsonOnStandardOutputHasTheFieldsOfGoogleBenchmarksOwn) {
  std::string text;
  {
    const CapturedOutput shown;
    ASSERT_EQ(run_here({"--benchmark_format=json"}, add_two_groups), 0);
    text = shown.text();
  }
  expect_same_fields(json::parse(text), written_by_google_benchmark());
}

/// Runs a benchmark binary as a separate process.
CommandResult run_bench(const std::string& name, const Arguments& arguments,
                        const std::map<std::string, std::string>& environment = {}) {
  return run_posenc(arguments, {.environment = environment,
                                .out_file = {},
                                .program = std::string(POSENC_BENCHES) + "/" + name});
}

/// Expects the benchmark program to refuse its arguments, and to say what is allowed.
void expect_bad_input(const CommandResult& result, const std::string& named) {
  test::expect_bad_input(result, "bench_", named);
  EXPECT_THAT(result.err, HasSubstr("allowed"));
}

const Arguments small = {"--preset", "chunk", "--backend", "naive:scalar"};

TEST(Results, AFileThatCannotBeWrittenIsOneLineAndExitTwo) {
  const ScratchFolder folder;
  test::write_file(folder / "file", "precious");
  for (const std::string& file : {std::string("/nonexistent/out.json"), folder.path().string(),
                                  (folder / "file" / "out.json").string()}) {
    const CommandResult result =
        run_bench("bench_encode", small + brief + Arguments{"--benchmark_out=" + file});
    expect_bad_input(result, "--benchmark_out is '" + file + "'");
    EXPECT_THAT(result.out, IsEmpty()) << "before the work, not after it";
  }
  expect_bad_input(
      run_bench("bench_encode", small + brief + Arguments{"--benchmark_out=/dev/full"}),
      "--benchmark_out is '/dev/full'; allowed: a file that can be written (No space left on "
      "device)");
  expect_bad_input(run_bench("bench_encode", small + brief, {{"BENCHMARK_OUT", "/dev/full"}}),
                   "/dev/full");
  EXPECT_EQ(read_file(folder / "file"), "precious");
  EXPECT_THAT(folder.listing(), ElementsAre("file"));
}

TEST(Results, UnknownFormatsAreRefusedWithTheAllowedOnes) {
  for (const std::string flag : {"--benchmark_format", "--benchmark_out_format"}) {
    const CommandResult result =
        run_bench("bench_encode", small + brief + Arguments{flag + "=xml"});
    expect_bad_input(result, flag + " is 'xml'; allowed: json, console");
    EXPECT_THAT(result.out, IsEmpty());
  }
  expect_bad_input(run_bench("bench_encode", small + brief, {{"BENCHMARK_FORMAT", "xml"}}),
                   "'xml'");
  const CommandResult console =
      run_bench("bench_encode", small + brief + Arguments{"--benchmark_format=console"});
  EXPECT_EQ(console.exit_code, 0) << console.err;
  EXPECT_THAT(console.out, HasSubstr("encode/naive:scalar/preset:chunk"));
}

TEST(Benches, BadArgumentsAreOneLineWithTheAllowedValues) {
  const auto refused = [](const Arguments& arguments) {
    return run_bench("bench_encode", arguments);
  };
  expect_bad_input(refused({"--prest", "chunk"}), "did you mean '--preset'?");
  expect_bad_input(refused({"--benchmark_fliter=x"}), "argument is '--benchmark_fliter=x'");
  expect_bad_input(refused({"stray"}), "argument is 'stray'");
  expect_bad_input(refused({"--backend", "rotation32", "--dtype", "float64"}),
                   "no benchmark is left by --backend, --isa and --dtype");
  expect_bad_input(refused({"--preset", "chnuk"}), "did you mean 'chunk'?");
  expect_bad_input(refused({"--backend", "naiv"}), "did you mean 'naive'?");
  expect_bad_input(refused({"--set", "slowdown"}), "did you mean 'slowdowns'?");
  expect_bad_input(refused({"--stores", "none"}), "automatic, cached, non_temporal");
  expect_bad_input(refused({"--set"}), "--set has no value; allowed: --set NAME");
  expect_bad_input(refused({"--quick", "--all"}), "allowed: one of them");
  expect_bad_input(refused({"--benchmark_filter=nothing_is_so_named"}),
                   "--benchmark_filter is 'nothing_is_so_named'");
  expect_bad_input(refused({"--benchmark_filter=("}), "--benchmark_filter is '('");
  expect_bad_input(run_bench("bench_threads", {"--threads", "0"}),
                   "--threads is '0'; allowed: an integer, 1 to 1024");
  expect_bad_input(run_bench("bench_threads", {"--threads", "two"}), "--threads is 'two'");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Benches, TheFullListNeedsTheAllFlag) {
  const auto names = [](const Arguments& arguments) {
    return run_bench("bench_encode", arguments + Arguments{"--benchmark_list_tests"}).out;
  };
  const std::string bare = names({}), all = names({"--all"});
  EXPECT_EQ(bare, names({"--quick"}));
  const ScratchFolder folder;
  test::write_file(folder / "out.json", "precious");
  EXPECT_EQ(bare, names({"--benchmark_out=" + (folder / "out.json").string()}));
  EXPECT_EQ(read_file(folder / "out.json"), "precious") << "no result, no file";
  EXPECT_GE(std::ranges::count(all, '\n'), 5 * std::ranges::count(bare, '\n'));
  EXPECT_THAT(all, AllOf(HasSubstr("encode_fresh/"), HasSubstr("positions/"), HasSubstr("copy/")));
  const std::vector<std::string> lines = lines_of(all);
  const std::set<std::string> unique(lines.begin(), lines.end());
  EXPECT_EQ(unique.size(), lines.size()) << "a name stands for one benchmark";
  EXPECT_THAT(run_bench("bench_encode", {"--help"}).out, HasSubstr("--all"));
}

TEST(Benches, HelpKeepsItsLines) {
  EXPECT_THAT(run_bench("bench_encode", {"--help"}).out,
              HasSubstr("\n  --benchmark_filter=REGEX          only benchmarks whose names match, "
                        "and their baselines\n"));
}

TEST(Benches, TheShareOfTheLimitIsOfTheStoresInTheSameRun) {
  const CommandResult result = run_bench(
      "bench_encode", small + brief +
                          Arguments{"--benchmark_format=json", "--benchmark_filter=^encode/",
                                    "--benchmark_repetitions=3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  double limit = 0;
  for (const json& each : document.at("benchmarks")) {
    const std::string name = each.at("name");
    if (name.starts_with("limit/") && name.ends_with("_median"))
      limit = std::max(limit, each.at("bytes_per_second").get<double>());
  }
  ASSERT_GT(limit, 0);
  std::set<std::string> with_share;
  for (const json& each : document.at("benchmarks")) {
    const std::string name = each.at("name");
    EXPECT_EQ(each.contains("share_of_limit"), name.starts_with("encode/")) << name;
    if (!each.contains("share_of_limit")) continue;
    with_share.insert(each.value("aggregate_name", "repetition"));
    if (each.at("run_type") != "iteration") continue;
    const double share = each.at("bytes_per_second").get<double>() / limit;
    EXPECT_NEAR(each.at("share_of_limit"), share, 1e-6 * share) << name;
  }
  EXPECT_THAT(with_share, testing::IsSupersetOf({"repetition", "median", "relative_iqr"}));
}

TEST(Benches, TheSpeedUpOfOneThreadIsOne) {
  const CommandResult result =
      run_bench("bench_threads",
                brief + Arguments{"--threads", "1", "--backend", "rotation",
                                  "--benchmark_format=json", "--benchmark_filter=rows:512/"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  int runs = 0;
  const json document = json::parse(result.out);
  for (const json& each : document.at("benchmarks")) {
    if (each.at("run_type") != "iteration") continue;
    EXPECT_EQ(each.at("speed_up"), 1.0);
    ++runs;
  }
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace posenc
