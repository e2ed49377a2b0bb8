// Timing in a process of its own: the command starts itself again, with the request on standard
// input, and reads the result from its standard output.
#pragma once

#include "posenc/tuning/timing.h"

namespace posenc::cli {

/// The hidden option of posenc pick that makes it answer a request.
inline constexpr const char* timing_option = "--time-on-request";

/// Keeps argv[0], by which this program is started again on systems without /proc.
void remember_program(const char* name);

/// Starts a process that answers the request. Throws std::runtime_error with the reason if that
/// fails.
TimingResult time_in_new_process(const TimingRequest& request);

/// Answers a request: reads it from standard input, times, and writes the result. Returns an exit
/// code.
int time_on_request();

}  // namespace posenc::cli
