#include "program.h"

#include "encoders.h"
#include "provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace posenc::bench {
namespace {

int runs = 0;

bool has_flag(int argc, char** argv, std::string_view flag, const char* variable) {
  const auto names_it = [&](std::string_view each) { return each.starts_with(flag); };
  return std::any_of(argv + 1, argv + argc, names_it) || std::getenv(variable) != nullptr;
}

/// Whether this system gives hardware counters to programs. Most virtual machines have none.
bool has_hardware_counters() {
#ifdef __linux__
  perf_event_attr cycles = {};
  cycles.type = PERF_TYPE_HARDWARE;
  cycles.size = sizeof cycles;
  cycles.config = PERF_COUNT_HW_CPU_CYCLES;
  cycles.exclude_kernel = 1;
  cycles.exclude_hv = 1;
  const long file = syscall(SYS_perf_event_open, &cycles, 0, -1, -1, 0);
  if (file >= 0) close(static_cast<int>(file));
  return file >= 0;
#else
  return false;
#endif
}

/// Some builds of Google Benchmark abort if the counters that are asked for cannot be opened.
void drop_perf_counters(int& argc, char** argv) {
  constexpr std::string_view flag = "--benchmark_perf_counters";
  constexpr const char* variable = "BENCHMARK_PERF_COUNTERS";
  if (!has_flag(argc, argv, flag, variable) || has_hardware_counters()) return;
  fmt::print(stderr,
             "{}: {} is ignored: this system gives programs no hardware counters (a virtual "
             "machine, or kernel.perf_event_paranoid)\n",
             argv[0], flag);
  const auto names_it = [&](std::string_view each) { return each.starts_with(flag); };
  argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, names_it) - argv);
  unsetenv(variable);
}

}  // namespace

void count_run() { ++runs; }

int run(int argc, char** argv, void (*register_benchmarks)()) {
  drop_perf_counters(argc, argv);
  const bool is_list =
      has_flag(argc, argv, "--benchmark_list_tests", "BENCHMARK_LIST_TESTS");  // and not a run
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  add_provenance();
  register_benchmarks();
  const std::size_t matches = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (matches == 0 || (runs == 0 && !is_list)) {
    fmt::print(stderr, "{}: nothing was run: see --benchmark_filter, --benchmark_repetitions\n",
               argv[0]);
    return 2;
  }
  return is_any_encoder_wrong() ? 1 : 0;
}

}  // namespace posenc::bench
