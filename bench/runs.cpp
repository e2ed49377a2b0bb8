#include "runs.h"

namespace posenc::bench {
namespace {

/// Google Benchmark 1.8 renamed the fields.
template <class AnyRun>
std::string error_in(const AnyRun& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred ? run.error_message : std::string();
  } else {
    return run.skip_message;
  }
}

}  // namespace

std::string name_of(const Run& run) {
  benchmark::BenchmarkName name = run.run_name;
  name.time_type.clear();
  return name.str();
}

bool is_repetition(const Run& run) { return run.run_type == Run::RT_Iteration; }

bool is_wall_time(const Run& run) { return run.run_name.time_type == "real_time"; }

double seconds_of(const Run& run) {
  const double time = is_wall_time(run) ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
  return time / benchmark::GetTimeUnitMultiplier(run.time_unit);
}

std::string error_of(const Run& run) { return error_in(run); }

}  // namespace posenc::bench
