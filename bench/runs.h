// What Google Benchmark reports of one benchmark, and what the versions of it call that.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
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
inline std::string name_of(const Run& run) {
  benchmark::BenchmarkName name = run.run_name;
  name.time_type.clear();
  return name.str();
}

inline bool is_repetition(const Run& run) { return run.run_type == Run::RT_Iteration; }

/// Whether the figures are of wall time, and not of CPU time.
inline bool is_wall_time(const Run& run) { return run.run_name.time_type == "real_time"; }

/// Seconds of one iteration.
inline double seconds_of(const Run& run) {
  const double time = is_wall_time(run) ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
  return time / benchmark::GetTimeUnitMultiplier(run.time_unit);
}

/// Why a run has no figures; empty if it has. Google Benchmark 1.8 renamed the fields: a template,
/// so that only those that there are need to compile.
template <class AnyRun>
std::string error_of(const AnyRun& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred ? run.error_message : std::string();
  } else {
    return run.skip_message;
  }
}

}  // namespace posenc::bench
