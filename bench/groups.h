// The benchmarks of a program, in groups. Google Benchmark runs each group by itself, its
// repetitions interleaved at random, so that results can be compared and shown when a group is
// done and not after all.
#pragma once

#include "ratios.h"
#include "runs.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::bench {

enum class Clock {
  thread,  ///< CPU time of the calling thread, so that other processes' turns do not count
  wall,    ///< for work that several threads share
};

using Body = std::function<void(benchmark::State&)>;

/// What is added from here on is interleaved with and shown with what follows, and not with what
/// was added before.
void begin_group();

/// Adds a benchmark to the current group, or, if it has a baseline, to the group of the baseline.
/// A name stands for one benchmark: adding it again does nothing, so that all that are compared
/// with a baseline may add it.
void add(const std::string& name, Body body, std::vector<Ratio> ratios = {},
         Clock clock = Clock::thread);

/// The length of the longest name that was added.
std::size_t longest_name();

/// Shows on stderr what is being timed, if that is a terminal. An empty name clears the line.
void show_progress(std::string_view name);

/// Where the results of the groups go: a table, or a format of Google Benchmark's own.
class Output {
 public:
  virtual ~Output() = default;
  virtual void begin(const benchmark::BenchmarkReporter::Context&) {}  ///< before the first run
  virtual void add_group(const Results& results) = 0;                  ///< ratios included
  virtual void end() {}                                                ///< after the last group
};

/// Runs, group by group, the benchmarks whose names the filter matches, and the baselines that they
/// are compared with. The filter is one of Google Benchmark: an extended regular expression that is
/// searched for in the name, or one after "-" for all other names. Throws InvalidArgument, before
/// anything runs, if it is none or matches no name. Forgets all benchmarks.
void run_groups(const std::string& filter, std::span<Output* const> outputs);

}  // namespace posenc::bench
