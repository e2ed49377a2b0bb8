#include "program.h"

#include "encoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace posenc::bench {
namespace {

int runs = 0;

/// Whether names are listed, and nothing is run.
bool is_list(int argc, char** argv) {
  const auto lists = [](std::string_view each) {
    return each.starts_with("--benchmark_list_tests");
  };
  return std::any_of(argv + 1, argv + argc, lists) || std::getenv("BENCHMARK_LIST_TESTS");
}

/// The value of --benchmark_repetitions if it is below 1, else empty. Google Benchmark measures
/// nothing without repetitions, and aborts if their number is negative.
std::string_view bad_repetitions(int argc, char** argv) {
  constexpr std::string_view flag = "--benchmark_repetitions=";
  for (const std::string_view each : std::span(argv + 1, argv + argc)) {
    if (!each.starts_with(flag)) continue;
    const std::string_view value = each.substr(flag.size());
    if (value == "0" || value.starts_with('-')) return value;
  }
  return {};
}

}  // namespace

void count_run() { ++runs; }

int run(int argc, char** argv, void (*register_benchmarks)()) {
  const bool is_only_listed = is_list(argc, argv);  // Initialize() removes the flag.
  if (const std::string_view value = bad_repetitions(argc, argv); !value.empty()) {
    fmt::print(stderr, "{}: --benchmark_repetitions is '{}'; allowed: an integer of at least 1\n",
               argv[0], value);
    return 2;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  add_provenance();
  register_benchmarks();
  const std::size_t matches = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (matches == 0 || (runs == 0 && !is_only_listed)) {
    fmt::print(stderr, "{}: nothing was run: see --benchmark_filter, --benchmark_repetitions\n",
               argv[0]);
    return 2;
  }
  return is_any_encoder_wrong() ? 1 : 0;
}

}  // namespace posenc::bench
