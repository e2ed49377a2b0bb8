// What Google Benchmark reports of one benchmark, and what the versions of it call that.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace posenc::bench {

using Run = benchmark::BenchmarkReporter::Run;

/// The repetitions of one benchmark, then their aggregates: none if there is one repetition.
using Runs = std::vector<Run>;

/// The results of a group by the place at which Google Benchmark had the benchmark registered.
using Results = std::map<std::int64_t, Runs>;

/// The name as it was added: without the clock, which Google Benchmark appends as "real_time".
std::string name_of(const Run& run);

bool is_repetition(const Run& run);

/// Whether the figures are of wall time, and not of CPU time.
bool is_wall_time(const Run& run);

/// Seconds of one iteration.
double seconds_of(const Run& run);

/// Why a run has no figures; empty if it has.
std::string error_of(const Run& run);

}  // namespace posenc::bench
