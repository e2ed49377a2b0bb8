// Timing in a process of its own: the command starts itself again, asks on its standard input and
// reads its standard output.
#pragma once

#include "posenc/tuning/timing.h"

namespace posenc::cli {

/// The option of posenc pick that makes a process the asked one; no help names it.
inline constexpr const char* timing_option = "--time-on-request";

/// How to start this program again if the system does not say: its first argument.
void remember_program(const char* name);

/// Starts a process, which times what is requested. Throws std::runtime_error saying what went
/// wrong.
TimingResult time_in_new_process(const TimingRequest& request);

/// The other side: reads the request from standard input, times, and writes the result. Returns an
/// exit code.
int time_on_request();

}  // namespace posenc::cli
