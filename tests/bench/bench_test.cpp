// The benchmark binaries: names, counters, wrong encoders, and flags that leave nothing to run.
// What Google Benchmark does itself is not tested.
#include "bench/bench.h"
#include "command.h"
#include "fake_backend.h"

#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace posenc::test {
namespace {

using nlohmann::json;

const Arguments brief = {"--benchmark_min_time=0.0001"};

/// Runs a benchmark binary as a separate process.
CommandResult run_bench(const std::string& name, const Arguments& arguments) {
  return run_posenc(arguments, {.program = std::string(POSENC_BENCHES) + "/" + name});
}

/// The benchmarks that a binary lists with these flags.
std::vector<std::string> names_of(const std::string& binary, const std::string& flags = "") {
  const CommandResult listed = run_bench(binary, words("--benchmark_list_tests " + flags));
  EXPECT_EQ(listed.exit_code, 0) << flags << listed.err;
  std::istringstream lines(listed.out);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

class Binary : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, Binary, testing::Values("bench_encode", "bench_layers", "bench_rows"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(Binary, HasUniqueWellFormedNames) {
  const std::vector<std::string> names = names_of(GetParam());
  EXPECT_GT(names.size(), 5U);
  // question/part:value/..., and "real_time", which Google Benchmark appends.
  const std::regex form("[a-z_]+(/[a-z0-9_]+)?(/[a-z0-9_]+:[a-z0-9_]+)+(/real_time)?");
  for (const std::string& name : names) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
    EXPECT_TRUE(std::regex_match(name, form)) << name;
  }
}

TEST_P(Binary, IsNoSuccessIfNothingMatches) {
  for (const Arguments& arguments :
       {Arguments{"--benchmark_filter=nothing_is_so_named"}, Arguments{"--benchmark_filter=("},
        Arguments{"--benchmark_list_tests", "--benchmark_filter=nothing_is_so_named"}}) {
    const CommandResult result = run_bench(GetParam(), arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments.back();
    EXPECT_THAT(result.err, Not(IsEmpty())) << arguments.back();
  }
}

TEST_P(Binary, RefusesUnknownFlags) {
  for (const std::string flag : {"--benchmark_fliter=x", "stray"}) {
    const CommandResult result = run_bench(GetParam(), {flag});
    EXPECT_EQ(result.exit_code, 2) << flag;
    EXPECT_THAT(result.out, IsEmpty()) << flag;
    EXPECT_THAT(result.err, HasSubstr(flag));
  }
}

TEST(BenchEncode, ComparesTheBackendsOnOneScreenByDefault) {
  const auto names = names_of("bench_encode");
  EXPECT_LE(names.size(), 45U);
  for (const char* const table : {"rows:8/d:512", "rows:5000/d:512", "rows:8192/d:4096"}) {
    for (const Backend* each : backends()) {
      if (each != &backend(each->name())) continue;
      EXPECT_THAT(names, Contains("encode/" + each->full_name() + "/" + table));
    }
  }
}

TEST(BenchEncode, AShapeHasEveryBackendIsaTypeAndNumberOfThreads) {
  const auto names = names_of("bench_encode", "--shape 77x68 --first 3 --threads 1,2");
  for (const Backend* each : running_backends()) {
    for (const DataType type : all_data_types) {
      if (!each->supports(type)) continue;
      std::string name = "encode/" + each->full_name() + "/first:3/rows:77/d:68";
      if (type != DataType::float32) name += "/dtype:" + std::string(to_string(type));
      EXPECT_THAT(names, AllOf(Contains(name), Contains(name + "/threads:2/real_time")));
    }
  }
  EXPECT_THAT(
      names_of("bench_encode", "--shape 77x68 --backend rotation --dtype float64 --threads 1"),
      SizeIs(1));
  EXPECT_GT(names_of("bench_encode", "--question strides").size(), 7U);
  EXPECT_THAT(names_of("bench_encode", "--question stores,fresh"), Not(IsEmpty()));
}

TEST(BenchRows, TakesAShape) {
  EXPECT_THAT(names_of("bench_rows", "--shape 9x20 --backend naive --dtype float16,float32"),
              AllOf(Contains("gather_random/naive:portable/rows:9/d:20/dtype:float16"),
                    Contains("row_cursor/naive:portable/rows:32/d:20")));
}

TEST(BenchLayers, TakesAShape) {
  EXPECT_THAT(
      names_of("bench_layers", "--shape 9x256 --dtype bfloat16 --threads 3"),
      AllOf(
          Contains("add/source:fused/batch:1/rows:9/d:256/threads:3/dtype:bfloat16/real_time"),
          Contains("rotate/source:fused/rows:9/heads:2/d:128/threads:3/dtype:bfloat16/real_time")));
  for (const char* const binary : {"bench_rows", "bench_layers"}) {
    const CommandResult result =
        run_bench(binary, brief + "--shape 9x20 --dtype float32 --threads 1");
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  const CommandResult refused = run_bench("bench_layers", words("--dtype float64"));
  expect_bad_input(refused, "bench_layers", "--dtype is 'float64'; allowed: float32, float16");
}

TEST(Flags, AreThoseOfTheCommandBesideGoogleBenchmarks) {
  const CommandResult help = run_bench("bench_encode", {"--help"});
  EXPECT_THAT(help.out, AllOf(HasSubstr("--shape ROWSxD"), HasSubstr("--benchmark_filter")));
  for (const auto& [flags, named] :
       {std::pair{"--shape 3x5", "d_model is 5"},
        {"--rows 0", "rows are 0"},
        {"--shape 8x8 --frequencies yarn:factor=4", "attention_factor"},
        {"--shape 999999999x1048576", "half of the memory"},
        {"--question x", "--question is 'x'; allowed: "},
        {"--question stores --shape 3x4", "excludes"},
        {"--question stores --isa avx2", "excludes"}})
    expect_bad_input(run_bench("bench_encode", words(flags)), "bench_encode", named);
}

TEST(BenchEncode, TablesHaveTheirShareOfTheLimit) {
  const CommandResult result =
      run_bench("bench_encode",
                brief + "--benchmark_format=json --benchmark_filter=/(naive|rotation).*/rows:8/");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  for (const char* key : {"cpu", "compiler", "caches", "kernels"})
    EXPECT_TRUE(document.at("context").contains(key)) << key;
  EXPECT_GE(document.at("benchmarks").size(), 2U);
  for (const json& each : document.at("benchmarks")) {
    for (const char* counter : {"share_of_limit", "items_per_second", "bytes_per_second"})
      EXPECT_GT(each.at(counter).get<double>(), 0) << each.at("name") << counter;
  }
}

const Backend* wrong_backend = nullptr;

// In this process, since no binary has a wrong encoder.
TEST(Program, DoesNotTimeAWrongEncoder) {
  const RegisteredFake wrong({.name = "wrong", .error_bound = 0x1p-25});
  wrong_backend = &*wrong;
  const ScratchFolder folder;
  const std::string file = folder / "out.json";
  Arguments words = Arguments{"bench_test", "--benchmark_out=" + file} + brief;
  std::vector<char*> pointers;
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  bench::Program program;
  program.name = "bench_test";
  program.example = "none";
  program.questions = {
      {"all", "a wrong and a right encoder", [] {
         const bench::Table table = bench::table_of(8, 64);
         bench::add("encode/wrong", [=] { return bench::encoding_of(*wrong_backend, table); });
         bench::add("encode/right", [=] { return bench::encoding_of(backend("rotation"), table); });
       }}};
  const int code = bench::run(static_cast<int>(words.size()), pointers.data(), program);
  EXPECT_EQ(code, 1);
  const json results = json::parse(read_file(file)).at("benchmarks");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(results[0].at("error_occurred"));
  EXPECT_THAT(results[0].at("error_message").get<std::string>(),
              HasSubstr("row 0 column 1: got 0, expected 1,"));
  EXPECT_FALSE(results[0].contains("share_of_limit"));
  EXPECT_FALSE(results[1].contains("error_occurred"));
  EXPECT_LE(results[1].at("sampled_error"), 0x1p-25);
}

TEST(Docs, NameBinariesAndFiltersThatExist) {
  const std::filesystem::path source = POSENC_SOURCE;
  std::vector<std::filesystem::path> pages = {source / "README.md"};
  for (const auto& each : std::filesystem::directory_iterator(source / "docs"))
    if (each.path().extension() == ".md") pages.push_back(each.path());
  // A filter stands behind other flags of a command line, which begins at a prompt or in a block.
  const std::regex command("(bench_[a-z]+)((?: --[a-z_]+[ =]?(?:'[^']*'|[^ `\n#]*))*)");
  int with_flags = 0;
  for (const auto& page : pages) {
    // The page with its lines joined where they are continued.
    const std::string text = std::regex_replace(read_file(page), std::regex(R"(\\\n *)"), "");
    for (std::sregex_iterator each(text.begin(), text.end(), command), end; each != end; ++each) {
      SCOPED_TRACE(page.string() + ": " + each->str());
      std::string flags = (*each)[2].str();
      std::erase(flags, '\'');
      with_flags += flags.empty() ? 0 : 1;
      names_of((*each)[1].str(), flags);
    }
  }
  EXPECT_GE(with_flags, 12);
}

}  // namespace
}  // namespace posenc::test
