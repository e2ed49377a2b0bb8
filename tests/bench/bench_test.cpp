// The benchmark binaries as their users meet them: when results are shown, what they are written
// as, and bad input.
#include "bench/groups.h"
#include "bench/support.h"
#include "command.h"
#include "support.h"

#include <benchmark/benchmark.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>
#include <tuple>

namespace posenc {
namespace {

using nlohmann::json;
using test::CommandResult;
using test::read_file;
using test::run_posenc;
using test::ScratchFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Arguments = std::vector<std::string>;

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// Standard output while it lives.
class Shown {
 public:
  Shown() : before_(std::cout.rdbuf(text_.rdbuf())) {}
  ~Shown() { std::cout.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

const Arguments brief = {"--benchmark_repetitions=2", "--benchmark_min_time=0.0001"};

/// bench::run() in this process, of benchmarks that the test adds.
int run_here(const Arguments& arguments, const std::function<void()>& add_benchmarks) {
  static std::string name = "bench_test";  // Google Benchmark keeps the pointer to it.
  Arguments words = brief + arguments;
  std::vector<char*> pointers = {name.data()};
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  const int count = static_cast<int>(pointers.size()) - 1;
  return bench::run(count, pointers.data(), {.name = name}, {}, add_benchmarks);
}

void count_up(benchmark::State& state) {
  std::int64_t sum = 0;
  for (auto _ : state) benchmark::DoNotOptimize(++sum);
  state.SetItemsProcessed(state.iterations());
  state.counters["own"] = 5;
  state.SetLabel("label");
}

TEST(Groups, AResultIsShownWhenItsGroupIsDone) {
  const Shown shown;
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
    const Shown shown;
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

/// A result by what tells it from the others.
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

/// What Google Benchmark itself writes of two benchmarks; bench::run() has set its flags.
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
    const Shown shown;
    ASSERT_EQ(run_here({"--benchmark_out=" + file}, add_two_groups), 0);
    EXPECT_THAT(shown.text(), HasSubstr("second/a"));
  }
  const Shown shown;
  ASSERT_EQ(run_here({"--benchmark_format=json"}, add_two_groups), 0);  // for its flags
  expect_same_fields(json::parse(read_file(file)), written_by_google_benchmark());
}

TEST(Results, JsonOnStandardOutputHasThemToo) {
  std::string text;
  {
    const Shown shown;
    ASSERT_EQ(run_here({"--benchmark_format=json"}, add_two_groups), 0);
    text = shown.text();
  }
  expect_same_fields(json::parse(text), written_by_google_benchmark());
}

/// A benchmark binary as a process of its own.
CommandResult run_bench(const std::string& name, const Arguments& arguments,
                        const std::map<std::string, std::string>& environment = {}) {
  return run_posenc(arguments, {.environment = environment,
                                .out_file = {},
                                .program = std::string(POSENC_BENCHES) + "/" + name});
}

void expect_bad_input(const CommandResult& result, const std::string& named) {
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_THAT(result.err, AllOf(StartsWith("bench_"), HasSubstr(named), HasSubstr("allowed")));
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

TEST(Benches, BadArgumentsAreOneLineInOurWords) {
  const auto refused = [](const Arguments& arguments) {
    return run_bench("bench_encode", arguments);
  };
  expect_bad_input(refused({"--prest", "chunk"}), "did you mean '--preset'?");
  expect_bad_input(refused({"--benchmark_fliter=x"}), "argument is '--benchmark_fliter=x'");
  expect_bad_input(refused({"stray"}), "argument is 'stray'");
  expect_bad_input(refused({"--preset", "chnuk"}), "did you mean 'chunk'?");
  expect_bad_input(refused({"--backend", "naiv"}), "did you mean 'naive'?");
  expect_bad_input(refused({"--set", "clifs"}), "did you mean 'cliffs'?");
  expect_bad_input(refused({"--stores", "none"}), "automatic, cached, non_temporal");
  expect_bad_input(refused({"--set"}), "--set has no value; allowed: --set NAME");
  expect_bad_input(refused({"--quick", "--all"}), "allowed: one of them");
  expect_bad_input(refused({"--benchmark_filter=nothing_is_so_named"}),
                   "--benchmark_filter is 'nothing_is_so_named'");
  expect_bad_input(refused({"--benchmark_filter=("}), "--benchmark_filter is '('");
  expect_bad_input(run_bench("bench_threads", {"--threads", "0"}),
                   "--threads is '0'; allowed: an integer, 1 to 1024");
  expect_bad_input(run_bench("bench_threads", {"--threads", "two"}), "--threads is 'two'");
  expect_bad_input(run_bench("bench_driver", {"--fast"}), "argument is '--fast'");
}

TEST(Benches, TheLongListStandsBehindAFlag) {
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
  EXPECT_THAT(run_bench("bench_encode", {"--help"}).out, HasSubstr("--all"));
}

TEST(Benches, HelpKeepsItsLines) {
  EXPECT_THAT(
      run_bench("bench_encode", {"--help"}).out,
      HasSubstr("\n  --benchmark_filter=REGEX          only benchmarks whose names match\n"));
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
