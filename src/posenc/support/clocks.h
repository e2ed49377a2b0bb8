// Clocks that the standard library lacks. Internal: not installed.
#pragma once

#include "posenc/support/detail.h"

namespace posenc::detail {

/// Processor time of the calling thread; where the system counts it in steps longer than a sample
/// of a measurement, wall time.
double thread_seconds() noexcept;

/// Processor time that the hypervisor has taken from this machine since its start; 0 if unknown.
double stolen_seconds();

}  // namespace posenc::detail
