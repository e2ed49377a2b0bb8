// Timing in a process of its own: the command starts itself again, with the request on standard
// input, and reads the result from its standard output.
#pragma once

#include "posenc/tuning/timing.h"

namespace posenc::cli {

/// Starts a process that answers the request. Throws std::runtime_error with the reason if that
/// fails.
Timing time_in_new_process(const TimingRequest& request);

}  // namespace posenc::cli
