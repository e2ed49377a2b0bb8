// The main program of every benchmark binary: Google Benchmark's, with its flags and its output. A
// benchmark is compared with exact values before it is timed.
#pragma once

#include "posenc/matrix.h"
#include "posenc/spec.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace posenc::bench {

/// Adds the machine and the build to the context of Google Benchmark's output.
void add_provenance();

/// Registers the benchmarks, and runs those that the flags select. Returns the exit code: 0 good, 1
/// a benchmark was wrong and not timed, 2 bad flags or no benchmark of that name.
int run(int argc, char** argv, void (*register_benchmarks)());

/// Notes which benchmark runs now.
void begin_benchmark(const std::string& name);
/// Fails the program if what the benchmark does was not compared with exact values.
void end_benchmark();

/// Registers a benchmark that calls function(state, arguments...).
template <class Function, class... Arguments>
auto* add(const std::string& name, Function function, Arguments... arguments) {
  return benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    begin_benchmark(name);
    function(state, arguments...);
    end_benchmark();
  });
}

/// What a benchmark should write.
struct Expected {
  /// Sets the values of a row of the output. They are those that were written before.
  std::function<void(std::int64_t row, std::span<long double> values)> row;
  double bound;  ///< how far off each may be
};

/// The sines and cosines of a position, in the layout of the spec.
void exact_row(const EncodingSpec& spec, std::int64_t position, std::span<long double> values);

/// Makes the call, and compares rows of the output that it returns with the expected ones, once a
/// process for each benchmark. The counter sampled_error is the largest error of these rows. If one
/// is off by more than the bound, the benchmark is skipped with an error, and the result is false.
bool is_right(benchmark::State& state, const Expected& expected,
              const std::function<OutputView()>& call);

/// Times the call, if it is right.
template <class Call>
bool timed(benchmark::State& state, const Expected& expected, const Call& call) {
  if (!is_right(state, expected, call)) return false;
  for (auto _ : state) {
    call();
    benchmark::ClobberMemory();
  }
  return true;
}

}  // namespace posenc::bench
