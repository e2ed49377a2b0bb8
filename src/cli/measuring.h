// What measure and pick share: the engine at work in processes of its own.
#pragma once

#include "cli/options.h"

#include "posenc/suite/measuring/timing.h"

#include <vector>

namespace posenc::cli {

using namespace suite;

/// The tables of the presets, or tables of all sizes.
std::vector<MeasuredTable> tables_of(const Options& options);

/// Measures in several processes, and shows the progress.
Measurements measure_here(const Options& options);

/// A line on standard error for every backend that breaks its error bound; the exit code.
int check_promises(const Measurements& document);

/// The hidden option of posenc measure that makes it answer a request.
inline constexpr const char* timing_option = "--time-on-request";

// Timing in a process of its own: the command starts itself again, with the request on standard
// input, and reads the result from its standard output. Not on Windows, where this process times.
#ifdef _WIN32
constexpr Timing (*time_in_new_process)(const TimingRequest&) = nullptr;
inline int time_on_request() {
  throw InvalidArgument("--time-on-request is given; allowed: not on Windows");
}
inline void remember_program(const char*) {}
#else
/// Starts a process that answers the request. Throws std::runtime_error with the reason if that
/// fails.
Timing time_in_new_process(const TimingRequest& request);

/// Answers a request: reads it from standard input, times, and writes the result. Returns an exit
/// code.
int time_on_request();

/// Keeps argv[0], by which this program is started again on systems without /proc.
void remember_program(const char* name);
#endif

}  // namespace posenc::cli
