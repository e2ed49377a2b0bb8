// The main program of every benchmark binary: Google Benchmark's, with its flags and its output.
#pragma once

#include <benchmark/benchmark.h>

#include <string>

namespace posenc::bench {

/// Adds the machine and the build to the context of Google Benchmark's output.
void add_provenance();

/// Notes that a benchmark was run, and not only listed.
void count_run();

/// Registers a benchmark that calls function(state, arguments...).
template <class Function, class... Arguments>
auto* add(const std::string& name, Function function, Arguments... arguments) {
  return benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    count_run();
    function(state, arguments...);
  });
}

/// Registers the benchmarks, and runs those that the flags select. Returns the exit code: 0 good, 1
/// an encoder was wrong and not timed, 2 bad flags or nothing to run.
int run(int argc, char** argv, void (*register_benchmarks)());

}  // namespace posenc::bench
